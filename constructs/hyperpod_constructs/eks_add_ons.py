"""EKS add-ons, each after what it requires and with the role of its pods."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence

from aws_cdk import CfnResource
from aws_cdk import aws_eks_v2 as eks
from aws_cdk import aws_iam as iam
from constructs import Construct, IDependable

from hyperpod_model.catalog.add_ons import EXTERNAL_SNAT, AddOn, add_on
from hyperpod_model.catalog.iam import (
    FILE_SYSTEM_READ_ACTIONS,
    POD_IDENTITY_CLUSTER_TAG,
    POD_IDENTITY_NAMESPACE_TAG,
    POD_IDENTITY_SERVICE,
    POD_IDENTITY_SERVICE_ACCOUNT_TAG,
    TRAINING_OPERATOR_MANAGED_POLICY,
    unscoped,
)
from hyperpod_model.catalog.kubernetes_platform import NETWORK_POLICY_OPTION

_CNI = "vpc-cni"
_FILE_SYSTEMS = "aws-fsx-csi-driver"
_TRAINING_OPERATOR = "amazon-sagemaker-hyperpod-training-operator"


class EksAddOns(Construct):
    """Add-ons of one EKS cluster.

    Each add-on overwrites what EKS put there itself when the cluster was made. Pods that call AWS get a role
    through an association of its own rather than through the add-on: versions of the training operator's
    add-on refuse an association within it.

    Attributes:
        roles: Roles of the add-ons' pods, by name of the add-on.

    Args:
        scope: Parent of the construct.
        id: Id within the parent.
        cluster_name: Name of the EKS cluster.
        cluster_arn: Its ARN.
        names: Names of the add-ons.
        versions: Versions by name. Default of each: what EKS takes for its Kubernetes version.
        external_snat: Whether a NAT gateway, not the node, translates the addresses of pods.
        enforce_network_policies: Whether the VPC CNI enforces network policies.
        after: What has to be there before all of them.
    """

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        cluster_name: str,
        cluster_arn: str,
        names: Sequence[str],
        versions: Mapping[str, str],
        external_snat: bool = False,
        enforce_network_policies: bool = False,
        after: Iterable[IDependable] = (),
    ) -> None:
        super().__init__(scope, id)
        self.roles: dict[str, iam.Role] = {}
        self._cluster_name = cluster_name
        self._cluster_arn = cluster_arn
        waits = list(after)
        made: dict[str, list[CfnResource]] = {}
        for found in (add_on(name) for name in names):
            resource = eks.CfnAddon(
                self,
                _id(found),
                cluster_name=cluster_name,
                addon_name=found.name,
                addon_version=versions.get(found.name),
                resolve_conflicts="OVERWRITE",
                configuration_values=_configuration(
                    found,
                    external_snat=external_snat,
                    enforce_network_policies=enforce_network_policies,
                ),
            )
            made[found.name] = [resource]
            if found.service_account is not None:
                association = self._associate(found, found.service_account)
                # Pods get credentials only if the association exists when they start.
                resource.node.add_dependency(association)
                made[found.name].append(association)
            for required in found.requires:
                for other in made.get(required, ()):
                    resource.node.add_dependency(other)
            for dependency in waits:
                resource.node.add_dependency(dependency)

    def _associate(self, found: AddOn, service_account: str) -> eks.CfnPodIdentityAssociation:
        tags = {
            POD_IDENTITY_CLUSTER_TAG: self._cluster_arn,
            POD_IDENTITY_NAMESPACE_TAG: found.namespace,
            POD_IDENTITY_SERVICE_ACCOUNT_TAG: service_account,
        }
        role = iam.Role(
            self,
            f"{_id(found)}Role",
            description=f"Pods of the EKS add-on {found.name}",
            assumed_by=iam.ServicePrincipal(
                POD_IDENTITY_SERVICE,
                conditions={"StringEquals": {f"aws:RequestTag/{tag}": value for tag, value in tags.items()}},
            ).with_session_tags(),
        )
        if found.name == _TRAINING_OPERATOR:
            role.add_managed_policy(
                iam.ManagedPolicy.from_aws_managed_policy_name(TRAINING_OPERATOR_MANAGED_POLICY)
            )
        if found.name == _FILE_SYSTEMS:
            iam.CfnManagedPolicy(
                self,
                f"{_id(found)}Policy",
                description="Looks up the file systems that pods mount",
                roles=[role.role_name],
                policy_document={
                    "Version": "2012-10-17",
                    "Statement": [
                        {
                            "Effect": "Allow",
                            "Action": list(unscoped(FILE_SYSTEM_READ_ACTIONS)),
                            "Resource": "*",
                        }
                    ],
                },
            )
        self.roles[found.name] = role
        return eks.CfnPodIdentityAssociation(
            self,
            f"{_id(found)}Association",
            cluster_name=self._cluster_name,
            namespace=found.namespace,
            service_account=service_account,
            role_arn=role.role_arn,
        )


def _id(found: AddOn) -> str:
    return "".join(part.capitalize() for part in found.name.split("-"))


def _configuration(found: AddOn, *, external_snat: bool, enforce_network_policies: bool) -> str | None:
    if found.name != _CNI:
        return None
    values: dict[str, object] = {}
    if external_snat:
        name, value = EXTERNAL_SNAT
        values["env"] = {name: value}
    if enforce_network_policies:
        values[NETWORK_POLICY_OPTION] = "true"
    return json.dumps(values) if values else None
