"""Whether an existing EKS cluster has what jobs need, asked of a stand-in for its API and of kubectl."""

from __future__ import annotations

import json
import os
import stat
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from kubernetes_stand_in import KubernetesStandIn, serving
from preflight_account import MADE, ON_EKS, eks, with_groups
from preflight_asked import all_ok, asked, only
from told_aws import Refusal, denied

from hyperpod_lifecycle.operations.errors import OperationError
from hyperpod_lifecycle.operations.kubernetes_reads import KubernetesReads, KubernetesUnreachableError

NAME = "Kubernetes"
DEFINITION = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/pytorchjobs.kubeflow.org"
DAEMON_SETS = "/apis/apps/v1/daemonsets"
IMAGE = "602401143452.dkr.ecr.us-west-2.amazonaws.com/eks/aws-efa-k8s-device-plugin:v0.5.20"
LABEL = "node.kubernetes.io/instance-type"


def definition(*versions, served=True):
    return {"spec": {"versions": [{"name": name, "served": served} for name in versions]}}


def daemon_set(name="efa", image=IMAGE, **spec):
    template = {"spec": {"containers": [{"image": image}], **spec}}
    return {"metadata": {"namespace": "kube-system", "name": name}, "spec": {"template": template}}


def only_on(*terms):
    """An affinity with a list of types in each expression of each term."""
    rows = [
        {"matchExpressions": [{"key": LABEL, "operator": "In", "values": types} for types in term]}
        for term in terms
    ]
    required = {"nodeSelectorTerms": rows}
    return {"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}}


@pytest.fixture(scope="module")
def server(tmp_path_factory) -> Iterator[KubernetesStandIn]:
    with serving(tmp_path_factory.mktemp("certificate")) as kept:
        yield kept


@pytest.fixture
def api(server, monkeypatch) -> KubernetesStandIn:
    monkeypatch.setenv("PATH", "")
    server.status = 200
    server.asked = []
    server.objects = {
        DEFINITION: definition("v1"),
        DAEMON_SETS: [daemon_set("cni", "x/cni:v1"), daemon_set()],
    }
    return server


def reads(api, **more):
    told = eks(endpoint=api.endpoint, certificateAuthority={"data": api.authority})["cluster"]
    given = {"name": "training", "describe": lambda: told, "token": lambda: "k8s-aws-v1.x", **more}
    return KubernetesReads(**given)


def found(api, spec=ON_EKS, **more):
    return asked(NAME, spec, kubernetes=reads(api, **more))


class TestParts:
    def test_both_are_there(self, api):
        said = found(api)
        all_ok(
            said,
            "pytorchjobs.kubeflow.org is there, v1 served",
            "kube-system/efa runs aws-efa-k8s-device-plugin:v0",
        )
        assert {method for method, _, _ in api.asked} == {"GET"}
        assert {token for _, _, token in api.asked} == {"Bearer k8s-aws-v1.x"}
        assert [path for _, path, _ in api.asked] == [
            DEFINITION,
            f"{DAEMON_SETS}?limit=500",
            f"{DAEMON_SETS}?limit=500&continue=at%201",
        ]

    def test_no_definition(self, api):
        del api.objects[DEFINITION]
        only(
            found(api),
            "problem",
            "there is no resource definition pytorchjobs.kubeflow.org, although eks.dependency_chart says "
            "that the chart is installed; install helm_chart/HyperPodHelmChart of https://",
        )

    def test_the_chart_that_is_installed_brings_them(self, api):
        api.objects = {DAEMON_SETS: [daemon_set("cni", "x/cni:v1")]}
        chart = {"dependency_chart": {"oci_uri": "oci://r.example.com/c", "version": "0.1.0"}}
        own = {
            "cluster_arn": ON_EKS["eks"]["cluster_arn"],
            "kubectl_role_arn": "arn:aws:iam::111122223333:role/admin",
            "cluster_security_group_id": "sg-0fedcba9876543210",
        }
        said = found(api, {**ON_EKS, "eks": {**own, **chart}})
        all_ok(said, "no resource definition", "no DaemonSet runs the image")
        assert all("the dependency chart that is installed brings it" in each.text for each in said)

    @pytest.mark.parametrize(
        "other", [definition("v2beta1"), {"spec": {"versions": [{"name": "v1", "served": False}]}}]
    )
    def test_another_version(self, api, other):
        api.objects[DEFINITION] = other
        only(found(api), "problem", "served as .*, and jobs are of v1; install the training operator")

    def test_no_device_plugin(self, api):
        api.objects[DAEMON_SETS] = [daemon_set("cni", "x/amazon-k8s-cni:v1")]
        only(
            found(api), "problem", "EFA device plugin: no DaemonSet runs the image aws-efa-k8s-device-plugin"
        )

    @pytest.mark.parametrize("image", [IMAGE.replace(":v0.5.20", "@sha256:ab"), IMAGE.partition(":")[0]])
    def test_a_device_plugin_by_digest(self, api, image):
        api.objects[DAEMON_SETS] = [daemon_set(image=image)]
        all_ok(found(api))

    @pytest.mark.parametrize(
        "spec",
        [
            only_on([["ml.p4d.24xlarge", "ml.p5.48xlarge"]]),
            only_on([["ml.p4d.24xlarge"]], [["ml.p5.48xlarge"]]),
            only_on([["ml.p4d.24xlarge"]], []),
            {"nodeSelector": {LABEL: "ml.p5.48xlarge"}},
            {"nodeSelector": {"team": "a"}},
            {},
        ],
    )
    def test_a_device_plugin_that_goes_to_the_type(self, api, spec):
        api.objects[DAEMON_SETS] = [daemon_set(**spec)]
        all_ok(found(api))

    @pytest.mark.parametrize(
        "spec",
        [
            only_on([["ml.p4d.24xlarge", "ml.p5e.48xlarge"]]),
            only_on([["ml.p4d.24xlarge", "ml.p5.48xlarge"], ["ml.p4d.24xlarge"]]),
            {"nodeSelector": {LABEL: "ml.p4d.24xlarge"}},
        ],
    )
    def test_a_device_plugin_that_does_not(self, api, spec):
        api.objects[DAEMON_SETS] = [daemon_set(**spec)]
        only(
            found(api),
            "problem",
            "kube-system/efa goes to no node of ml.p5.48xlarge: its node affinity does not list the type",
        )

    def test_a_second_device_plugin_may_go_there(self, api):
        api.objects[DAEMON_SETS] = [daemon_set(**only_on([["ml.p4d.24xlarge"]])), daemon_set("more")]
        all_ok(found(api))

    def test_groups_without_efa_need_no_plugin(self, api):
        api.objects[DAEMON_SETS] = []
        assert len(found(api, with_groups(ON_EKS, instance_type="ml.m5.2xlarge"))) == 1


class TestReads:
    @pytest.mark.parametrize("status", [401, 403])
    def test_credentials_that_may_not_read(self, api, status):
        api.status = status
        said = found(api)
        assert [each.verdict for each in said] == ["cannot tell", "cannot tell"]
        assert [each.subject for each in said] == ["PyTorchJob resource", "EFA device plugin"]
        assert (
            "give their role an access entry with AmazonEKSAdminViewPolicy, or say --kube-context"
            in said[0].text
        )

    def test_another_refusal(self, api):
        api.status = 503
        assert "the API of training answers 503" in found(api)[0].text

    def test_an_endpoint_that_is_not_reached(self, api):
        told = eks(endpoint="https://127.0.0.1:9", certificateAuthority={"data": api.authority})["cluster"]
        said = found(api, describe=lambda: told)
        assert said[0].verdict == "cannot tell"
        assert "cannot be reached" in said[0].text
        assert "such as in its VPC, or say --kube-context" in said[0].text

    def test_an_endpoint_that_is_not_reached_is_tried_once(self, api, monkeypatch):
        tried = []

        def hang(request, **_):
            tried.append(request.full_url)
            raise TimeoutError("timed out")

        monkeypatch.setattr(urllib.request, "urlopen", hang)
        (said,) = found(api)
        assert said.subject == "PyTorchJob resource, EFA device plugin"
        assert "cannot be reached (timed out)" in said.message
        assert len(tried) == 1

    def test_a_stranger_is_not_trusted(self, api, tmp_path):
        with serving(tmp_path) as other:
            other.objects = api.objects
            told = eks(endpoint=other.endpoint, certificateAuthority={"data": api.authority})["cluster"]
            assert "certificate verify failed" in found(api, describe=lambda: told)[0].text
            assert other.asked == []

    @pytest.mark.parametrize("data", [None, "", "bm8gY2VydGlmaWNhdGU="])
    def test_a_cluster_without_a_certificate(self, api, data):
        told = eks(
            endpoint=api.endpoint, **({} if data is None else {"certificateAuthority": {"data": data}})
        )
        assert (
            "the certificate of the API of the EKS cluster training cannot be read ("
            in found(api, describe=lambda: told["cluster"])[0].text
        )

    @pytest.mark.parametrize("part", ["describe", "token"])
    def test_credentials_that_are_refused(self, api, part):
        def refuse():
            raise OperationError(
                "denied", "the AWS credentials do not permit eks:DescribeCluster; ask for it"
            )

        said = found(api, **{part: refuse})
        assert said[0].verdict == "cannot tell"
        assert "do not permit eks:DescribeCluster" in said[0].text


STAND_IN_KUBECTL = """#!/bin/sh
# A stand-in for kubectl: config as it is told, and --raw answers from files named by the path.
case "$*" in
  "config view -o json") cat "$TOLD/config"; exit 0 ;;
esac
for path; do :; done
echo "$*" >> "$TOLD/asked"
file="$TOLD/$(echo "${path%%\\?*}" | tr / _)"
if [ -e "$TOLD/broken" ]; then cat "$TOLD/broken" >&2; exit 1; fi
if [ -e "$file" ]; then cat "$file"; exit 0; fi
echo 'Error from server (NotFound): the server could not find the requested resource' >&2
exit 1
"""


@pytest.fixture
def kubectl(api, monkeypatch, tmp_path) -> Path:
    """A folder that tells the stand-in for kubectl what to say; the API itself refuses."""
    program = tmp_path / "bin" / "kubectl"
    program.parent.mkdir()
    program.write_text(STAND_IN_KUBECTL)
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}{os.defpath}")
    monkeypatch.setenv("TOLD", str(tmp_path))
    (tmp_path / DEFINITION.replace("/", "_")).write_text(json.dumps(definition("v1")))
    (tmp_path / DAEMON_SETS.replace("/", "_")).write_text(
        json.dumps({"items": [daemon_set()], "metadata": {}})
    )
    clusters = [
        {"name": "c1", "cluster": {"server": "https://other"}},
        {"name": "c2", "cluster": {"server": api.endpoint}},
    ]
    contexts = [{"name": f"at-{name}", "context": {"cluster": name}} for name in ("c1", "c2")]
    (tmp_path / "config").write_text(json.dumps({"clusters": clusters, "contexts": contexts}))
    api.status = 403
    return tmp_path


class TestKubectl:
    def test_the_context_that_names_the_endpoint_asks(self, api, kubectl):
        all_ok(found(api), "v1 served", "kube-system/efa")
        lines = (kubectl / "asked").read_text().splitlines()
        assert lines[0] == f"--context at-c2 --request-timeout=15s get --raw {DEFINITION}"

    def test_the_api_is_asked_first(self, api, kubectl):
        api.status = 200
        all_ok(found(api))
        assert not (kubectl / "asked").exists()

    def test_no_other_cluster_is_asked(self, api, kubectl):
        (kubectl / "config").write_text(json.dumps({"clusters": None, "contexts": None}))
        assert found(api)[0].verdict == "cannot tell"
        assert not (kubectl / "asked").exists()

    def test_a_context_that_is_named_is_asked_alone(self, api, kubectl):
        all_ok(found(api, context="mine"))
        assert "--context mine" in (kubectl / "asked").read_text()
        assert api.asked == []

    def test_what_is_not_there(self, api, kubectl):
        (kubectl / DEFINITION.replace("/", "_")).unlink()
        only(found(api, context="mine"), "problem", "there is no resource definition")

    def test_what_kubectl_says_is_said(self, api, kubectl):
        (kubectl / "broken").write_text(
            "E1130 noise\nerror: You must be logged in to the server (Unauthorized)\n"
        )
        said = found(api)
        assert said[0].verdict == "cannot tell"
        assert "access entry" in said[0].text
        assert said[0].text.endswith(
            "kubectl: error: You must be logged in to the server (Unauthorized); 'aws eks update-kubeconfig "
            "--name training' makes a context with the AWS credentials"
        )

    def test_no_json(self, api, kubectl):
        (kubectl / DEFINITION.replace("/", "_")).write_text("hello")
        with pytest.raises(KubernetesUnreachableError, match="kubectl answers no JSON"):
            reads(api, context="mine").one(DEFINITION)

    def test_no_kubectl(self, api):
        with pytest.raises(
            KubernetesUnreachableError, match="kubectl is not on the PATH; install it, or leave"
        ):
            reads(api, context="mine").one(DEFINITION)

    def test_a_kubectl_that_does_not_run(self, api, kubectl):
        program = kubectl / "bin" / "kubectl"
        program.write_text("#!/no/such/interpreter\n")
        with pytest.raises(KubernetesUnreachableError, match=r"kubectl: .*No such file"):
            reads(api, context="mine").one(DEFINITION)
        assert found(api)[0].text.endswith("or say --kube-context")

    def test_no_list_of_daemon_sets(self, api, kubectl):
        (kubectl / DAEMON_SETS.replace("/", "_")).unlink()
        only(found(api, context="mine"), "problem", "no DaemonSet runs the image")


class TestKueue:
    GOVERNED = {
        **ON_EKS,
        "task_governance": {"teams": [{"team": "research", "instances": {"ml.p5.48xlarge": 2}}]},
    }
    KUEUE = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/clusterqueues.kueue.x-k8s.io"
    LIST = ("eks", "ListAddons")

    def asked(self, api, spec=None, changes=None):
        return asked(NAME, self.GOVERNED if spec is None else spec, changes, kubernetes=reads(api))

    def test_none_is_there(self, api):
        all_ok(
            self.asked(api), "Kueue: there is none, and amazon-sagemaker-hyperpod-taskgovernance brings it"
        )

    def test_one_of_ones_own(self, api):
        api.objects[self.KUEUE] = definition("v1beta1")
        said = (
            r"Kueue: there is one \(clusterqueues.kueue.x-k8s.io\).*; remove it .* "
            "task_governance.add_on to false"
        )
        only(self.asked(api), "problem", said)

    def test_that_of_the_add_on(self, api):
        api.objects[self.KUEUE] = definition("v1beta1")
        installed = {self.LIST: {"addons": ["amazon-sagemaker-hyperpod-taskgovernance"]}}
        assert "Kueue" not in [each.subject for each in self.asked(api, changes=installed)]

    def test_it_may_be_there_where_the_add_on_is_not_installed(self, api):
        api.objects[self.KUEUE] = definition("v1beta1")
        governance = {**self.GOVERNED["task_governance"], "add_on": False}
        all_ok(self.asked(api, {**self.GOVERNED, "task_governance": governance}))
        all_ok(self.asked(api, ON_EKS))

    def test_the_add_ons_are_unknown(self, api):
        refused = {self.LIST: denied("eks:ListAddons")}
        only(self.asked(api, changes=refused), "cannot tell", "Kueue: .* permit eks:ListAddons")

    def test_kubernetes_cannot_be_asked(self, api):
        api.status = 401
        assert [each.subject for each in self.asked(api) if each.verdict == "cannot tell"][-1] == "Kueue"


def test_an_eks_cluster_that_is_not_there_is_said_once(api):
    absent = {("eks", "DescribeCluster"): Refusal("ResourceNotFoundException", "No cluster found", 404)}
    said = asked(NAME, ON_EKS, absent, kubernetes=reads(api))
    assert [each.text for each in said] == ["training: there is no such EKS cluster"]


def test_slurm(api):
    only(asked(NAME, MADE), "not applicable", "Slurm schedules the jobs")
