"""The check by which an idle fleet is told from a busy one."""

from __future__ import annotations

import hashlib
import pkgutil
from typing import Final

from cdk8s import Chart
from constructs import Construct

from hyperpod_charts.checked_arguments import check_given, known, refuse_arguments
from hyperpod_charts.kubernetes_object import KubernetesObject
from hyperpod_charts.service_account import ServiceAccount
from hyperpod_model.catalog.job_figures import CHECK_MINUTES, CLUSTER_DIMENSION, RUNNING_JOBS
from hyperpod_model.catalog.logs import METRIC_NAMESPACE
from hyperpod_model.checks.images import check_image

JOB_FIGURES_NAMESPACE: Final = "kube-system"
JOB_FIGURES_NAME: Final = "hyperpod-job-figures"
"""Of the service account, whose pods need ``cloudwatch:PutMetricData``, and of all else that is made."""

_SCRIPT: Final = "put_job_figures.py"
_FOLDER: Final = "/opt/hyperpod"
_NOBODY: Final = 65534
_SECONDS: Final = 300


class JobFiguresCheck(Chart):
    """A CronJob that puts the number of running jobs into CloudWatch, every 10 minutes.

    A job is a group of running pods of one owner that ask for GPUs, Neuron devices or EFA. The metric
    ``RunningJobs`` of namespace ``/aws/sagemaker/Clusters`` has the name of the HyperPod cluster as dimension
    ``ClusterName``; ``BudgetGuard`` watches it. Where pods cannot be listed, or CloudWatch refuses, the job
    fails with one line in its log and no number is put.

    Made are, in ``kube-system``: a service account, a role that lists pods and its binding, a ConfigMap with
    the script, and the CronJob. The pods need a role for ``cloudwatch:PutMetricData``, by EKS Pod Identity or
    IRSA; ``JobFiguresManifest`` makes one.

    Args:
        scope: Parent: a ``cdk8s.App``, or another chart.
        id: Id within the parent.
        cluster_name: Name of the HyperPod cluster.
        region: Its region.
        image: Image with python3, and boto3 or the AWS CLI, by tag or digest.
        role_arn: Role of the service account for IRSA. Default none: EKS Pod Identity needs none here.

    Raises:
        InvalidInputError: With all that Kubernetes would refuse.
    """

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        cluster_name: str,
        region: str,
        image: str,
        role_arn: str | None = None,
    ) -> None:
        refuse_arguments(
            f"JobFiguresCheck {cluster_name!r}",
            [
                *check_given("cluster_name", cluster_name),
                *check_given("region", region),
                *check_image(known(image), ("image",)),
            ],
        )
        # No namespace of the chart: roles and bindings of the cluster may not have one.
        super().__init__(scope, id, disable_resource_name_hashes=True)
        account = ServiceAccount(
            self,
            "ServiceAccount",
            name=JOB_FIGURES_NAME,
            namespace=JOB_FIGURES_NAMESPACE,
            role_arn=role_arn,
            automount_service_account_token=True,
        )
        role = _cluster_object(
            self,
            "Role",
            "ClusterRole",
            {"rules": [{"apiGroups": [""], "resources": ["pods"], "verbs": ["list"]}]},
        )
        binding = _cluster_object(
            self,
            "Binding",
            "ClusterRoleBinding",
            {
                "roleRef": {
                    "apiGroup": "rbac.authorization.k8s.io",
                    "kind": "ClusterRole",
                    "name": JOB_FIGURES_NAME,
                },
                "subjects": [
                    {
                        "kind": "ServiceAccount",
                        "name": JOB_FIGURES_NAME,
                        "namespace": JOB_FIGURES_NAMESPACE,
                    }
                ],
            },
        )
        script = count_script()
        configuration = KubernetesObject(
            self,
            "Script",
            api_version="v1",
            kind="ConfigMap",
            name=JOB_FIGURES_NAME,
            namespace=JOB_FIGURES_NAMESPACE,
            body={"data": {_SCRIPT: script}},
        )
        environment = {
            "NAMESPACE": METRIC_NAMESPACE,
            "METRIC": RUNNING_JOBS.name,
            "DIMENSION": CLUSTER_DIMENSION,
            "CLUSTER": cluster_name,
            "AWS_REGION": region,
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        self.cron_job = KubernetesObject(
            self,
            "CronJob",
            api_version="batch/v1",
            kind="CronJob",
            name=JOB_FIGURES_NAME,
            namespace=JOB_FIGURES_NAMESPACE,
            body={
                "spec": {
                    "schedule": f"*/{CHECK_MINUTES} * * * *",
                    "concurrencyPolicy": "Forbid",
                    "startingDeadlineSeconds": _SECONDS,
                    "successfulJobsHistoryLimit": 1,
                    "failedJobsHistoryLimit": 1,
                    "jobTemplate": {
                        "spec": {
                            "backoffLimit": 0,
                            "activeDeadlineSeconds": _SECONDS,
                            "template": {
                                "metadata": {"annotations": {"hyperpod/script-sha256": _digest(script)}},
                                "spec": _pod(image, environment),
                            },
                        }
                    },
                }
            },
        )
        binding.add_dependency(account, role)
        self.cron_job.add_dependency(binding, configuration)


def count_script() -> str:
    """Return the script that the pods run."""
    content = pkgutil.get_data("hyperpod_charts", f"pod_scripts/{_SCRIPT}")
    assert content is not None
    return content.decode()


def _pod(image: str, environment: dict[str, str]) -> dict[str, object]:
    return {
        "serviceAccountName": JOB_FIGURES_NAME,
        "restartPolicy": "Never",
        "securityContext": {
            "runAsNonRoot": True,
            "runAsUser": _NOBODY,
            "runAsGroup": _NOBODY,
            "seccompProfile": {"type": "RuntimeDefault"},
        },
        "containers": [
            {
                "name": "count",
                "image": image,
                "command": ["python3", f"{_FOLDER}/{_SCRIPT}"],
                "env": [{"name": name, "value": value} for name, value in environment.items()],
                "resources": {
                    "requests": {"cpu": "50m", "memory": "128Mi"},
                    "limits": {"memory": "512Mi"},
                },
                "securityContext": {
                    "allowPrivilegeEscalation": False,
                    "readOnlyRootFilesystem": True,
                    "capabilities": {"drop": ["ALL"]},
                },
                "volumeMounts": [{"name": "script", "mountPath": _FOLDER, "readOnly": True}],
            }
        ],
        "volumes": [{"name": "script", "configMap": {"name": JOB_FIGURES_NAME}}],
    }


def _cluster_object(scope: Construct, id: str, kind: str, body: dict[str, object]) -> KubernetesObject:
    return KubernetesObject(
        scope,
        id,
        api_version="rbac.authorization.k8s.io/v1",
        kind=kind,
        name=JOB_FIGURES_NAME,
        body=body,
    )


def _digest(script: str) -> str:
    return hashlib.sha256(script.encode()).hexdigest()[:12]
