"""Who configures Slurm."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from hyperpod_model.cluster_spec.accounting_database import AccountingDatabaseSpec
from hyperpod_model.spec_files.spec_model import SpecModel

SlurmMode = Literal["api", "lifecycle"]
SlurmStrategy = Literal["Overwrite", "Managed", "Merge"]


class SlurmSpec(SpecModel):
    """Who configures Slurm, and how the service treats changes made by hand."""

    mode: SlurmMode = Field(
        default="api",
        description=(
            "Who configures Slurm. 'api': HyperPod, from each group's node_type and partition_names; the "
            "lifecycle script then runs at the end, as OnInitComplete. A cluster cannot go back from 'api'. "
            "'lifecycle': the lifecycle scripts, which run as OnCreate; the package's own do it from each "
            "group's node_type and partition_names as well. By default 'api'."
        ),
    )
    strategy: SlurmStrategy | None = Field(
        default=None,
        description=(
            "How an update treats slurm.conf when it was changed by hand (SlurmConfigStrategy): 'Overwrite', "
            "'Managed' or 'Merge'. Only in mode 'api' with node_provisioning_mode null; continuous "
            "provisioning refuses it. By default none is sent."
        ),
    )
    accounting_database: AccountingDatabaseSpec | None = Field(
        default=None,
        description=(
            "An existing database for Slurm's accounting. Only in mode 'api' with continuous provisioning; "
            "cannot be taken back. By default the service's own accounting."
        ),
    )
    accounting: bool = Field(
        default=False,
        description=(
            "Whether a database on the controller keeps what jobs used. Only in mode 'lifecycle' with the "
            "package's own scripts, and from the start: it cannot be added to a cluster that runs. By "
            "default false; in mode 'api' the service has accounting of its own."
        ),
    )
    settings: dict[str, str] = Field(
        default={},
        description=(
            "Further parameters of slurm.conf, such as AccountingStorageTRES: gres/gpu. Only in mode "
            "'lifecycle' with the package's own scripts. By default none."
        ),
    )
