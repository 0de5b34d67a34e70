"""A workspace of Amazon Managed Grafana for one cluster."""

from __future__ import annotations

from collections.abc import Sequence

from aws_cdk import Aws
from aws_cdk import aws_grafana as grafana
from aws_cdk import aws_iam as iam
from constructs import Construct

from hyperpod_constructs.argument_faults import refuse_arguments
from hyperpod_constructs.argument_kinds import CLUSTER, check_kind, check_list
from hyperpod_constructs.attached_permissions import RoleWithAttachedPermissions
from hyperpod_constructs.hyperpod_cluster import HyperPodClusterBase
from hyperpod_constructs.managed_prometheus import ManagedPrometheus
from hyperpod_constructs.tokens import known
from hyperpod_constructs.unlisted_types import warn_of_unlisted_type
from hyperpod_model.catalog.metrics import GRAFANA_SERVICE
from hyperpod_model.checks.metrics import check_grafana_authentication
from hyperpod_model.checks.reading import below
from hyperpod_model.faults import Fault


class GrafanaRole(RoleWithAttachedPermissions):
    """Role with which Grafana reads."""

    _holder = "Grafana"


class ManagedGrafana(Construct):
    """A workspace of Grafana whose role reads one workspace of Prometheus, and nothing else.

    Who may sign in is said in Grafana, not here: with ``AWS_SSO`` in IAM Identity Center, which the account
    must have, with ``SAML`` by the provider's metadata. The data source is added there too, by ``endpoint``
    of the workspace of Prometheus: the role may not list workspaces, which would show those of others.

    Not every region has Grafana: see the warning ``hyperpod:unlistedResourceType.AWS-Grafana-Workspace``.

    Args:
        scope: Parent of the construct.
        id: Id within the parent.
        cluster: The cluster.
        prometheus: Workspace that is read.
        authentication_providers: ``AWS_SSO``, ``SAML`` or both. Default: ``AWS_SSO``.

    Attributes:
        workspace: The workspace.
        role: Its role.
        endpoint: Name of its host, without ``https://``.

    Raises:
        InvalidInputError: If an argument is of another kind, or a provider is none.
    """

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        cluster: HyperPodClusterBase,
        prometheus: ManagedPrometheus,
        authentication_providers: Sequence[str] = ("AWS_SSO",),
    ) -> None:
        super().__init__(scope, id)
        path = ("authentication_providers",)
        wrong = check_list(authentication_providers, path, of="ways to sign in, such as AWS_SSO")
        if not wrong:
            providers = [known(one) for one in authentication_providers]
            wrong = below(path, check_grafana_authentication(providers))
        faults = [*check_kind(cluster, CLUSTER, ("cluster",), required=True), *wrong]
        if not isinstance(prometheus, ManagedPrometheus):
            faults.append(Fault(("prometheus",), f"must be a ManagedPrometheus(...), got {prometheus!r}"))
        refuse_arguments(f"workspace of Grafana '{self.node.path}'", faults)
        warn_of_unlisted_type(self, grafana.CfnWorkspace.CFN_RESOURCE_TYPE_NAME)
        self.role = GrafanaRole(
            self,
            "Role",
            description=f"Grafana of HyperPod cluster {cluster.cluster_name}",
            assumed_by=iam.ServicePrincipal(
                GRAFANA_SERVICE, conditions={"StringEquals": {"aws:SourceAccount": Aws.ACCOUNT_ID}}
            ),
        )
        prometheus.grant_read(self.role)
        self.workspace = grafana.CfnWorkspace(
            self,
            "Resource",
            name=f"hyperpod-{cluster.cluster_name}",
            account_access_type="CURRENT_ACCOUNT",
            authentication_providers=list(authentication_providers),
            # Only the console makes roles for SERVICE_MANAGED.
            permission_type="CUSTOMER_MANAGED",
            data_sources=["PROMETHEUS"],
            role_arn=self.role.role_arn,
        )
        self.endpoint = self.workspace.attr_endpoint
