"""The check that puts figures of jobs into CloudWatch."""

from __future__ import annotations

import hashlib
import json
import pkgutil
from typing import Final

from cdk8s import Chart
from constructs import Construct

from hyperpod_charts.checked_arguments import check_given, known, refuse_arguments
from hyperpod_charts.kubernetes_object import KubernetesObject
from hyperpod_charts.service_account import ServiceAccount
from hyperpod_model.catalog.job_figures import (
    CHECK_MINUTES,
    CLUSTER_DIMENSION,
    FIGURES_BY_KEY,
    QUEUE_DIMENSION,
)
from hyperpod_model.catalog.kueue_workloads import GROUP, LOCAL_QUEUES, WORKLOADS
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
    """A CronJob that puts the figures of jobs into CloudWatch, every 10 minutes.

    The metrics of namespace ``/aws/sagemaker/Clusters`` are ``RunningJobs``, ``PendingJobs``,
    ``PreemptedJobs``, ``LongestWait`` and ``LongestRun``, each with the name of the HyperPod cluster as
    dimension ``ClusterName``, and once more for each namespace with jobs or a queue of Kueue, with a second
    dimension ``Queue``. A job is a group of running pods of one owner that ask for GPUs, Neuron devices or
    EFA. What waits and what was preempted Kueue says, where it is installed; else jobs wait none of whose
    pods runs yet, and preemptions are not put. ``BudgetGuard`` watches the first.

    Where pods cannot be listed, or CloudWatch refuses, the job fails with one line in its log and nothing is
    put; where only Kueue does not answer, it puts what runs, and fails the same way.

    Made are, in ``kube-system``: a service account, a role that lists pods, and workloads and local queues of
    Kueue, its binding, a ConfigMap with the script, and the CronJob. The pods need a role for
    ``cloudwatch:PutMetricData``, by EKS Pod Identity or IRSA; ``JobFiguresManifest`` makes one.

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
            {
                "rules": [
                    {"apiGroups": [""], "resources": ["pods"], "verbs": ["list"]},
                    {"apiGroups": [GROUP], "resources": [WORKLOADS, LOCAL_QUEUES], "verbs": ["list"]},
                ]
            },
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
        script = figures_script()
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
            "CLUSTER": cluster_name,
            "CLUSTER_DIMENSION": CLUSTER_DIMENSION,
            "QUEUE_DIMENSION": QUEUE_DIMENSION,
            "FIGURES": json.dumps(FIGURES_BY_KEY),
            "MINUTES": str(CHECK_MINUTES),
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


def figures_script() -> str:
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
                "name": "measure",
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
