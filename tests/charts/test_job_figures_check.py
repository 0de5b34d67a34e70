"""The CronJob that puts figures of jobs: its objects; and what its script shares with the catalog."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from cdk8s import App
from charted import TOKEN
from kubernetes_schemas import needs_crds, refusals

import hyperpod_charts
from hyperpod_charts.job_figures_check import JobFiguresCheck, figures_script
from hyperpod_model.catalog import kueue_workloads
from hyperpod_model.faults import InvalidInputError

IMAGE = "111122223333.dkr.ecr.us-west-2.amazonaws.com/count:1.0.0"
SCRIPT = Path(hyperpod_charts.__file__).parent / "pod_scripts" / "put_job_figures.py"


def made(**changes: Any) -> dict[str, Any]:
    options = {"cluster_name": "llm-train", "region": "us-west-2", "image": IMAGE, **changes}
    objects = JobFiguresCheck(App(), "Check", **options).to_json()
    return {body["kind"]: body for body in objects}


class TestChart:
    @needs_crds
    def test_a_server_takes_it(self) -> None:
        assert {kind: found for kind, body in made().items() if (found := refusals(body))} == {}

    def test_lists_pods_and_what_kueue_has_and_nothing_else(self) -> None:
        objects = made()
        assert objects["ClusterRole"]["rules"] == [
            {"apiGroups": [""], "resources": ["pods"], "verbs": ["list"]},
            {"apiGroups": ["kueue.x-k8s.io"], "resources": ["workloads", "localqueues"], "verbs": ["list"]},
        ]
        assert all(
            "namespace" not in objects[kind]["metadata"] for kind in ("ClusterRole", "ClusterRoleBinding")
        )
        account = objects["ServiceAccount"]
        assert account["automountServiceAccountToken"] is True
        assert objects["ClusterRoleBinding"]["subjects"] == [
            {"kind": "ServiceAccount", "name": "hyperpod-job-figures", "namespace": "kube-system"}
        ]

    def test_runs_every_ten_minutes_as_nobody_and_once(self) -> None:
        said = made()["CronJob"]["spec"]
        assert (said["schedule"], said["concurrencyPolicy"]) == ("*/10 * * * *", "Forbid")
        pod = said["jobTemplate"]["spec"]["template"]["spec"]
        assert pod["restartPolicy"] == "Never"
        assert pod["securityContext"]["runAsNonRoot"] is True
        (container,) = pod["containers"]
        assert container["image"] == IMAGE
        assert container["securityContext"]["allowPrivilegeEscalation"] is False
        assert {one["name"]: one["value"] for one in container["env"]} == {
            "NAMESPACE": "/aws/sagemaker/Clusters",
            "CLUSTER": "llm-train",
            "CLUSTER_DIMENSION": "ClusterName",
            "QUEUE_DIMENSION": "Queue",
            "FIGURES": (
                '{"running": ["RunningJobs", "Count"], "pending": ["PendingJobs", "Count"], '
                '"preempted": ["PreemptedJobs", "Count"], "longest_wait": ["LongestWait", "Seconds"], '
                '"longest_run": ["LongestRun", "Seconds"]}'
            ),
            "MINUTES": "10",
            "AWS_REGION": "us-west-2",
            "PYTHONDONTWRITEBYTECODE": "1",
        }

    def test_the_pods_have_the_script(self) -> None:
        objects = made()
        (name,) = objects["ConfigMap"]["data"]
        assert objects["ConfigMap"]["data"][name] == SCRIPT.read_text("utf-8") == figures_script()
        pod = objects["CronJob"]["spec"]["jobTemplate"]["spec"]["template"]["spec"]
        (container,) = pod["containers"]
        (mount,) = container["volumeMounts"]
        assert container["command"] == ["python3", f"{mount['mountPath']}/{name}"]
        assert pod["volumes"][0]["configMap"]["name"] == objects["ConfigMap"]["metadata"]["name"]

    def test_a_role_by_irsa(self) -> None:
        arn = "arn:aws:iam::111122223333:role/counter"
        assert arn in made(role_arn=arn)["ServiceAccount"]["metadata"]["annotations"].values()
        assert "annotations" not in made()["ServiceAccount"]["metadata"]

    @pytest.mark.parametrize(
        ("change", "message"),
        [
            ({"image": "count"}, "image: must be an image with registry and tag or digest"),
            ({"image": f"{IMAGE.rpartition(':')[0]}:latest"}, "must not have the tag 'latest'"),
            ({"cluster_name": None}, "cluster_name: is required"),
            ({"region": None}, "region: is required"),
            ({"role_arn": "counter"}, "role_arn: must be the ARN of a role, got 'counter'"),
        ],
    )
    def test_refuses(self, change: dict[str, Any], message: str) -> None:
        with pytest.raises(InvalidInputError, match=message):
            made(**change)

    def test_tokens_pass(self) -> None:
        objects = made(cluster_name=TOKEN, region=TOKEN, image=TOKEN)
        assert TOKEN in json.dumps(objects["CronJob"])


def test_the_script_says_the_words_of_kueue_as_the_catalog_does() -> None:
    script: dict[str, Any] = {"__name__": "read"}
    exec(compile(figures_script(), str(SCRIPT), "exec"), script)
    for name in ("WORKLOADS", "LOCAL_QUEUES", "ADMITTED", "FINISHED", "EVICTED", "PREEMPTED", "REQUEUED"):
        assert script[name] == getattr(kueue_workloads, name)
    assert script["KUEUE"] == kueue_workloads.GROUP
