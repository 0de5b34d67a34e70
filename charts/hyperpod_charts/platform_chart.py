"""What a namespace needs before jobs come."""

from __future__ import annotations

from dataclasses import dataclass

from cdk8s import Chart
from constructs import Construct

from hyperpod_charts.checked_arguments import check_given, check_is, known, refuse_arguments
from hyperpod_charts.job_members import TRAINING_PODS
from hyperpod_charts.lustre_volume import LustreVolume
from hyperpod_charts.namespace import Namespace
from hyperpod_charts.service_account import ServiceAccount
from hyperpod_charts.training_network_policy import TrainingNetworkPolicy
from hyperpod_model.catalog.jobs import TEAM_NAMESPACE_PREFIX
from hyperpod_model.faults import Fault

NETWORK_POLICY_NAME = "training-pods"

_RESERVED = "kube-"


@dataclass(frozen=True, slots=True, kw_only=True)
class LustreFileSystemReference:
    """A file system that exists, by outputs of ``HyperPodStack`` or attributes of ``LustreFileSystem``.

    Attributes:
        file_system_id: Such as ``fs-0123456789abcdef0``.
        dns_name: Such as ``fs-0123456789abcdef0.fsx.us-west-2.amazonaws.com``.
        mount_name: Such as ``abcdefgh``.
        storage_capacity_gib: Its size in GiB.
    """

    file_system_id: str
    dns_name: str
    mount_name: str
    storage_capacity_gib: int


class PlatformChart(Chart):
    """A namespace with all that training jobs expect in it.

    - The namespace, unless it is there.
    - A service account, by which pods get their AWS role.
    - The file system as a claim, which jobs name in ``persistent_volume_claims``.
    - A network policy that lets nobody in to training pods but the HyperPod operator. The policy of each job
      adds the job's own pods.

    Attributes:
        made_namespace: The namespace, if it is made.
        service_account: The service account, if there is one.
        file_system: Volume and claim of the file system, if there is one.
        network_policy: The network policy.

    Args:
        scope: Parent: a ``cdk8s.App``, or another chart.
        id: Id within the parent.
        namespace: Name of the namespace.
        create_namespace: Whether the namespace is made. Default True. False for ``kubeflow``, which the
            dependency chart makes. Must be False for ``hyperpod-ns-<team>``, which task governance makes, and
            for ``kube-*``, where a pod security standard would keep the system's own pods out.
        pod_security: Pod security standard of a namespace that is made, see :class:`Namespace`. Default
            ``baseline``.
        service_account_name: Default none is made.
        role_arn: Role of the service account for IRSA. Default none: EKS Pod Identity needs none here.
        file_system: The file system. Default none.
        claim_name: Name of the claim on it. Default ``fsx``.

    Raises:
        InvalidInputError: With all that Kubernetes would refuse.
    """

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        namespace: str,
        create_namespace: bool = True,
        pod_security: str = "baseline",
        service_account_name: str | None = None,
        role_arn: str | None = None,
        file_system: LustreFileSystemReference | None = None,
        claim_name: str = "fsx",
    ) -> None:
        refuse_arguments(
            f"PlatformChart {namespace!r}",
            [
                *check_given("namespace", namespace),
                *(_check_new(namespace) if create_namespace else ()),
                *_check_role(role_arn, service_account_name),
                *(
                    []
                    if file_system is None
                    else check_is("file_system", file_system, LustreFileSystemReference)
                ),
            ],
        )
        super().__init__(scope, id, disable_resource_name_hashes=True)
        self.made_namespace = (
            Namespace(self, "Namespace", name=namespace, pod_security=pod_security)
            if create_namespace
            else None
        )
        self.service_account = (
            None
            if service_account_name is None
            else ServiceAccount(
                self, "ServiceAccount", name=service_account_name, namespace=namespace, role_arn=role_arn
            )
        )
        self.file_system = (
            None
            if file_system is None
            else LustreVolume(
                self,
                "FileSystem",
                claim_name=claim_name,
                namespace=namespace,
                file_system_id=file_system.file_system_id,
                dns_name=file_system.dns_name,
                mount_name=file_system.mount_name,
                storage_capacity_gib=file_system.storage_capacity_gib,
            )
        )
        self.network_policy = TrainingNetworkPolicy(
            self,
            "NetworkPolicy",
            name=NETWORK_POLICY_NAME,
            namespace=namespace,
            pod_labels=TRAINING_PODS,
            member_traffic=False,
            operator_agent=True,
            open_egress=True,
        )
        if self.made_namespace is not None:
            for part in (self.service_account, self.file_system, self.network_policy):
                if part is not None:
                    part.node.add_dependency(self.made_namespace)


def _check_new(namespace: str) -> list[Fault]:
    if not isinstance(known(namespace), str):
        return []
    for prefix, owner in ((TEAM_NAMESPACE_PREFIX, "task governance makes"), (_RESERVED, "Kubernetes has")):
        if namespace.startswith(prefix):
            message = f"is one that {owner} itself, got {namespace!r}; give create_namespace=False"
            return [Fault(("namespace",), message)]
    return []


def _check_role(role_arn: str | None, service_account_name: str | None) -> list[Fault]:
    if role_arn is None or service_account_name is not None:
        return []
    return [
        Fault(("role_arn",), "is that of a service account, which is not made; give service_account_name")
    ]
