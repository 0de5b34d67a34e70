"""The platform chart of training jobs, applied with the stack."""

from __future__ import annotations

import json
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from aws_cdk import App
from stacks import only, resources

from hyperpod_constructs import HyperPodStack
from hyperpod_constructs.platform_manifest import PlatformManifest
from hyperpod_model.cluster_spec import ClusterSpec, load_cluster

CLUSTERS = Path(__file__).parents[2] / "examples" / "clusters"
KIND = "Custom::AWSCDK-EKS-KubernetesResource"


def spec_of(example: str, *, pods: dict[str, Any], **changes: Any) -> ClusterSpec:
    """An example without its budget and its figures, whose check of jobs is applied, too."""
    said = load_cluster(CLUSTERS / example).spec.model_dump(exclude_unset=True)
    said |= {"budget": None, "metrics": None}
    said["training_pods"] = {**said["training_pods"], **pods}
    return ClusterSpec.model_validate({**said, **changes})


def template_of(spec: ClusterSpec) -> dict[str, Any]:
    stack = HyperPodStack(App(), "HyperPodStack", spec=spec)
    template: dict[str, Any] = App.of(stack).synth().get_stack_artifact(stack.artifact_id).template
    return template


@cache
def applied() -> dict[str, Any]:
    return template_of(spec_of("llm-train-eks.yaml", pods={"apply_platform_chart": True}))


def objects_of(template: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Objects by kind, with what exists only at deployment in angle brackets."""
    _, resource = only(template, KIND)
    said = resource["Properties"]["Manifest"]
    parts = said["Fn::Join"][1] if isinstance(said, dict) else [said]
    text = "".join(
        part if isinstance(part, str) else f"<{', '.join(map(str, part.values()))}>" for part in parts
    )
    return {found["kind"]: found for found in json.loads(text)}


def test_what_jobs_need_is_applied() -> None:
    assert list(objects_of(applied())) == [
        "Namespace",
        "ServiceAccount",
        "PersistentVolume",
        "PersistentVolumeClaim",
        "NetworkPolicy",
    ]


def test_namespace_and_service_account_are_those_that_the_role_trusts() -> None:
    made = objects_of(applied())
    assert made["ServiceAccount"]["metadata"] == {"name": "trainer", "namespace": "kubeflow"}
    assert made["PersistentVolumeClaim"]["metadata"] == {"name": "fsx", "namespace": "kubeflow"}


def test_the_volume_is_the_file_system_of_the_stack() -> None:
    file_system, _ = only(applied(), "AWS::FSx::FileSystem")
    csi = objects_of(applied())["PersistentVolume"]["spec"]["csi"]
    assert csi["volumeHandle"] == f"<{file_system}>"
    assert csi["volumeAttributes"]["dnsname"].startswith(f"<{file_system}>.fsx.")
    assert csi["volumeAttributes"]["mountname"] == f"<['{file_system}', 'LustreMountName']>"


def test_nothing_that_is_there_is_ever_deleted() -> None:
    """Pruning a renamed namespace would delete every job in it."""
    _, resource = only(applied(), KIND)
    assert resource["DeletionPolicy"] == resource["UpdateReplacePolicy"] == "Retain"
    assert resource["Properties"]["Overwrite"] is True
    assert "PruneLabel" not in resource["Properties"]


def test_it_comes_after_the_dependency_chart_and_holds_up_no_node() -> None:
    template = applied()
    name, resource = only(template, KIND)
    chart, _ = only(template, "Custom::AWSCDK-EKS-HelmChart")
    assert chart in resource["DependsOn"]
    _, cluster = only(template, "AWS::SageMaker::Cluster")
    assert name not in json.dumps(cluster)


def test_policies_are_enforced() -> None:
    """Without the option of the VPC CNI they are objects that nobody reads."""
    assert cni_configuration(applied())["enableNetworkPolicy"] == "true"


def cni_configuration(template: dict[str, Any]) -> dict[str, Any]:
    (cni,) = (
        found["Properties"]
        for found in resources(template, "AWS::EKS::Addon").values()
        if found["Properties"]["AddonName"] == "vpc-cni"
    )
    return dict(json.loads(cni["ConfigurationValues"]))


def test_without_the_option_nothing_is_applied_and_no_policy_enforced() -> None:
    template = template_of(spec_of("llm-train-eks.yaml", pods={}))
    assert resources(template, KIND) == {}
    assert "enableNetworkPolicy" not in cni_configuration(template)


def test_the_other_resources_are_the_same() -> None:
    without = template_of(spec_of("llm-train-eks.yaml", pods={}))["Resources"]
    added = {name for name in applied()["Resources"] if name not in without}
    assert [applied()["Resources"][name]["Type"] for name in added] == [KIND]
    changed = {name for name in without if without[name] != applied()["Resources"][name]}
    assert {without[name]["Type"] for name in changed} == {"AWS::EKS::Addon"}


def test_a_role_of_service_account_tokens_is_an_annotation() -> None:
    pods = {"apply_platform_chart": True, "identity": "irsa"}
    made = objects_of(template_of(spec_of("llm-train-eks.yaml", pods=pods)))
    annotations = made["ServiceAccount"]["metadata"]["annotations"]
    assert annotations["eks.amazonaws.com/role-arn"].startswith("<['TrainingPodRole")


@pytest.mark.parametrize(
    ("namespace", "tiers", "level"),
    [
        ("hyperpod-training", None, "baseline"),
        ("hyperpod-training", {"enabled": False}, "baseline"),
        ("hyperpod-training", {"memory_percentage": 20, "s3_interval_steps": 500}, "privileged"),
        ("kubeflow", None, "privileged"),
    ],
)
def test_a_namespace_is_as_strict_as_its_jobs_allow(
    namespace: str, tiers: dict[str, Any] | None, level: str
) -> None:
    pods = {"apply_platform_chart": True, "namespace": namespace}
    spec = spec_of("llm-train-eks.yaml", pods=pods, tiered_checkpointing=tiers)
    labels = objects_of(template_of(spec))["Namespace"]["metadata"]["labels"]
    assert labels["pod-security.kubernetes.io/enforce"] == level


def test_without_a_file_system_there_is_no_claim() -> None:
    spec = spec_of("llm-train-eks.yaml", pods={"apply_platform_chart": True}, file_system=None)
    assert list(objects_of(template_of(spec))) == ["Namespace", "ServiceAccount", "NetworkPolicy"]


def test_a_file_system_needs_its_size() -> None:
    stack = HyperPodStack(App(), "HyperPodStack", spec=spec_of("llm-train-eks.yaml", pods={}))
    assert stack.control_plane is not None
    assert stack.training_pod_role is not None
    with pytest.raises(ValueError, match="storage_capacity_gib is missing"):
        PlatformManifest(
            stack,
            "Platform",
            control_plane=stack.control_plane,
            role=stack.training_pod_role,
            file_system=stack.file_system,
        )


@pytest.mark.parametrize(
    ("example", "pods", "message"),
    [
        (
            "llm-train-eks.yaml",
            {"namespace": "hyperpod-ns-research"},
            "training_pods.apply_platform_chart: goes not with namespace 'hyperpod-ns-research'",
        ),
        (
            "llm-train-eks-existing.yaml",
            {},
            "training_pods.apply_platform_chart: is for the EKS cluster that the stack makes",
        ),
    ],
)
def test_where_it_would_do_harm_it_is_refused(example: str, pods: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        spec_of(example, pods={"apply_platform_chart": True, **pods})


def test_where_nothing_is_applied_any_namespace_will_do() -> None:
    spec_of("llm-train-eks.yaml", pods={"namespace": "hyperpod-ns-research"})
    spec_of("llm-train-eks-existing.yaml", pods={"apply_platform_chart": False})


def test_stacks_without_it_do_not_pay_for_cdk8s() -> None:
    code = (
        "import sys; from aws_cdk import App; from hyperpod_constructs import HyperPodStack; "
        "from hyperpod_model.cluster_spec import load_cluster; "
        f"spec = load_cluster({str(CLUSTERS / 'llm-train-eks.yaml')!r}).spec.model_copy("
        "update={'budget': None, 'metrics': None}); "
        "HyperPodStack(App(), 'HyperPodStack', spec=spec); print('cdk8s' in sys.modules)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "False"
