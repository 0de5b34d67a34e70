"""The cluster waits for everything its nodes need to start."""

from __future__ import annotations

from collections.abc import Iterator

from hyperpod_policy.buckets import script_buckets
from hyperpod_policy.clusters import clusters, execution_roles, security_groups, subnets
from hyperpod_policy.dependencies import before, deployed_together
from hyperpod_policy.identities import attached_policies, role_of
from hyperpod_policy.networks import SUBNET, route_tables, routes
from hyperpod_policy.rule import Rule, Verdict, failed, passed
from hyperpod_policy.security_groups import rules_of
from hyperpod_policy.template import Resource, Template
from hyperpod_policy.values import same

_UPLOAD = "Custom::CDKBucketDeployment"
_ASSOCIATION = "AWS::EC2::SubnetRouteTableAssociation"


def check(template: Template) -> Iterator[Verdict]:
    """Judge what each cluster depends on."""
    for cluster in clusters(template):
        ready = before(cluster)
        missing: dict[str, Resource] = {}
        for needed in _needed(template, cluster):
            if needed.key not in ready and deployed_together(needed, cluster):
                missing.setdefault(needed.key, needed)
        if missing:
            names = ", ".join(f"{found.logical_id} ({found.type})" for found in missing.values())
            yield failed(
                cluster,
                found=f"does not wait for {names}",
                allowed=(
                    "DependsOn, or a reference to, all policies, routes, security-group rules and script "
                    "uploads that its nodes need"
                ),
            )
        else:
            yield passed(cluster)


def _needed(template: Template, cluster: Resource) -> Iterator[Resource]:
    for used in execution_roles(template):
        role = role_of(template, used.value) if used.cluster is cluster else None
        if role is not None:
            yield role
            yield from attached_policies(template, role)
    for used in security_groups(template):
        if used.cluster is cluster:
            for direction in ("ingress", "egress"):
                for rule, belongs in rules_of(template, used.value, direction):
                    if belongs and same(rule.peer, used.value) is True:
                        yield rule.holder
    for used in subnets(template):
        subnet = template.resource(used.value, SUBNET) if used.cluster is cluster else None
        if subnet is not None:
            for association in template.of_type(_ASSOCIATION):
                if same(association.get("SubnetId"), subnet.ref):
                    yield association
            for table in route_tables(template, subnet):
                yield from routes(template, table)
    scripts = script_buckets(template, cluster)
    yield from scripts
    for upload in template.of_type(_UPLOAD):
        target = template.resource(upload.get("DestinationBucketName"))
        if target is not None and target in scripts:
            yield upload


RULE = Rule(
    id="ClusterDependencies",
    title="the cluster is created after and deleted before everything its nodes need",
    severity="error",
    why=(
        "CloudFormation knows references only. A cluster created beside its policies, routes, rules or "
        "scripts fails with 'cannot assume the execution role', an EFA health check error or missing "
        "scripts; one deleted beside them hangs in Deleting."
    ),
    fix=(
        "add the resources to DependsOn of the cluster (in the CDK cluster.node.add_dependency(...) on the "
        "role, the security group, the subnet's internet connectivity and the upload)"
    ),
    source=(
        "CloudFormation user guide, DependsOn attribute; SageMaker developer guide, HyperPod troubleshooting"
    ),
    check=check,
)
