"""The instance types exist, and the region offers them."""

from __future__ import annotations

from collections.abc import Iterator

from hyperpod_model.catalog.fact import UnknownNameError
from hyperpod_model.catalog.instances import instance_types
from hyperpod_model.catalog.regions import offers, regions, regions_offering
from hyperpod_policy.clusters import clusters, groups
from hyperpod_policy.rule import Rule, Verdict, failed, passed, undetermined
from hyperpod_policy.template import Template


def check(template: Template) -> Iterator[Verdict]:
    """Judge the instance types of each group; what the region offers, only if the region is known."""
    for cluster in clusters(template):
        region = cluster.document.region
        for group in groups(cluster):
            listed = "InstanceRequirements" in group.properties
            base = (
                (*group.path, "InstanceRequirements", "InstanceTypes")
                if listed
                else (*group.path, "InstanceType")
            )
            for position, name in enumerate(group.instance_types[0]):
                path = (*base, position) if listed else base
                if not isinstance(name, str):
                    continue
                if name not in instance_types():
                    yield failed(
                        cluster,
                        *path,
                        found=f"{name} is no instance type that HyperPod is known to take",
                        allowed=_suggestion(name),
                    )
                    continue
                if region is None:
                    continue
                if region not in regions():
                    yield undetermined(
                        cluster,
                        *path,
                        found=f"{region} is not in the catalog, so whether it offers {name} is unknown",
                        allowed="a type that the region offers",
                    )
                    continue
                offer = offers(region, name)
                if not offer.certain:
                    yield undetermined(
                        cluster,
                        *path,
                        found=f"whether {region} offers {name} is not certain: {offer.doubt}",
                        allowed="a type that the region offers",
                    )
                elif not offer.value:
                    yield failed(
                        cluster,
                        *path,
                        found=f"{region} offers no {name}",
                        allowed=f"a region that has it: {', '.join(regions_offering(name))}",
                    )
                else:
                    yield passed(cluster, *path)


def _suggestion(name: str) -> str:
    close = UnknownNameError("instance type", name, instance_types()).suggestions
    return f"a type of the API, such as {' or '.join(close) if close else 'ml.p5.48xlarge'}"


RULE = Rule(
    id="InstanceTypeOffer",
    title="the instance types exist, and the region offers them",
    severity="error",
    why=(
        "CreateCluster refuses a type that it does not know or the region lacks, after everything else of "
        "the stack was made. The list of types and the table of offers, which comes from a price list, may "
        "lag behind."
    ),
    fix=(
        "choose another region or type; if you know better, vouch for the type by name "
        "(unlisted_instance_types) and acknowledge this finding with where you know it from"
    ),
    source="SageMaker pricing, HyperPod instance types by region",
    check=check,
)
