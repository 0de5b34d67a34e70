"""An EKS cluster that somebody else made."""

from __future__ import annotations

import json
from typing import Any

import pytest
from aws_cdk import App, CfnParameter, CfnResource, Stack
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from aws_cdk.assertions import Annotations, Match
from stacks import Template, lint, only, resources, template_of

from hyperpod_constructs.dependency_chart import DependencyChart
from hyperpod_constructs.efa_security_group import EfaSecurityGroup
from hyperpod_constructs.eks_control_plane import EksControlPlane, EksControlPlaneBase
from hyperpod_model.faults import InvalidInputError

ARN = "arn:aws:eks:us-west-2:111122223333:cluster/training"
GROUP = "sg-0123456789abcdef0"
ISSUER = "oidc.eks.us-west-2.amazonaws.com/id/EXAMPLED539D4633E53DE1B71EXAMPLE"
OCI = DependencyChart.from_oci("oci://registry.example/chart", version="0.1.0")


def _stack() -> Stack:
    return Stack(App(), "Training")


def _vpc(stack: Stack) -> ec2.IVpc:
    return ec2.Vpc.from_vpc_attributes(
        stack, "Vpc", vpc_id="vpc-0123456789abcdef0", availability_zones=["us-west-2a"]
    )


def _group(stack: Stack) -> ec2.ISecurityGroup:
    return ec2.SecurityGroup.from_security_group_id(stack, "ClusterGroup", GROUP)


def _existing(stack: Stack, **options: Any) -> EksControlPlaneBase:
    given = {"cluster_arn": ARN, "dependency_chart": DependencyChart.installed(), **options}
    return EksControlPlane.from_existing(stack, "Eks", **given)


def _installing(stack: Stack, **options: Any) -> EksControlPlaneBase:
    return _existing(
        stack,
        dependency_chart=OCI,
        kubectl_role=iam.Role.from_role_arn(stack, "Kubectl", "arn:aws:iam::111122223333:role/kubectl"),
        kubectl_layer=lambda_.LayerVersion.from_layer_version_arn(
            stack, "Layer", "arn:aws:lambda:us-west-2:111122223333:layer:kubectl:1"
        ),
        **options,
    )


def _rules(template: Template, direction: str) -> list[dict[str, Any]]:
    found = resources(template, f"AWS::EC2::SecurityGroup{direction}").values()
    return [rule["Properties"] for rule in found]


def test_by_default_nothing_is_made() -> None:
    stack = _stack()
    made = _existing(stack, issuer=ISSUER)
    assert (made.cluster_arn, made.cluster_name, made.issuer) == (ARN, "training", ISSUER)
    assert made.cluster.cluster_name == "training"
    assert "Resources" not in template_of(stack)


def test_rules_go_on_the_given_group() -> None:
    stack = _stack()
    nodes = EfaSecurityGroup(stack, "Nodes", vpc=_vpc(stack), https_egress=False)
    _existing(stack, cluster_security_group=_group(stack)).allow_nodes(nodes)
    template = template_of(stack)
    here = {"Fn::GetAtt": [only(template, "AWS::EC2::SecurityGroup")[0], "GroupId"]}
    to_plane = [rule for rule in _rules(template, "Ingress") if rule["GroupId"] == GROUP]
    assert [(rule["SourceSecurityGroupId"], rule["FromPort"]) for rule in to_plane] == [(here, 443)]
    to_nodes = {
        (rule["IpProtocol"], rule["FromPort"])
        for rule in _rules(template, "Ingress")
        if rule["SourceSecurityGroupId"] == GROUP
    }
    assert to_nodes == {("tcp", 443), ("tcp", 10250), ("tcp", 53), ("udp", 53), ("tcp", 9443)}
    assert lint(template) == []


def test_without_the_group_no_rules_are_made_and_a_warning_says_so() -> None:
    stack = _stack()
    nodes = EfaSecurityGroup(stack, "Nodes", vpc=_vpc(stack))
    assert _existing(stack).allow_nodes(nodes) is None
    found = Annotations.from_stack(stack).find_warning(
        "*", Match.string_like_regexp(".*unknownSecurityGroup.*")
    )
    assert len(found) == 1
    assert len(_rules(template_of(stack), "Ingress")) == 1, "EFA among the nodes"


def test_webhooks_of_what_is_installed_are_open() -> None:
    made = _existing(_stack(), installed_add_ons=["cert-manager"])
    assert ("tcp", 10250, 10250) in [tuple(port) for port in made.webhook_ports]


def test_operators_need_no_cluster_to_wait_for_where_nodes_exist() -> None:
    stack = _stack()
    made = _existing(
        stack,
        installed_add_ons=["cert-manager"],
        operators=["amazon-sagemaker-hyperpod-training-operator"],
    )
    made.install_operators()
    template = template_of(stack)
    _, add_on = only(template, "AWS::EKS::Addon")
    assert add_on["Properties"]["ClusterName"] == "training"
    _, role = only(template, "AWS::IAM::Role")
    condition = role["Properties"]["AssumeRolePolicyDocument"]["Statement"][0]["Condition"]
    assert condition["StringEquals"]["aws:RequestTag/eks-cluster-arn"] == ARN
    assert lint(template) == []


def test_by_default_no_operators_are_installed() -> None:
    stack = _stack()
    _existing(stack).install_operators(
        after=CfnResource(stack, "HyperPod", type="AWS::CloudFormation::WaitConditionHandle")
    )
    assert resources(template_of(stack), "AWS::EKS::Addon") == {}


def test_the_chart_is_installed_with_the_given_role_and_no_access_entry_is_made() -> None:
    stack = _stack()
    _installing(
        stack,
        vpc=_vpc(stack),
        cluster_security_group=_group(stack),
        kubectl_subnets=[ec2.Subnet.from_subnet_id(stack, "Subnet", "subnet-0123456789abcdef0")],
    )
    template = template_of(stack)
    _, chart = only(template, "Custom::AWSCDK-EKS-HelmChart")
    assert chart["Properties"]["ClusterName"] == "training"
    assert resources(template, "AWS::EKS::AccessEntry") == {}
    (handler,) = [
        function["Properties"]
        for function in resources(template, "AWS::Lambda::Function").values()
        if "onEvent handler for EKS kubectl" in function["Properties"].get("Description", "")
    ]
    assert handler["Role"] == "arn:aws:iam::111122223333:role/kubectl"
    assert handler["VpcConfig"]["SubnetIds"] == ["subnet-0123456789abcdef0"]
    ((group_id,),) = [handler["VpcConfig"]["SecurityGroupIds"]]
    opened = [rule for rule in _rules(template, "Ingress") if rule["GroupId"] == GROUP]
    assert [(rule["SourceSecurityGroupId"], rule["FromPort"]) for rule in opened] == [(group_id, 443)]
    # Of the CDK's own function that runs kubectl: repeated dependencies, a condition for a role of its own.
    assert [found for found in lint(template) if found.split()[0] not in ("W3005", "W8001")] == []


def test_without_subnets_the_installer_stands_outside_the_vpc() -> None:
    stack = _stack()
    _installing(stack)
    for function in resources(template_of(stack), "AWS::Lambda::Function").values():
        assert "VpcConfig" not in function["Properties"]


def test_the_same_with_no_feature_flags_and_with_all(recommended_feature_flags: dict[str, Any]) -> None:
    made = []
    for context in ({}, recommended_feature_flags):
        stack = Stack(App(context=context), "Training")
        _installing(stack, operators=["coredns"], cluster_security_group=_group(stack)).install_operators()
        made.append(template_of(stack))
    assert made[0] == made[1]


def test_an_arn_that_is_known_at_deployment_only_passes() -> None:
    stack = _stack()
    arn = CfnParameter(stack, "EksArn").value_as_string
    _existing(stack, cluster_arn=arn, operators=["coredns"]).install_operators()
    _, add_on = only(template_of(stack), "AWS::EKS::Addon")
    assert add_on["Properties"]["ClusterName"] == {"Fn::Select": [1, {"Fn::Split": ["/", {"Ref": "EksArn"}]}]}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"cluster_arn": "training"}, "cluster_arn: must be the ARN of an EKS cluster such as 'arn:aws:eks:"),
        ({"cluster_arn": None}, "cluster_arn: must be the ARN of an EKS cluster"),
        ({"dependency_chart": None}, "DependencyChart.installed() where it is there already"),
        ({"dependency_chart": OCI}, "kubectl_role: is missing, and the dependency chart cannot be installed"),
        ({"issuer": f"https://{ISSUER}"}, f"issuer: must not have a scheme, got 'https://{ISSUER}'; use"),
        ({"issuer": "x"}, "issuer: must be an issuer such as"),
        ({"cluster_security_group": GROUP}, "cluster_security_group: must be a security group"),
        ({"kubectl_role": "arn"}, "kubectl_role: must be a role"),
        ({"vpc": "vpc-1"}, "vpc: must be a VPC"),
        ({"installed_add_ons": "coredns"}, "installed_add_ons: must be a list"),
        ({"installed_add_ons": ["x"]}, "installed_add_ons[0]: must be one of vpc-cni, kube-proxy"),
        ({"operators": ["x"]}, "operators[0]: must be an add-on that comes after nodes, got 'x'"),
        ({"kubernetes_version": "1.20"}, "kubernetes_version: must be a Kubernetes version that HyperPod"),
        ({"add_on_versions": {"coredns": "new"}}, "add_on_versions.coredns: must be a version"),
    ],
)
def test_what_cannot_work_is_refused_by_name(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInputError) as raised:
        _existing(_stack(), **options)
    assert message in str(raised.value)


def test_subnets_of_the_installer_need_the_network_they_are_in() -> None:
    stack = _stack()
    subnet = ec2.Subnet.from_subnet_id(stack, "Subnet", "subnet-0123456789abcdef0")
    with pytest.raises(InvalidInputError, match="kubectl_subnets: needs vpc and cluster_security_group"):
        _installing(stack, kubectl_subnets=[subnet])


def test_several_hyperpod_clusters_share_one_eks_cluster() -> None:
    stack = _stack()
    made = _existing(stack, cluster_security_group=_group(stack))
    vpc = _vpc(stack)
    rules = [made.allow_nodes(EfaSecurityGroup(stack, f"Nodes{number}", vpc=vpc)) for number in (1, 2)]
    assert rules[0] is not rules[1]
    sources = [json.dumps(rule["GroupId"]) for rule in _rules(template_of(stack), "Ingress")]
    assert len(set(sources)) == 3
