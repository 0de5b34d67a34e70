"""A failed process can be restored from its peers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from hyperpod_model.catalog.versions import MIN_OPERATOR_FOR_CHECKPOINTLESS
from hyperpod_model.checks.checkpointless import check_checkpointless
from hyperpod_model.faults import UNKNOWN, Fault
from hyperpod_policy.add_ons import TRAINING_OPERATOR, all_add_ons
from hyperpod_policy.clusters import groups
from hyperpod_policy.eks_clusters import Orchestration
from hyperpod_policy.rule import Rule, Verdict, failed, passed, undetermined
from hyperpod_policy.template import Resource, Template
from hyperpod_policy.values import Unresolved, request_terms

_VERSION: Final = "AddonVersion"
_SETTING: Final = "operator_version"
_OTHERS: Final = ("framework", "data_format", "image_uri", "package_version", "durable_interval_steps")
"""What only a job says, which no template has."""


def check(template: Template) -> Iterator[Verdict]:
    """Judge each cluster whose training operator the template installs."""
    for found in all_add_ons(template):
        operator = found.by_name.get(TRAINING_OPERATOR)
        if operator is not None:
            verdicts = [*_judge(found.orchestration, operator)]
            yield from verdicts if verdicts else [passed(operator)]


def _judge(found: Orchestration, operator: Resource) -> Iterator[Verdict]:
    version = operator.get(_VERSION)
    if isinstance(version, Unresolved):
        allowed = f"{MIN_OPERATOR_FOR_CHECKPOINTLESS} or later"
        yield undetermined(operator, _VERSION, found=f"is {version}", allowed=allowed)
    for fault in _faults(found, None if isinstance(version, Unresolved) else version):
        if fault.path == (_SETTING,):
            yield failed(operator, _VERSION, found=fault.message, allowed="")
        elif fault.severity == "error":
            yield failed(found.cluster, "InstanceGroups", found=fault.message, allowed="")


def _faults(found: Orchestration, version: Any) -> list[Fault]:
    settings: dict[str, Any] = dict.fromkeys(_OTHERS, UNKNOWN)
    return check_checkpointless(
        {**settings, _SETTING: UNKNOWN if version is None else version},
        orchestrator="eks",
        groups=[request_terms(group.properties) for group in groups(found.cluster)],
    )


RULE = Rule(
    id="Checkpointless",
    title="what the template says allows checkpointless training, which restores a process from its peers",
    severity="advice",
    why=(
        "From a peer a failed process is back within minutes, from a checkpoint after a restart of the whole "
        "job. An operator that is too old ignores what the job asks for, and a single node has no peer."
    ),
    fix=(
        f"install the training operator in version {MIN_OPERATOR_FOR_CHECKPOINTLESS} or later, or without a "
        "version, which takes EKS's default; give the cluster two accelerated nodes or more"
    ),
    source="SageMaker developer guide, sagemaker-eks-checkpointless",
    check=check,
)
