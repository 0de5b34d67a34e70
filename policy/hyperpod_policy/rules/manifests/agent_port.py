"""HyperPod's operator reaches the agent in each pod."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hyperpod_model.catalog.ports import OPERATOR_AGENT
from hyperpod_policy.manifests import Manifest, ManifestRule, ManifestVerdict
from hyperpod_policy.manifests.reading import listed
from hyperpod_policy.manifests.training_jobs import training_jobs
from hyperpod_policy.manifests.verdicts import failed, passed

_PORT = OPERATOR_AGENT[0].first
_OPTION = "server_port"


def check(manifests: Sequence[Manifest]) -> Iterator[ManifestVerdict]:
    """Judge the ports of each training container of a HyperPod job."""
    for job in training_jobs(manifests):
        if job.is_kubeflow:
            continue
        for _, container, launch in job.launches():
            path = (*container.path, "ports")
            ports = container.ports()
            listens = launch.options.get(_OPTION)
            if listens not in (None, str(_PORT)):
                yield failed(
                    job.manifest,
                    *container.path,
                    "command",
                    found=f"the agent listens on {listens}",
                    allowed=f"{_PORT}, where the operator looks for it",
                )
            elif _PORT in ports:
                yield passed(job.manifest, *path)
            else:
                yield failed(
                    job.manifest,
                    *path,
                    found=f"containerPort {listed(sorted(ports))}" if ports else "no ports",
                    allowed=f"containerPort {_PORT}",
                )


RULE = ManifestRule(
    id="AgentPort",
    title="HyperPod's operator reaches the agent in each pod",
    severity="error",
    why=(
        "The operator starts and stops the training processes through the agent's port. It finds the port "
        "in the pod, and without it the job never leaves its start."
    ),
    fix="add containerPort 8080 to the container that runs hyperpodrun",
    source="AWS docs sagemaker-eks-operator-usage; PyPI hyperpod-elastic-agent 1.1.3, --server-port",
    check=check,
)
