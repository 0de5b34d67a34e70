"""The pods that train, and how they prove who they are."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from hyperpod_model.catalog import names
from hyperpod_model.spec_files.spec_model import SpecModel

PodIdentityKind = Literal["pod-identity", "irsa"]


class TrainingPodsSpec(SpecModel):
    """The pods of training jobs: they alone can take the training role, which reaches the checkpoints."""

    namespace: str = Field(
        description=(
            "Kubernetes namespace of the jobs. Job auto-resume of Kubeflow jobs works in kubeflow and in "
            "namespaces that begin with hyperpod."
        ),
        json_schema_extra={
            "pattern": f"^(?:{names.KUBERNETES_NAMESPACE.pattern})$",
            "maxLength": names.KUBERNETES_NAMESPACE.max_length,
        },
    )
    service_account: str = Field(
        description="Kubernetes service account of the jobs' pods. Whoever may use it has the role.",
        json_schema_extra={
            "pattern": f"^(?:{names.KUBERNETES_SERVICE_ACCOUNT.pattern})$",
            "maxLength": names.KUBERNETES_SERVICE_ACCOUNT.max_length,
        },
    )
    identity: PodIdentityKind = Field(
        default="pod-identity",
        description=(
            "How a pod gets the role. 'pod-identity': an association in the EKS cluster, through the Pod "
            "Identity agent. 'irsa': the service account's token, through the OIDC provider of the EKS "
            "cluster. By default 'pod-identity'."
        ),
    )
    apply_platform_chart: bool = Field(
        default=False,
        description=(
            "Whether the stack applies what jobs need to the EKS cluster that it makes: namespace, service "
            "account, a network policy, and the claim fsx on the file system. Not for hyperpod-ns-<team>, "
            "which task governance makes. By default false: render it with hyperpod_charts, or write it."
        ),
    )
    issuer: str | None = Field(
        default=None,
        description=(
            "OIDC issuer of the existing EKS cluster, such as "
            "oidc.eks.us-west-2.amazonaws.com/id/0123456789ABCDEF0123456789ABCDEF, whose provider is in IAM. "
            "Required for 'irsa' with eks.cluster_arn. By default the provider of the EKS cluster that is "
            "made."
        ),
        json_schema_extra={"pattern": f"^(?:https://)?(?:{names.OIDC_ISSUER.pattern})$"},
    )
