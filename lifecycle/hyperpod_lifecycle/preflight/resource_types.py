"""Whether CloudFormation has what the cluster's stack makes in the region."""

from __future__ import annotations

from collections.abc import Iterator

from hyperpod_lifecycle.operations.errors import OperationError, code_of
from hyperpod_lifecycle.preflight.findings import About, Finding
from hyperpod_lifecycle.preflight.situation import Situation
from hyperpod_model.catalog.preflight import ABSENT_RESOURCE_TYPE

ABOUT = About("resource type")


def check_resource_types(situation: Situation) -> Iterator[Finding]:
    """Check the types that not every region has, such as workspaces of Grafana.

    Args:
        situation: The wanted cluster.
    """
    region = situation.wanted.region
    there: list[str] = []
    untold: dict[str, list[str]] = {}
    for name, field in situation.wanted.resource_types.items():
        try:
            situation.reads.one("cloudformation", "DescribeType", Type="RESOURCE", TypeName=name)
        except OperationError as error:
            if code_of(error.__cause__) != ABSENT_RESOURCE_TYPE.value:
                untold.setdefault(str(error), []).append(name)
                continue
            yield ABOUT.problem(
                name,
                f"CloudFormation has no such type in {region}",
                remedy="choose another region"
                if field is None
                else f"leave {field} out, or choose another region",
            )
        else:
            there.append(name)
    for why, names in untold.items():
        yield ABOUT.cannot_tell(", ".join(names), why)
    if there:
        yield ABOUT.ok(
            ", ".join(there), f"CloudFormation has {'it' if len(there) == 1 else 'them'} in {region}"
        )
