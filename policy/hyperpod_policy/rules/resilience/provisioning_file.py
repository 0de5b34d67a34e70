"""Nothing but the API configures Slurm where the API does."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Any, Final

from hyperpod_model.catalog.nodes import PROVISIONING_PARAMETERS_FILE
from hyperpod_policy.buckets import script_buckets
from hyperpod_policy.clusters import clusters, groups, orchestrator
from hyperpod_policy.rule import Rule, Verdict, failed, passed, undetermined
from hyperpod_policy.template import Resource, Template
from hyperpod_policy.values import Unresolved, resources_in

_FUNCTION: Final = "AWS::Lambda::Function"
_ALLOWED: Final = f"no {PROVISIONING_PARAMETERS_FILE} where SlurmConfig or Continuous configures Slurm"


def check(template: Template) -> Iterator[Verdict]:
    """Judge each cluster whose Slurm the API configures."""
    for cluster in clusters(template):
        driven = _is_api_driven(cluster)
        if orchestrator(cluster) == "slurm" and driven is not False:
            verdicts = [*_writers(template, cluster, certain=driven is True)]
            if verdicts:
                yield from verdicts
            elif driven:
                yield passed(cluster)


def _is_api_driven(cluster: Resource) -> bool | None:
    mode = cluster.get("NodeProvisioningMode")
    if mode == "Continuous" or any("SlurmConfig" in group.properties for group in groups(cluster)):
        return True
    return None if isinstance(mode, Unresolved) else False


def _writers(template: Template, cluster: Resource, *, certain: bool) -> Iterator[Verdict]:
    buckets = {bucket.key for bucket in script_buckets(template, cluster)}
    for resource in chain(template.custom_resources(), template.of_type(_FUNCTION)):
        if not _mentions(resource.raw.get("Properties")):
            continue
        if certain and resource.type != _FUNCTION and buckets & set(resources_in(resource.properties)):
            found = f"writes {PROVISIONING_PARAMETERS_FILE} to the scripts of {cluster.logical_id}"
            yield failed(resource, found=found, allowed=_ALLOWED)
        else:
            found = (
                f"names {PROVISIONING_PARAMETERS_FILE}; whether one stands among the scripts of "
                f"{cluster.logical_id} cannot be seen"
            )
            yield undetermined(resource, found=found, allowed=_ALLOWED)


def _mentions(value: Any) -> bool:
    waiting = [value]
    while waiting:
        current = waiting.pop()
        if isinstance(current, str):
            if PROVISIONING_PARAMETERS_FILE in current:
                return True
        elif isinstance(current, Mapping):
            waiting += current.values()
        elif isinstance(current, list):
            waiting += current
    return False


RULE = Rule(
    id="SlurmProvisioningFile",
    title="nothing but the API configures Slurm where the API does",
    severity="error",
    why=(
        f"{PROVISIONING_PARAMETERS_FILE} anywhere below SourceS3Uri beside SlurmConfig makes the next update "
        "fail and roll back, and continuous provisioning does not read it: groups have no role."
    ),
    fix="take the file away, and say node types and partitions in SlurmConfig of the groups",
    source="SageMaker developer guide, sagemaker-hyperpod-slurm-api-config-migration",
    check=check,
)
