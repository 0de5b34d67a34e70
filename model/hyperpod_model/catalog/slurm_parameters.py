"""What may stand in Slurm's configuration on HyperPod nodes, and in the file that HyperPod makes it of."""

from __future__ import annotations

from collections.abc import Mapping

from hyperpod_model.catalog._tables import table

_TABLE = table("slurm_parameters")
_FILE = _TABLE["provisioning_parameters"]

SLURM_FOLDER: str = _TABLE["folder"]
"""Where HyperPod's images have Slurm; its configuration is in ``etc`` below."""

INCLUDED_FILE: str = _TABLE["included_file"]
"""File beside ``slurm.conf`` that HyperPod's own includes and leaves to scripts."""

PARAMETERS: frozenset[str] = frozenset(_TABLE["parameters"])
"""Parameters of ``slurm.conf`` that Slurm 22.05 takes; later versions have more."""

OWNED_BY_HYPERPOD: Mapping[str, str] = _TABLE["owned_by_hyperpod"]
"""Parameters that HyperPod writes itself, with the reason why nobody else should."""

AUTO_RESUME_SETTINGS: Mapping[str, str] = _TABLE["auto_resume_settings"]
"""What HyperPod's auto-resume needs."""

ACCOUNTING_STORAGE_TYPE: str = _TABLE["accounting"]["storage_type"]
ACCOUNTING_PORT: int = _TABLE["accounting"]["port"]
"""TCP port of ``slurmdbd``."""

TRES: frozenset[str] = frozenset(_TABLE["accounting"]["tres"])
"""Resources that ``AccountingStorageTRES`` names without a kind."""

TRES_KINDS: frozenset[str] = frozenset(_TABLE["accounting"]["tres_kinds"])
"""Kinds of resources that ``AccountingStorageTRES`` names as ``kind/name``."""

COMMA_LISTS: frozenset[str] = frozenset(_TABLE["comma_lists"])
"""Parameters whose value is a list with commas and nothing else between its members."""

PROVISIONING_REQUIRED: tuple[str, ...] = tuple(_FILE["required"])
PROVISIONING_OPTIONAL: tuple[str, ...] = tuple(_FILE["optional"])
PROVISIONING_WORKER_GROUP: tuple[str, ...] = tuple(_FILE["worker_group"])
PROVISIONING_SLURM_CONFIGURATIONS: tuple[str, ...] = tuple(_FILE["slurm_configurations"])
"""Settings of a cluster with several controllers."""

INSTANCE_STORE_FOLDER: str = _TABLE["large_volumes"]["instance_store"]
"""Where images of instance types with NVMe mount it."""

SECOND_VOLUME_FOLDER: str = _TABLE["large_volumes"]["second_volume"]
"""Where HyperPod mounts the second EBS volume of a group."""
