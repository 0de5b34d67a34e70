"""Cloud assemblies of clusters, written where the CDK CLI finds them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from aws_cdk import App, Environment

from hyperpod_constructs import HyperPodStack
from hyperpod_model.cluster_spec import ClusterSpec, load_cluster

_AS_THE_CLI_SAYS = {
    "aws:cdk:enable-path-metadata": True,
    "aws:cdk:enable-asset-metadata": True,
}
CLUSTERS = Path(__file__).parents[2] / "examples" / "clusters"


def spec_of(example: str, **changes: Any) -> ClusterSpec:
    """The specification of an example with some fields changed."""
    spec = load_cluster(CLUSTERS / example).spec
    return ClusterSpec.model_validate({**spec.model_dump(exclude_unset=True), **changes})


def with_counts(spec: ClusterSpec, **counts: int) -> list[dict[str, Any]]:
    """The instance groups of a specification with other counts, by group name."""
    return [
        {**group, "instance_count": counts.get(group["name"], group["instance_count"])}
        for group in spec.model_dump(exclude_unset=True)["instance_groups"]
    ]


def assembly_of(
    spec: ClusterSpec,
    folder: Path,
    *,
    change: Callable[[HyperPodStack], None] | None = None,
) -> Path:
    """Synthesize the stack of a specification.

    Args:
        spec: The cluster.
        folder: Where the assembly goes.
        change: Changes the stack before synthesis.
    """
    app = App(outdir=str(folder), analytics_reporting=False, context=_AS_THE_CLI_SAYS)
    stack = HyperPodStack(app, "HyperPodStack", spec=spec, env=Environment(region=spec.region))
    if change is not None:
        change(stack)
    app.synth()
    return folder
