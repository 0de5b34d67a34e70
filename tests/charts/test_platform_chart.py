"""What a namespace needs before jobs come."""

from __future__ import annotations

from typing import Any

import pytest
from cdk8s import App
from charted import TOKEN

from hyperpod_charts import LustreFileSystemReference, PlatformChart
from hyperpod_model.faults import InvalidInputError

FILE_SYSTEM = LustreFileSystemReference(
    file_system_id="fs-0123456789abcdef0",
    dns_name="fs-0123456789abcdef0.fsx.us-west-2.amazonaws.com",
    mount_name="abcdefgh",
    storage_capacity_gib=4800,
)


def kinds(**options: Any) -> list[str]:
    made = PlatformChart(App(), "Platform", namespace="hyperpod-training", **options).to_json()
    return [found["kind"] for found in made]


def test_the_least_is_a_closed_namespace():
    assert kinds() == ["Namespace", "NetworkPolicy"]


def test_everything():
    """The namespace comes first: kubectl applies objects in their order."""
    made = kinds(service_account_name="trainer", file_system=FILE_SYSTEM)
    assert made[0] == "Namespace"
    assert sorted(made[1:]) == [
        "NetworkPolicy",
        "PersistentVolume",
        "PersistentVolumeClaim",
        "ServiceAccount",
    ]


def test_a_namespace_that_is_there_is_not_made():
    assert "Namespace" not in kinds(create_namespace=False, service_account_name="trainer")


def test_everything_is_in_the_namespace():
    chart = PlatformChart(
        App(),
        "Platform",
        namespace="hyperpod-training",
        service_account_name="trainer",
        role_arn="arn:aws:iam::111122223333:role/trainer",
        file_system=FILE_SYSTEM,
        claim_name="shared",
        pod_security="privileged",
    )
    made = {found["kind"]: found for found in chart.to_json()}
    for kind in ("NetworkPolicy", "PersistentVolumeClaim", "ServiceAccount"):
        assert made[kind]["metadata"]["namespace"] == "hyperpod-training"
    assert made["PersistentVolumeClaim"]["metadata"]["name"] == "shared"
    assert made["Namespace"]["metadata"]["labels"]["pod-security.kubernetes.io/enforce"] == "privileged"
    assert made["ServiceAccount"]["metadata"]["annotations"] == {
        "eks.amazonaws.com/role-arn": "arn:aws:iam::111122223333:role/trainer"
    }


def test_nobody_gets_in_to_training_pods_but_the_operator():
    """Policies add up: what is open here would be open for each job."""
    chart = PlatformChart(App(), "Platform", namespace="hyperpod-training")
    (policy,) = (found for found in chart.to_json() if found["kind"] == "NetworkPolicy")
    assert policy["spec"]["podSelector"] == {"matchLabels": {"app.kubernetes.io/component": "training"}}
    (rule,) = policy["spec"]["ingress"]
    assert rule["ports"] == [{"protocol": "TCP", "port": 8080}]
    assert policy["spec"]["policyTypes"] == ["Ingress"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"namespace": None}, "PlatformChart None: namespace: is required"),
        (
            {"namespace": "hyperpod-ns-research"},
            "namespace: is one that task governance makes itself, got .*; give create_namespace=False",
        ),
        ({"namespace": "kube-system"}, "namespace: is one that Kubernetes has itself, got 'kube-system'"),
        (
            {"role_arn": "arn:aws:iam::111122223333:role/trainer"},
            "role_arn: is that of a service account, which is not made; give service_account_name",
        ),
        (
            {"file_system": {"file_system_id": "fs-0123456789abcdef0"}},
            r"file_system: must be a LustreFileSystemReference, got \{.*write LustreFileSystemReference\(",
        ),
    ],
)
def test_what_is_wrong_is_refused(options: dict[str, Any], message: str):
    with pytest.raises(InvalidInputError, match=message):
        PlatformChart(App(), "Platform", **({"namespace": "hyperpod-training"} | options))


@pytest.mark.parametrize("namespace", ["hyperpod-ns-research", "kube-system"])
def test_a_namespace_of_others_gets_the_rest(namespace: str):
    chart = PlatformChart(App(), "Platform", namespace=namespace, create_namespace=False)
    assert [made["kind"] for made in chart.to_json()] == ["NetworkPolicy"]


@pytest.mark.parametrize("namespace", ["kubeflow", "hyperpod-training", "kubernetes-jobs", TOKEN])
def test_any_other_namespace_is_made(namespace: str):
    assert PlatformChart(App(), "Platform", namespace=namespace).made_namespace is not None
