"""The order in which the stack of a cluster on EKS is made: each dependency that matters, forgotten."""

from __future__ import annotations

from pathlib import Path

import pytest
from assemblies import assembly_of, spec_of
from forgotten import NOT_NOTICED, NOTICED
from order_cases import (
    Forgotten,
    Template,
    expect_noticed,
    expect_unforgotten,
    template_in,
    unexplained,
)
from published import bootstrap, publish

from aws_double.running import Running

OF_EKS = (
    Forgotten(
        "chart that HyperPod needs",
        "ControlPlaneDependencyChart",
        r"Cluster\w+: .*has no Helm release hyperpod-dependencies in kube-system",
    ),
    Forgotten(
        "access of the function that installs charts",
        "ControlPlaneKubectlAccess",
        r"ControlPlaneDependencyChart\w+: .*Unauthorized: .* has no access entry",
    ),
    Forgotten(
        "way of that function to the Kubernetes API",
        "ControlPlaneKubectlToControlPlane",
        r"ControlPlaneDependencyChart\w+: .*Kubernetes cluster unreachable",
    ),
    Forgotten(
        "way of the nodes to the Kubernetes API",
        "ControlPlaneRulesNodeSecurityGroupToControlPlane",
        r"Cluster\w+: .*does not reach the Kubernetes API",
    ),
)
NOT_NOTICED_ON_EKS = {
    **NOT_NOTICED,
    "Cluster": "add-ons of the double wait for no pods, so none needs nodes",
    "FileSystemSecurityGroupLustreRules": "pods mount the file system, not the service; there are no pods",
    "ControlPlaneKubectl.*ServiceRoleDefaultPolicy": "the CDK's function does not run; its role and its "
    "network count, its permissions do not",
    "ControlPlaneSecretsKeyPolicy": "EKS of the double asks nobody's permission to use the key",
    "ControlPlaneKubectlReadyBarrier": "a parameter that says that the API answers",
    "ControlPlaneOperatorsAddOns.*Association": "pods of add-ons need their roles, and there are no pods",
    "ControlPlaneRulesNodeSecurityGroupToNodes": "what the control plane asks of pods: webhooks, logs, names",
    "NetworkControlPlane": "the control plane of the double needs no routes",
}


@pytest.fixture(scope="module")
def template(double: Running, folder: Path) -> Template:
    assembly = assembly_of(spec_of("llm-train-eks.yaml"), folder / "assembly")
    bootstrap(double.session())
    publish(double.session(), assembly)
    return template_in(assembly)


def test_with_every_dependency(double: Running, template: Template) -> None:
    expect_unforgotten(double.session(), template)


@pytest.mark.parametrize("case", [*NOTICED, *OF_EKS], ids=str)
def test_forgotten_dependency(double: Running, template: Template, case: Forgotten) -> None:
    expect_noticed(double.session(), template, case)


def test_no_dependency_is_left_out(template: Template) -> None:
    """Each that the worst order would break is tried above, or it is said why the double does not notice."""
    assert unexplained(template, [*NOTICED, *OF_EKS], NOT_NOTICED_ON_EKS) == set()
    (upload,) = unexplained(template, [*NOTICED, *OF_EKS][1:], NOT_NOTICED_ON_EKS)
    assert upload.startswith("LifecycleScriptsUpload")
