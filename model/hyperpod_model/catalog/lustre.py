"""FSx for Lustre: deployment types, legal capacities and throughputs."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from hyperpod_model.catalog._tables import fact, table
from hyperpod_model.catalog.fact import Fact, UnknownNameError


class DeploymentType(NamedTuple):
    """A deployment type with SSD storage.

    Attributes:
        name: Such as ``PERSISTENT_2``.
        first_capacities_gib: Legal capacities that are no multiple of the step.
        capacity_step_gib: Every positive multiple of it is legal.
        throughputs: Legal throughputs in MB/s for each TiB; empty where the type takes none.
        backups: Whether backups exist, so also a final one at deletion.
        encryption_key: Whether a KMS key of the customer may be named.
        efa: Whether clients may reach it through EFA.
    """

    name: str
    first_capacities_gib: tuple[int, ...]
    capacity_step_gib: int
    throughputs: tuple[int, ...]
    backups: bool
    encryption_key: bool
    efa: bool

    def takes_capacity(self, gib: int) -> bool:
        """Whether a storage capacity in GiB is legal."""
        return gib in self.first_capacities_gib or (gib > 0 and gib % self.capacity_step_gib == 0)

    def nearest_capacities(self, gib: int) -> tuple[int, ...]:
        """Legal capacities around a size in GiB: the next below, where there is one, and the next above."""
        multiple = max(0, gib) // self.capacity_step_gib
        near = {(multiple + offset) * self.capacity_step_gib for offset in (0, 1)} - {0}
        near.update(self.first_capacities_gib)
        below = max((size for size in near if size <= gib), default=None)
        above = min(size for size in near if size >= gib)
        return (above,) if below is None or below == above else (below, above)


_TABLE = table("lustre")

DEPLOYMENT_TYPES: Mapping[str, DeploymentType] = MappingProxyType(
    {
        name: DeploymentType(
            name=name,
            first_capacities_gib=tuple(row["first_capacities_gib"]),
            capacity_step_gib=row["capacity_step_gib"],
            throughputs=tuple(row["throughputs"]),
            backups=row["backups"],
            encryption_key=row["encryption_key"],
            efa=row["efa"],
        )
        for name, row in _TABLE["deployment_types"].items()
    }
)

DEFAULT_DEPLOYMENT_TYPE: str = _TABLE["default_deployment_type"]

EFA_CAPACITY_STEPS_GIB: Mapping[int, int] = MappingProxyType(
    {int(throughput): step for throughput, step in _TABLE["efa_capacity_steps_gib"].items()}
)
"""With EFA: legal capacities are the multiples of this, in GiB, by throughput in MB/s for each TiB."""

OTHER_STORAGE_TYPES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {name: tuple(kinds) for name, kinds in _TABLE["storage_types"].items()}
)
"""Deployment types by storage type, beside SSD, which all have."""

HDD_CAPACITY_STEPS_GIB: Mapping[int, int] = MappingProxyType(
    {int(throughput): step for throughput, step in _TABLE["hdd_capacity_steps_gib"].items()}
)
"""PERSISTENT_1 on HDD: capacity step in GiB by throughput in MB/s for each TiB."""

LUSTRE_VERSIONS: tuple[str, ...] = tuple(_TABLE["lustre_versions"])
RECOMMENDED_LUSTRE_VERSION: str = _TABLE["recommended_lustre_version"]
"""Taken by all deployment types. What FSx takes when none is named is older, and depends on the type."""

LOG_GROUP_PREFIX: str = _TABLE["log_group_prefix"]
"""A log group for the file system's own logs must begin with it."""

MAX_BACKUP_RETENTION_DAYS: int = _TABLE["max_backup_retention_days"]
COMPRESSION_TYPES = tuple(_TABLE["compression_types"])

FILE_SYSTEM_TYPE_VERSION: str = _TABLE["file_system_type_version"]
"""Lustre version to ask for: FSx refuses PERSISTENT_2 with its own default of 2.10, and EFA needs 2.15."""

GIB_FOR_EACH_NETWORK_INTERFACE: Fact[int] = fact(
    "storage for each network interface of a file system", _TABLE["gib_for_each_network_interface"], _TABLE
)

_REPOSITORIES = _TABLE["data_repositories"]

MAX_DATA_REPOSITORY_ASSOCIATIONS: int = _REPOSITORIES["max_associations"]
"""Of one file system."""

DATA_REPOSITORY_EVENTS: tuple[str, ...] = tuple(_REPOSITORIES["events"])
"""Changes that a link to a bucket follows."""

TYPES_WITHOUT_DATA_REPOSITORIES: tuple[str, ...] = tuple(_REPOSITORIES["deployment_types_without"])
MAX_FILE_SYSTEM_PATH_LENGTH: int = _REPOSITORIES["max_path_length"]

DATA_REPOSITORY_IMPORT_KEY_ACTIONS: tuple[str, ...] = tuple(_REPOSITORIES["import_key_actions"])
"""What FSx does with the key of a linked bucket to read it."""

DATA_REPOSITORY_EXPORT_KEY_ACTIONS: tuple[str, ...] = tuple(_REPOSITORIES["export_key_actions"])
"""The same to read and write it."""

ANY_FILE_SYSTEM_ID: str = _REPOSITORIES["any_file_system"]
"""Pattern of every file system's id."""


def data_repository_role(file_system_id: str) -> str:
    """Resource part of the ARN of the service-linked role with which FSx reads and writes linked buckets.

    FSx makes the role with the file system's first link, so no policy can have it as a principal before.

    Args:
        file_system_id: Such as ``fs-0123456789abcdef0``; may be a CDK Token or ``ANY_FILE_SYSTEM_ID``.
    """
    template: str = _REPOSITORIES["service_role"]
    return template.format(file_system_id=file_system_id)


def deployment_type(name: str) -> DeploymentType:
    """Look a deployment type up.

    Args:
        name: Such as ``PERSISTENT_2``.

    Raises:
        UnknownNameError: If FSx has no such type.
    """
    if name not in DEPLOYMENT_TYPES:
        raise UnknownNameError("FSx for Lustre deployment type", name, DEPLOYMENT_TYPES)
    return DEPLOYMENT_TYPES[name]
