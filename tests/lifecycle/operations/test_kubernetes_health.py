"""Health by labels, from an HTTPS server of this test that stands for the Kubernetes API."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from urllib.parse import parse_qs, urlparse

import pytest
from aws_answers import cluster, error, instance_id
from kubernetes_stand_in import KubernetesStandIn, self_signed, serving

from hyperpod_lifecycle.operations.aws import Aws
from hyperpod_lifecycle.operations.clusters import HyperPod
from hyperpod_lifecycle.operations.kubernetes_health import kubernetes_health
from hyperpod_lifecycle.operations.kubernetes_token import token_for
from hyperpod_model.catalog import labels

EKS_ARN = "arn:aws:eks:us-west-2:111122223333:cluster/llm-eks"
NODES = "/api/v1/nodes"


def kube_node(number, *, told=None, annotations=None, conditions=(), name=None):
    return {
        "metadata": {
            "name": f"hyperpod-{instance_id('workers', number)}" if name is None else name,
            "labels": {} if told is None else told,
            "annotations": {} if annotations is None else annotations,
        },
        "status": {"conditions": list(conditions)},
    }


@pytest.fixture(scope="module")
def server(tmp_path_factory) -> Iterator[KubernetesStandIn]:
    with serving(tmp_path_factory.mktemp("certificate")) as kept:
        yield kept


@pytest.fixture
def kubernetes(aws, server) -> KubernetesStandIn:
    """An EKS cluster whose API is the server."""
    server.objects, server.status, server.asked = {}, 200, []
    aws.answers["DescribeCluster"] = cluster(Orchestrator={"Eks": {"ClusterArn": EKS_ARN}})
    aws.answers["GET /clusters/llm-eks"] = {
        "cluster": {
            "name": "llm-eks",
            "endpoint": server.endpoint,
            "certificateAuthority": {"data": server.authority},
        }
    }
    return server


def seen(**options):
    aws = Aws()
    hyperpod = HyperPod(aws)
    found = hyperpod.cluster("llm-train")
    return kubernetes_health(aws, found, hyperpod.nodes(found), **options)


def test_labels_annotations_and_conditions(kubernetes):
    kubernetes.objects[NODES] = [
        kube_node(
            1,
            told={
                labels.NODE_HEALTH_STATUS.key: "UnschedulablePendingReplacement",
                labels.DEEP_HEALTH_CHECK_STATUS.key: "Failed",
                labels.FAULT_TYPES.key: "NvidiaErrorTerminate",
                labels.FAULT_REASONS.key: "XidHardwareFailure",
            },
            conditions=[
                {"type": "Ready", "status": "True"},
                {"type": "NvidiaErrorTerminate", "status": "True", "reason": "X", "message": "Xid 79"},
                {"type": "NvidiaErrorReboot", "status": "False"},
            ],
        ),
        kube_node(2, told={labels.NODE_HEALTH_STATUS.key: "Schedulable"}),
        kube_node(0, name="ip-10-0-0-9.us-west-2.compute.internal"),
    ]
    view = seen()
    assert view.unreachable is None
    assert len(kubernetes.asked) == 3
    assert set(view.nodes) == {instance_id("workers", 1), instance_id("workers", 2)}
    faulty, healthy = view.nodes[instance_id("workers", 1)], view.nodes[instance_id("workers", 2)]
    assert (faulty.state, faulty.deep_checks, faulty.under_repair) == (
        "UnschedulablePendingReplacement", "Failed", "replace",
    )  # fmt: skip
    assert [fault.text for fault in faulty.faults] == [
        "NvidiaErrorTerminate: XidHardwareFailure",
        "NvidiaErrorTerminate: X: Xid 79",
    ]
    assert (healthy.state, healthy.deep_checks, healthy.faults, healthy.under_repair) == (
        "Schedulable", None, (), None,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("annotation", "texts"),
    [
        (
            json.dumps({"faults": [{"type": "A", "reason": "B", "message": "C"}, {"Message": "D"}]}),
            ["A: B: C", "D"],
        ),
        (json.dumps([{"reason": "B", "count": 2}]), ['B: {"reason": "B", "count": 2}']),
        (json.dumps(["text"]), ["text"]),
        ("no JSON", ["no JSON"]),
        ("7", ["7"]),
    ],
)
def test_fault_details_are_read_whatever_they_hold(kubernetes, annotation, texts):
    told = {labels.FAULT_TYPES.key: "less"}
    kubernetes.objects[NODES] = [
        kube_node(1, told=told, annotations={labels.FAULT_DETAILS_ANNOTATION: annotation}),
    ]
    assert [fault.text for fault in seen().nodes[instance_id("workers", 1)].faults] == texts


@pytest.mark.parametrize(
    ("ready", "state"), [("True", "Ready"), ("False", "NotReady"), ("Unknown", "NotReady")]
)
def test_a_node_without_the_label(kubernetes, ready, state):
    kubernetes.objects[NODES] = [kube_node(1, conditions=[{"type": "Ready", "status": ready}])]
    assert seen().nodes[instance_id("workers", 1)].state == state


def test_a_node_of_another_name_is_known_by_its_provider_s_id(kubernetes):
    named = kube_node(1, name="ip-10-0-0-1.us-west-2.compute.internal")
    named["spec"] = {"providerID": f"aws:///usw2-az1/sagemaker/cluster/hyperpod-{instance_id('workers', 1)}"}
    kubernetes.objects[NODES] = [named, kube_node(2, name=f"{instance_id('workers', 2)}-old")]
    assert set(seen().nodes) == {instance_id("workers", 1)}


def test_the_token_is_a_signed_question_to_sts_for_this_cluster(kubernetes):
    kubernetes.objects[NODES] = [kube_node(1)]
    seen()
    token = kubernetes.asked[0][2].removeprefix("Bearer k8s-aws-v1.")
    url = urlparse(base64.urlsafe_b64decode(token + "=" * (-len(token) % 4)).decode())
    asked = {name: values[0] for name, values in parse_qs(url.query).items()}
    assert asked["Action"] == "GetCallerIdentity"
    assert asked["X-Amz-SignedHeaders"] == "host;x-k8s-aws-id"
    assert asked["X-Amz-Expires"] == "60"
    assert "/us-west-2/sts/aws4_request" in asked["X-Amz-Credential"]


def test_the_token_goes_to_the_region_s_sts(aws, monkeypatch):
    monkeypatch.delenv("AWS_ENDPOINT_URL")
    token = token_for(Aws(), "llm-eks").removeprefix("k8s-aws-v1.")
    url = base64.urlsafe_b64decode(token + "=" * (-len(token) % 4)).decode()
    assert url.startswith("https://sts.us-west-2.amazonaws.com/?")


@pytest.mark.parametrize("status", [401, 403])
def test_credentials_that_may_not_read_nodes(kubernetes, status):
    kubernetes.status = status
    assert "give their role an access entry with AmazonEKSAdminViewPolicy, or say --kube-context" in (
        seen().unreachable
    )


def test_an_api_that_is_ill(kubernetes):
    kubernetes.status = 500
    assert "the API of llm-eks answers 500" in seen().unreachable


def test_an_endpoint_that_cannot_be_reached(kubernetes, aws, server):
    told = aws.answers["GET /clusters/llm-eks"]["cluster"]
    aws.answers["GET /clusters/llm-eks"] = {"cluster": {**told, "endpoint": "https://127.0.0.1:1"}}
    unreachable = seen().unreachable
    assert "the API of the EKS cluster llm-eks cannot be reached (" in unreachable
    assert (
        "run this where its endpoint can be reached, such as in its VPC, or say --kube-context" in unreachable
    )


def test_another_authority_is_not_trusted(kubernetes, aws, tmp_path):
    told = aws.answers["GET /clusters/llm-eks"]["cluster"]
    _, authority = self_signed(tmp_path)
    aws.answers["GET /clusters/llm-eks"] = {"cluster": {**told, "certificateAuthority": {"data": authority}}}
    assert "CERTIFICATE_VERIFY_FAILED" in seen().unreachable


@pytest.mark.parametrize(
    "data", ["", "bm8gY2VydGlmaWNhdGU=", "/w==", "not base64"], ids=["none", "no PEM", "no text", "no base64"]
)
def test_a_certificate_that_is_none(kubernetes, aws, data):
    told = aws.answers["GET /clusters/llm-eks"]["cluster"]
    aws.answers["GET /clusters/llm-eks"] = {"cluster": {**told, "certificateAuthority": {"data": data}}}
    unreachable = seen().unreachable
    assert "the certificate of the API of the EKS cluster llm-eks cannot be read (" in unreachable
    assert "say --kube-context" in unreachable


def test_an_eks_cluster_that_may_not_be_described(kubernetes, aws):
    aws.answers["GET /clusters/llm-eks"] = error("AccessDeniedException", status=403)
    assert "the AWS credentials do not permit eks:DescribeCluster" in seen().unreachable


def test_nodes_of_another_cluster(kubernetes):
    kubernetes.objects[NODES] = [kube_node(0, name="hyperpod-i-0ffffffffffffffff")]
    assert seen().unreachable == "it has none of the nodes of llm-train; is that another cluster's context?"


def test_a_cluster_that_is_still_made(kubernetes, aws):
    told = aws.answers["GET /clusters/llm-eks"]["cluster"]
    aws.answers["GET /clusters/llm-eks"] = {"cluster": {**told, "endpoint": None}}
    assert seen().unreachable == (
        "EKS does not tell the endpoint of llm-eks; wait until the cluster is ACTIVE, or say --kube-context"
    )


class TestKubectl:
    def kubectl(self, programs, script):
        program = programs / "kubectl"
        program.write_text(f"#!/bin/sh\n{script}\n")
        program.chmod(0o755)

    def test_it_is_asked_with_the_context(self, kubernetes, programs, tmp_path):
        (tmp_path / "nodes.json").write_text(json.dumps({"items": [kube_node(1)]}))
        self.kubectl(programs, f'echo "$@" > {tmp_path}/asked; cat {tmp_path}/nodes.json')
        view = seen(context="west")
        assert set(view.nodes) == {instance_id("workers", 1)}
        assert view.source == "Kubernetes (kubectl, context west)"
        assert "--context west" in (tmp_path / "asked").read_text()
        assert kubernetes.asked == []

    @pytest.mark.parametrize(
        ("script", "message"),
        [
            ("echo 'error: no context exists' >&2; exit 1", "kubectl: error: no context exists"),
            ("exit 3", "kubectl: it failed without a word"),
            ("echo '{'", "kubectl answers no JSON: "),
        ],
    )
    def test_it_fails(self, kubernetes, programs, script, message):
        self.kubectl(programs, script)
        assert seen(context="west").unreachable.startswith(message)

    def test_it_is_missing(self, kubernetes, programs):
        assert seen(context="west").unreachable.startswith("kubectl is not on the PATH")
