"""Whether the cluster's name is free, or that of a cluster that takes an update."""

from __future__ import annotations

from collections.abc import Iterator

from hyperpod_lifecycle.preflight.findings import About, Finding
from hyperpod_lifecycle.preflight.situation import Situation
from hyperpod_model.catalog.preflight import CLUSTER_STATUSES_AT_REST

ABOUT = About("cluster name")


def check_cluster_name(situation: Situation) -> Iterator[Finding]:
    """Check the name against the clusters of the region.

    Args:
        situation: The wanted cluster.

    Raises:
        OperationError: If AWS refuses.
    """
    name, region = situation.wanted.name, situation.wanted.region
    status = {str(row["ClusterName"]): str(row["ClusterStatus"]) for row in situation.summaries()}.get(name)
    if status is None:
        yield ABOUT.ok(name, f"no cluster has this name in {region}")
    elif status in CLUSTER_STATUSES_AT_REST:
        yield ABOUT.ok(name, f"there is such a cluster ({status}); its nodes count as those of this one")
    elif status == "Failed":
        yield ABOUT.problem(
            name,
            "there is such a cluster, and it has failed",
            remedy=f"see why (aws sagemaker describe-cluster --cluster-name {name} --region {region}), then "
            "delete it, or take another name",
        )
    else:
        yield ABOUT.problem(
            name,
            f"there is such a cluster, and it is {status}",
            remedy=f"wait until it is {' or '.join(CLUSTER_STATUSES_AT_REST)} or gone, or take another name",
        )
