"""The identity of training pods."""

from __future__ import annotations

from collections.abc import Mapping

from constructs import Construct

from hyperpod_charts.checked_arguments import check_metadata, known, refuse_arguments
from hyperpod_charts.kubernetes_object import KubernetesObject
from hyperpod_model.catalog.iam import SERVICE_ACCOUNT_ROLE_ANNOTATION
from hyperpod_model.catalog.names import KUBERNETES_SERVICE_ACCOUNT, ROLE_ARN
from hyperpod_model.faults import UNKNOWN, Fault

_KIND = "ServiceAccount"


class ServiceAccount(KubernetesObject):
    """A ``ServiceAccount`` of ``v1``, by which pods get an AWS role.

    Pods get no token for the Kubernetes API, which training does not need. Those for AWS come from elsewhere.

    Args:
        scope: Parent, within a ``cdk8s.Chart``.
        id: Id within the parent.
        name: Name of the service account, as the trust of the role has it.
        namespace: Its namespace. Default that of the chart.
        role_arn: ARN of a role that trusts the EKS cluster's OpenID Connect issuer (IRSA). Default none: EKS
            Pod Identity associates roles outside of Kubernetes.
        automount_service_account_token: Whether pods get a token for the Kubernetes API. Default False.
        labels: Labels. Default none.
        annotations: Further annotations. Default none.

    Raises:
        InvalidInputError: With all that Kubernetes would refuse.
    """

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        name: str,
        namespace: str | None = None,
        role_arn: str | None = None,
        automount_service_account_token: bool = False,
        labels: Mapping[str, str] | None = None,
        annotations: Mapping[str, str] | None = None,
    ) -> None:
        refuse_arguments(
            f"{_KIND} {name!r}",
            [
                *check_metadata(
                    name=name,
                    namespace=namespace,
                    labels=labels,
                    annotations=annotations,
                    name_rule=KUBERNETES_SERVICE_ACCOUNT,
                ),
                *_check_role(role_arn),
            ],
        )
        role = {} if role_arn is None else {SERVICE_ACCOUNT_ROLE_ANNOTATION: role_arn}
        super().__init__(
            scope,
            id,
            api_version="v1",
            kind=_KIND,
            name=name,
            namespace=namespace,
            labels=labels,
            annotations={**({} if annotations is None else annotations), **role},
            body={"automountServiceAccountToken": automount_service_account_token},
        )


def _check_role(role_arn: str | None) -> list[Fault]:
    if role_arn is None or known(role_arn) is UNKNOWN or ROLE_ARN.matches(role_arn):
        return []
    return [Fault(("role_arn",), f"must be the ARN of a role, got {role_arn!r}")]
