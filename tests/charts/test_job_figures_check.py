"""The CronJob that counts running jobs, and the script that its pods run."""

from __future__ import annotations

import json
import sys
import types
from io import BytesIO, StringIO
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from cdk8s import App
from charted import TOKEN
from kubernetes_schemas import needs_crds, refusals

import hyperpod_charts
from hyperpod_charts.job_figures_check import JobFiguresCheck, count_script
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

    def test_lists_pods_and_nothing_else(self) -> None:
        objects = made()
        assert objects["ClusterRole"]["rules"] == [
            {"apiGroups": [""], "resources": ["pods"], "verbs": ["list"]}
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
            "METRIC": "RunningJobs",
            "DIMENSION": "ClusterName",
            "CLUSTER": "llm-train",
            "AWS_REGION": "us-west-2",
            "PYTHONDONTWRITEBYTECODE": "1",
        }

    def test_the_pods_have_the_script(self) -> None:
        objects = made()
        (name,) = objects["ConfigMap"]["data"]
        assert objects["ConfigMap"]["data"][name] == SCRIPT.read_text("utf-8") == count_script()
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


def pod(name: str, *, owner: str | None = None, namespace: str = "kubeflow", **limits: str) -> dict[str, Any]:
    asked = {key.replace("__", "/").replace("_", "."): value for key, value in limits.items()}
    owners = [] if owner is None else [{"uid": owner, "controller": True}]
    return {
        "metadata": {"name": name, "namespace": namespace, "ownerReferences": owners},
        "spec": {"containers": [{"resources": {"limits": asked}}]},
    }


GPU = {"nvidia_com__gpu": "8"}
PODS = [
    pod("llama-0", owner="a", **GPU),
    pod("llama-1", owner="a", **GPU),
    pod("gpt-0", owner="b", vpc_amazonaws_com__efa="32"),
    pod("trn-0", owner="c", namespace="hyperpod-ns-x", aws_amazon_com__neuron="16"),
    pod("alone", **GPU),
    pod("coredns-0", owner="d", namespace="kube-system", cpu="1"),
    pod("asks-for-none", owner="e", nvidia_com__gpu="0"),
]
"""Four jobs, and pods that are none."""


class Server:
    """Stand-in for the Kubernetes API: pages of pods, as urlopen would have them."""

    def __init__(self, pods: list[dict[str, Any]], *, page: int = 3, error: Exception | None = None) -> None:
        self.pods, self.page, self.error = pods, page, error
        self.asked: list[dict[str, list[str]]] = []

    def __call__(self, request: Any, **options: Any) -> BytesIO:
        if self.error is not None:
            raise self.error
        assert request.get_header("Authorization") == "Bearer secret"
        query = parse_qs(urlsplit(request.full_url).query)
        self.asked.append(query)
        begin = int(query.get("continue", ["0"])[0])
        left = begin + self.page < len(self.pods)
        metadata = {"continue": str(begin + self.page)} if left else {}
        answer = {"items": self.pods[begin : begin + self.page], "metadata": metadata}
        return BytesIO(json.dumps(answer).encode())


class TestScript:
    """The script as it is, with stand-ins for the API server, boto3 and the AWS CLI."""

    @pytest.fixture(autouse=True)
    def _pod(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        said = {"NAMESPACE": "/aws/sagemaker/Clusters", "METRIC": "RunningJobs", "DIMENSION": "ClusterName"}
        place = {"CLUSTER": "llm-train", "AWS_REGION": "us-west-2"}
        host = {"KUBERNETES_SERVICE_HOST": "10.100.0.1", "KUBERNETES_SERVICE_PORT": "443"}
        for name, value in (said | place | host).items():
            monkeypatch.setenv(name, value)
        monkeypatch.setattr("ssl.create_default_context", lambda **options: None)
        monkeypatch.setattr("builtins.open", lambda *args, **options: StringIO("secret\n"))
        self.put: list[dict[str, Any]] = []

    def run(
        self,
        monkeypatch: pytest.MonkeyPatch,
        server: Server,
        *,
        boto3: Exception | str | None = None,
    ) -> int:
        script: dict[str, Any] = {}
        exec(compile(count_script(), str(SCRIPT), "exec"), script)
        monkeypatch.setattr("urllib.request.urlopen", server)

        def put(**data: Any) -> None:
            if isinstance(boto3, Exception):
                raise boto3
            self.put.append(data)

        client = types.SimpleNamespace(put_metric_data=put)
        there = types.SimpleNamespace(client=lambda name, region_name: client)
        monkeypatch.setitem(sys.modules, "boto3", None if boto3 == "absent" else there)
        code: int = script["main"]()
        return code

    def test_counts_jobs_and_not_pods(self, monkeypatch, capsys) -> None:
        server = Server(PODS)
        assert self.run(monkeypatch, server) == 0
        assert self.put == [
            {
                "Namespace": "/aws/sagemaker/Clusters",
                "MetricData": [
                    {
                        "MetricName": "RunningJobs",
                        "Dimensions": [{"Name": "ClusterName", "Value": "llm-train"}],
                        "Value": 4,
                        "Unit": "Count",
                    }
                ],
            }
        ]
        assert capsys.readouterr().out == "running jobs: 4\n"
        assert len(server.asked) == 3
        assert {query["fieldSelector"][0] for query in server.asked} == {"status.phase=Running"}

    def test_an_idle_fleet_has_none(self, monkeypatch) -> None:
        assert self.run(monkeypatch, Server(PODS[-2:])) == 0
        assert self.put[0]["MetricData"][0]["Value"] == 0

    @pytest.mark.parametrize("error", [OSError("403: Forbidden"), TimeoutError("timed out")])
    def test_what_cannot_be_counted_is_not_put(self, monkeypatch, capsys, error: Exception) -> None:
        assert self.run(monkeypatch, Server(PODS, error=error)) == 1
        assert self.put == []
        assert "cannot count running jobs, nothing is put" in capsys.readouterr().out

    def test_says_what_cloudwatch_refuses(self, monkeypatch, capsys) -> None:
        assert self.run(monkeypatch, Server(PODS), boto3=RuntimeError("AccessDenied")) == 1
        assert (
            "takes no number of jobs: RuntimeError('AccessDenied'); see the role" in capsys.readouterr().out
        )

    def test_takes_the_cli_where_there_is_no_boto3(self, monkeypatch) -> None:
        commands: list[list[str]] = []
        monkeypatch.setattr("subprocess.run", lambda command, **options: commands.append(command))
        assert self.run(monkeypatch, Server(PODS), boto3="absent") == 0
        (command,) = commands
        assert command[:3] == ["aws", "cloudwatch", "put-metric-data"]
        assert command[command.index("--dimensions") + 1] == "ClusterName=llm-train"
        assert command[command.index("--value") + 1] == "4"

    def test_says_that_the_image_has_neither(self, monkeypatch, capsys) -> None:
        def run(command: list[str], **options: Any) -> None:
            raise FileNotFoundError(2, "No such file", "aws")

        monkeypatch.setattr("subprocess.run", run)
        assert self.run(monkeypatch, Server(PODS), boto3="absent") == 1
        assert "the image has neither boto3 nor the AWS CLI" in capsys.readouterr().out
