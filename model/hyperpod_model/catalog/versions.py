"""Versions that work together, with the date of each statement."""

from __future__ import annotations

from typing import NamedTuple

from hyperpod_model.catalog._tables import fact, table
from hyperpod_model.catalog.fact import Fact


class Release(NamedTuple):
    """A release of a package.

    Attributes:
        version: Its number.
        released: ISO 8601 date.
        note: What it changed.
    """

    version: str
    released: str
    note: str


_TABLE = table("versions")
_MINIMUMS = _TABLE["minimums"]

KUBERNETES: Fact[tuple[str, str]] = fact(
    "supported Kubernetes versions", _TABLE["ranges"]["kubernetes"], _TABLE
)
"""First and last version. Sources disagree: :attr:`Fact.claims` has each with its date."""

TORCH: Fact[tuple[str, str]] = fact(
    "PyTorch versions for the training operator and its agent", _TABLE["ranges"]["torch"], _TABLE
)
"""First and last version. Sources disagree: :attr:`Fact.claims` has each with its date."""

MIN_VPC_CNI: str = _MINIMUMS["vpc_cni"]
MIN_OPERATOR_FOR_CHECKPOINTLESS: str = _MINIMUMS["operator_for_checkpointless"]
MIN_OPERATOR_FOR_ELASTIC: str = _MINIMUMS["operator_for_elastic"]
MIN_ELASTIC_AGENT_FOR_ELASTIC: str = _MINIMUMS["elastic_agent_for_elastic"]
MIN_TASK_GOVERNANCE_FOR_HYPERPOD_JOBS: str = _MINIMUMS["task_governance_for_hyperpod_jobs"]
MIN_KUBERNETES_FOR_TASK_GOVERNANCE: str = _MINIMUMS["task_governance_kubernetes"]
MIN_CHECKPOINTLESS_PYTHON: str = _MINIMUMS["checkpointless_python"]
MIN_CHECKPOINTLESS_NODES: int = _MINIMUMS["checkpointless_nodes"]
"""Peers hold the state that a failed node is restored from, so one node is none."""

MIN_CHECKPOINTLESS_PACKAGE: str = _MINIMUMS["checkpointless_package"]
"""The first release whose fault handling takes the CUDA device of ``LOCAL_RANK``."""

MIN_LIBFABRIC_WITHOUT_DEVICE_RDMA_FLAG: str = _MINIMUMS["libfabric_without_device_rdma_flag"]
"""From here on ``FI_EFA_USE_DEVICE_RDMA`` is not needed; where EFA has no RDMA it aborts the process."""

MIN_AWS_OFI_NCCL_WITHOUT_DEVICE_RDMA_FLAG: str = _MINIMUMS["aws_ofi_nccl_without_device_rdma_flag"]

KUBEFLOW_TRAINING_OPERATORS: tuple[str, ...] = tuple(_TABLE["kubeflow_training_operators"])
"""Those that AWS lists for job auto-resume."""

DATA_FORMATS: tuple[str, ...] = tuple(_TABLE["data_formats"])
"""Training data that checkpointless training reads."""

CHECKPOINTLESS_FRAMEWORKS: tuple[str, ...] = tuple(_TABLE["checkpointless_frameworks"])
CHECKPOINTLESS_FAMILIES: Fact[tuple[str, ...]] = fact(
    "instance families for checkpointless training", _TABLE["checkpointless_families"], _TABLE
)
"""Beginnings of the instance types that AWS recommends."""

_IMAGE_REGIONS: Fact[dict[str, list[str]]] = fact(
    "Regions of the checkpointless training images", _TABLE["checkpointless_image_regions"], _TABLE
)
CHECKPOINTLESS_IMAGE_REGIONS: tuple[str, ...] = tuple(_IMAGE_REGIONS.value["published"])
"""Regions where AWS publishes images of checkpointless training."""

CHECKPOINTLESS_IMAGE_MISSING_REGIONS: tuple[str, ...] = tuple(_IMAGE_REGIONS.value["missing_opt_in"])
"""Opt-in Regions for which the release notes say that there is none."""

CHECKPOINTLESS_WITH_TIERED: Fact[bool] = fact(
    "checkpointless training together with managed tiered checkpointing",
    _TABLE["checkpointless_with_tiered"],
    _TABLE,
)
"""Sources disagree: :attr:`Fact.claims` has each with its date."""

CHECKPOINTLESS_RELEASES: tuple[Release, ...] = tuple(
    Release(**row) for row in _TABLE["checkpointless_releases"]
)

SLURM_API_CONFIGURATION_AMI: str = _TABLE["slurm_api_configuration_ami"]
"""Month of the first HyperPod AMI with which the API configures Slurm."""

SLURM_ACCOUNTING_DATABASE_AMI_AFTER: str = _TABLE["slurm_accounting_database_ami_after"]
"""An accounting database needs a HyperPod AMI later than this day."""

EKS_AUTHENTICATION_MODES: tuple[str, ...] = tuple(_TABLE["eks_authentication_modes"])
