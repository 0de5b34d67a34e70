"""An EKS add-on that comes after the nodes, with the role of its pods."""

from __future__ import annotations

from aws_cdk import aws_eks_v2 as eks
from aws_cdk import aws_iam as iam
from constructs import Construct

from hyperpod_constructs.argument_faults import refuse_arguments
from hyperpod_constructs.argument_kinds import CLUSTER, EKS_CLUSTER, check_kind
from hyperpod_constructs.attached_permissions import RoleWithAttachedPermissions
from hyperpod_constructs.eks_control_plane import EksControlPlaneBase
from hyperpod_constructs.hyperpod_cluster import HyperPodCluster, HyperPodClusterBase
from hyperpod_constructs.taken_names import claim_name
from hyperpod_constructs.training_pod_role import pod_identity_principal
from hyperpod_model.catalog.metrics import AGENT_ADD_ON, MetricsAddOn
from hyperpod_model.faults import Fault


class AddOnRole(RoleWithAttachedPermissions):
    """Role of the pods of an add-on; they get it through EKS Pod Identity."""

    _holder = "the add-on's pods"


class AddOnWithRole(Construct):
    """Role, then association, then add-on: pods get credentials only if the association is there first.

    The add-on waits for the HyperPod cluster, since its pods need nodes. The EKS cluster must have the add-on
    ``eks-pod-identity-agent``, as every ``EksControlPlane`` that is made has.

    Args:
        scope: Parent of the construct.
        id: Id within the parent.
        add_on: The add-on.
        control_plane: EKS cluster that gets it.
        cluster: HyperPod cluster whose nodes run its pods.
        version: Version of the add-on. Default: what EKS takes for its Kubernetes version.
        configuration: Configuration, as JSON. Default: the add-on's own.

    Attributes:
        role: Role of its pods, which may do nothing yet.
        association: The Pod Identity association.
        resource: The add-on.

    Raises:
        InvalidInputError: If an argument is of another kind, the HyperPod cluster is one with Slurm, or the
            EKS cluster gets the add-on already.
    """

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        add_on: MetricsAddOn,
        control_plane: EksControlPlaneBase,
        cluster: HyperPodClusterBase,
        version: str | None = None,
        configuration: str | None = None,
    ) -> None:
        super().__init__(scope, id)
        refuse_arguments(f"EKS add-on '{self.node.path}'", _faults(control_plane, cluster))
        refuse_arguments(
            f"EKS add-on '{self.node.path}'",
            claim_name(
                self,
                f"add-on {add_on.name}",
                control_plane.cluster_name,
                path=("control_plane",),
                way_out="an EKS cluster has each add-on once, so leave one of both out",
            ),
        )
        self.role = AddOnRole(
            self,
            "Role",
            description=f"Pods of the EKS add-on {add_on.name}",
            assumed_by=pod_identity_principal(control_plane, add_on.namespace, add_on.service_account),
        )
        self.association = eks.CfnPodIdentityAssociation(
            self,
            "Association",
            cluster_name=control_plane.cluster_name,
            namespace=add_on.namespace,
            service_account=add_on.service_account,
            role_arn=self.role.role_arn,
        )
        self.resource = eks.CfnAddon(
            self,
            "Resource",
            cluster_name=control_plane.cluster_name,
            addon_name=add_on.name,
            addon_version=version,
            resolve_conflicts="OVERWRITE",
            configuration_values=configuration,
        )
        self.resource.node.add_dependency(self.association)
        self.resource.node.add_dependency(cluster)
        # Once its pods run they call AWS at once, so that what they may do is there before.
        self.resource.node.add_dependency(self.role)

    def allow(self, sid: str, *, actions: list[str], resources: list[str]) -> None:
        """Let the pods do something.

        Args:
            sid: Id of the statement.
            actions: IAM actions.
            resources: ARNs.
        """
        self.role.add_to_principal_policy(iam.PolicyStatement(sid=sid, actions=actions, resources=resources))


def _faults(control_plane: EksControlPlaneBase, cluster: HyperPodClusterBase) -> list[Fault]:
    faults = [
        *check_kind(control_plane, EKS_CLUSTER, ("control_plane",), required=True),
        *check_kind(cluster, CLUSTER, ("cluster",), required=True),
    ]
    if isinstance(cluster, HyperPodCluster) and cluster.orchestrator.kind != "eks":
        faults.append(
            Fault(
                ("cluster",),
                "must be one with EKS, got one with Slurm: EKS add-ons need an EKS cluster with "
                f"{AGENT_ADD_ON}; leave the add-on out",
            )
        )
    return faults
