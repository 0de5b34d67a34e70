"""A new EKS cluster: its resource, its rules, its add-ons and their order."""

from __future__ import annotations

import json
from typing import Any

import pytest
from aws_cdk import App, Aws, CfnParameter, CfnResource, Environment, Fn, Stack, Stage
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_lambda as lambda_
from aws_cdk.assertions import Annotations, Match
from stacks import Template, lint, only, resources, template_of

from hyperpod_constructs.cluster_network import ClusterNetwork
from hyperpod_constructs.dependency_chart import DependencyChart
from hyperpod_constructs.efa_security_group import EfaSecurityGroup
from hyperpod_constructs.eks_control_plane import EksControlPlane
from hyperpod_constructs.eks_operators import EksOperators
from hyperpod_model.catalog.add_ons import ADD_ONS, AFTER_NODES, BEFORE_NODES
from hyperpod_model.catalog.ports import EKS_CONTROL_PLANE, TIERED_CHECKPOINTING
from hyperpod_model.faults import InvalidInputError

OCI = DependencyChart.from_oci("oci://registry.example/hyperpod-dependencies", version="0.1.0")
ADMINISTRATOR = "arn:aws:iam::111122223333:role/platform"


def _network(stack: Stack, **options: Any) -> ClusterNetwork:
    return ClusterNetwork(
        stack,
        "Network",
        availability_zone_id="usw2-az1",
        control_plane_availability_zone_ids=["usw2-az1", "usw2-az2"],
        **options,
    )


def _layer(stack: Stack) -> lambda_.ILayerVersion:
    return lambda_.LayerVersion.from_layer_version_arn(
        stack, "Layer", "arn:aws:lambda:us-west-2:111122223333:layer:kubectl:1"
    )


_MAKE = object()


def _control_plane(stack: Stack, network: Any = _MAKE, **options: Any) -> EksControlPlane:
    given = {
        "network": _network(stack) if network is _MAKE else network,
        "dependency_chart": OCI,
        "administrators": [iam.Role.from_role_arn(stack, "Platform", ADMINISTRATOR)],
        "kubectl_layer": _layer(stack),
        **options,
    }
    return EksControlPlane(stack, "Eks", **given)


def _stand_in(scope: Stack, id: str = "HyperPod") -> CfnResource:
    """Stands in for a HyperPod cluster where only its place in the order counts."""
    return CfnResource(scope, id, type="AWS::CloudFormation::WaitConditionHandle")


def _whole(stack: Stack) -> EksControlPlane:
    """All that a HyperPod cluster has around it, with a resource in the cluster's place."""
    network = _network(stack)
    nodes = EfaSecurityGroup(stack, "Nodes", vpc=network.vpc)
    made = _control_plane(stack, network)
    made.allow_nodes(nodes)
    cluster = _stand_in(stack)
    cluster.node.add_dependency(made.dependencies_ready)
    made.install_operators(after=cluster)
    return made


def _stack(**options: Any) -> Stack:
    return Stack(App(), "Training", **options)


@pytest.fixture(scope="module")
def template() -> Template:
    stack = _stack()
    _whole(stack)
    return template_of(stack)


def _add_on(template: Template, name: str) -> tuple[str, Any]:
    for logical_id, resource in resources(template, "AWS::EKS::Addon").items():
        if resource["Properties"]["AddonName"] == name:
            return logical_id, resource
    raise AssertionError(name)


def _reached(template: Template, logical_id: str) -> set[str]:
    """Everything that CloudFormation creates before a resource."""
    seen: set[str] = set()
    todo = [logical_id]
    while todo:
        resource = template["Resources"][todo.pop()]
        text = json.dumps(resource)
        depends = resource.get("DependsOn", [])
        found = set([depends] if isinstance(depends, str) else depends)
        found |= {
            other
            for other in template["Resources"]
            if f'{{"Ref": "{other}"}}' in text or f'{{"Fn::GetAtt": ["{other}", ' in text
        }
        todo += sorted(found - seen)
        seen |= found
    return seen


def test_the_cluster_authenticates_through_the_api_and_its_creator_gets_nothing(template: Template) -> None:
    _, cluster = only(template, "AWS::EKS::Cluster")
    assert cluster["Properties"]["AccessConfig"] == {
        "AuthenticationMode": "API",
        "BootstrapClusterCreatorAdminPermissions": False,
    }


def test_the_endpoint_is_private_and_every_log_is_on(template: Template) -> None:
    _, cluster = only(template, "AWS::EKS::Cluster")
    network = cluster["Properties"]["ResourcesVpcConfig"]
    assert (network["EndpointPrivateAccess"], network["EndpointPublicAccess"]) == (True, False)
    assert "PublicAccessCidrs" not in network
    assert [row["Type"] for row in cluster["Properties"]["Logging"]["ClusterLogging"]["EnabledTypes"]] == [
        "api",
        "audit",
        "authenticator",
        "controllerManager",
        "scheduler",
    ]


def test_the_version_is_the_newest_that_every_source_names(template: Template) -> None:
    _, cluster = only(template, "AWS::EKS::Cluster")
    assert cluster["Properties"]["Version"] == "1.33"


def test_secrets_are_encrypted_with_a_rotating_key_that_the_control_plane_may_use(template: Template) -> None:
    _, cluster = only(template, "AWS::EKS::Cluster")
    (encryption,) = cluster["Properties"]["EncryptionConfig"]
    assert encryption["Resources"] == ["secrets"]
    (key_id, attribute) = encryption["Provider"]["KeyArn"]["Fn::GetAtt"]
    key = template["Resources"][key_id]
    assert attribute == "Arn"
    assert key["Properties"]["EnableKeyRotation"] is True
    assert key["DeletionPolicy"] == "Retain"
    role_id = cluster["Properties"]["RoleArn"]["Fn::GetAtt"][0]
    (policy,) = [
        (logical_id, found["Properties"])
        for logical_id, found in resources(template, "AWS::IAM::ManagedPolicy").items()
        if {"Ref": role_id} in found["Properties"].get("Roles", ())
    ]
    (statement,) = policy[1]["PolicyDocument"]["Statement"]
    assert statement["Resource"] == {"Fn::GetAtt": [key_id, "Arn"]}
    assert statement["Action"] == ["kms:Decrypt", "kms:DescribeKey", "kms:Encrypt", "kms:ListGrants"]
    assert policy[0] in cluster["DependsOn"]


def test_there_is_no_node_group_and_no_automatic_node(template: Template) -> None:
    _, cluster = only(template, "AWS::EKS::Cluster")
    assert cluster["Properties"]["ComputeConfig"] == {"Enabled": False}
    kinds = {resource["Type"] for resource in template["Resources"].values()}
    assert not kinds & {
        "AWS::EKS::Nodegroup",
        "AWS::EKS::FargateProfile",
        "AWS::AutoScaling::AutoScalingGroup",
    }


def test_subnets_are_the_control_planes_own_in_two_zones(template: Template) -> None:
    _, cluster = only(template, "AWS::EKS::Cluster")
    subnets = [entry["Ref"] for entry in cluster["Properties"]["ResourcesVpcConfig"]["SubnetIds"]]
    zones = [template["Resources"][subnet]["Properties"]["AvailabilityZoneId"] for subnet in subnets]
    assert zones == ["usw2-az1", "usw2-az2"]


def test_the_cluster_waits_for_routes_and_endpoints(template: Template) -> None:
    _, cluster = only(template, "AWS::EKS::Cluster")
    kinds = {template["Resources"][other]["Type"] for other in cluster["DependsOn"]}
    assert {"AWS::EC2::Route", "AWS::EC2::NatGateway", "AWS::EC2::VPCEndpoint"} <= kinds


def test_in_an_isolated_network_the_cluster_waits_for_every_endpoint_and_pods_keep_their_node() -> None:
    stack = _stack()
    _control_plane(stack, _network(stack, isolated=True))
    template = template_of(stack)
    logical_id, _ = only(template, "AWS::EKS::Cluster")
    assert set(resources(template, "AWS::EC2::VPCEndpoint")) <= _reached(template, logical_id)
    assert "ConfigurationValues" not in _add_on(template, "vpc-cni")[1]["Properties"]


def test_only_administrators_and_the_installer_have_access(template: Template) -> None:
    entries = [entry["Properties"] for entry in resources(template, "AWS::EKS::AccessEntry").values()]
    (handler_role,) = [
        function["Properties"]["Role"]
        for function in resources(template, "AWS::Lambda::Function").values()
        if "onEvent handler for EKS kubectl" in function["Properties"].get("Description", "")
    ]
    assert [entry["PrincipalArn"] for entry in entries] == [ADMINISTRATOR, handler_role]
    for entry in entries:
        (policy,) = entry["AccessPolicies"]
        assert json.dumps(policy["PolicyArn"]).endswith(
            '":eks::aws:cluster-access-policy/AmazonEKSClusterAdminPolicy"]]}'
        )
        assert policy["AccessScope"] == {"Type": "cluster"}
        assert "KubernetesGroups" not in entry


def _opened(template: Template, source: str, target: str) -> dict[str, set[tuple[str, int, int]]]:
    opened: dict[str, set[tuple[str, int, int]]] = {"Ingress": set(), "Egress": set()}
    for direction, at, peer in (
        ("Ingress", target, "SourceSecurityGroupId"),
        ("Egress", source, "DestinationSecurityGroupId"),
    ):
        other = source if direction == "Ingress" else target
        for rule in resources(template, f"AWS::EC2::SecurityGroup{direction}").values():
            said = rule["Properties"]
            if said["GroupId"] == {"Fn::GetAtt": [at, "GroupId"]} and said.get(peer) == {
                "Fn::GetAtt": [other, "GroupId"]
            }:
                opened[direction].add((said["IpProtocol"], said["FromPort"], said["ToPort"]))
    return opened


def _group_ids(template: Template) -> tuple[str, str]:
    groups = resources(template, "AWS::EC2::SecurityGroup")
    (nodes,) = [i for i, group in groups.items() if "EFA" in group["Properties"]["GroupDescription"]]
    (plane,) = [
        i for i, group in groups.items() if "control plane" in group["Properties"]["GroupDescription"]
    ]
    return nodes, plane


def test_nodes_reach_the_api_alone_and_the_control_plane_what_is_documented_and_webhooks(
    template: Template,
) -> None:
    nodes, plane = _group_ids(template)
    api = {("tcp", 443, 443)}
    assert _opened(template, nodes, plane) == {"Ingress": api, "Egress": api}
    wanted = {tuple(ports) for ports in EKS_CONTROL_PLANE} | {("tcp", 9443, 9443)}
    assert ("tcp", 10250, 10250) in wanted
    assert _opened(template, plane, nodes) == {"Ingress": wanted, "Egress": wanted}


def test_the_control_plane_group_has_no_other_way_in_or_out(template: Template) -> None:
    _, plane = _group_ids(template)
    here = {"Fn::GetAtt": [plane, "GroupId"]}
    sources = {
        json.dumps(rule["Properties"]["SourceSecurityGroupId"])
        for rule in resources(template, "AWS::EC2::SecurityGroupIngress").values()
        if rule["Properties"]["GroupId"] == here
    }
    assert len(sources) == 2, "nodes and the installer"
    group = template["Resources"][plane]["Properties"]
    assert [rule["CidrIp"] for rule in group["SecurityGroupEgress"]] == ["255.255.255.255/32"]
    assert "SecurityGroupIngress" not in group


def test_rules_leave_the_checkpoint_ports_closed(template: Template) -> None:
    nodes, plane = _group_ids(template)
    for protocol, first, last in _opened(template, plane, nodes)["Ingress"]:
        assert not any(closed.overlaps(protocol, first, last) for closed in TIERED_CHECKPOINTING)


def test_letting_the_control_plane_in_at_all_ports_is_still_refused() -> None:
    stack = _stack()
    network = _network(stack)
    nodes = EfaSecurityGroup(stack, "Nodes", vpc=network.vpc)
    made = _control_plane(stack, network)
    assert made.cluster_security_group is not None
    with pytest.raises(RuntimeError, match="must keep tcp 9200 and udp 9209-9240"):
        nodes.connections.allow_from(made.cluster_security_group, ec2.Port.all_tcp())


def test_asking_twice_for_the_same_nodes_makes_the_rules_once() -> None:
    stack = _stack()
    network = _network(stack)
    nodes = EfaSecurityGroup(stack, "Nodes", vpc=network.vpc)
    made = _control_plane(stack, network)
    assert made.allow_nodes(nodes) is made.allow_nodes(nodes)


@pytest.mark.parametrize("name", BEFORE_NODES)
def test_add_ons_that_nodes_need_come_before_the_cluster(template: Template, name: str) -> None:
    logical_id, _ = _add_on(template, name)
    assert logical_id in _reached(template, "HyperPod")


@pytest.mark.parametrize("name", AFTER_NODES)
def test_add_ons_that_need_nodes_come_after_the_cluster(template: Template, name: str) -> None:
    logical_id, _ = _add_on(template, name)
    assert logical_id not in _reached(template, "HyperPod")
    assert "HyperPod" in _reached(template, logical_id)


@pytest.mark.parametrize("name", list(ADD_ONS))
def test_add_ons_come_after_what_they_require_and_overwrite_what_eks_put_there(
    template: Template, name: str
) -> None:
    logical_id, resource = _add_on(template, name)
    for required in ADD_ONS[name].requires:
        assert _add_on(template, required)[0] in _reached(template, logical_id)
    assert resource["Properties"]["ResolveConflicts"] == "OVERWRITE"
    assert "AddonVersion" not in resource["Properties"]


def test_the_chart_comes_before_the_cluster_and_after_access_and_network(template: Template) -> None:
    logical_id, chart = only(template, "Custom::AWSCDK-EKS-HelmChart")
    said = chart["Properties"]
    assert (said["Release"], said["Namespace"]) == ("hyperpod-dependencies", "kube-system")
    assert (said["Repository"], said["Version"]) == ("oci://registry.example/hyperpod-dependencies", "0.1.0")
    assert "Wait" not in said
    assert logical_id in _reached(template, "HyperPod")
    before = _reached(template, logical_id)
    assert set(resources(template, "AWS::EKS::AccessEntry")) & before
    assert {_add_on(template, name)[0] for name in BEFORE_NODES} <= before


def test_rules_come_before_the_cluster(template: Template) -> None:
    reached = _reached(template, "HyperPod")
    nodes, plane = _group_ids(template)
    between = [
        logical_id
        for logical_id, rule in resources(template, "AWS::EC2::SecurityGroupIngress").items()
        if plane in json.dumps(rule) and nodes in json.dumps(rule)
    ]
    assert between
    assert set(between) <= reached


def test_pods_of_a_network_with_a_nat_gateway_keep_their_addresses(template: Template) -> None:
    said = _add_on(template, "vpc-cni")[1]["Properties"]
    assert json.loads(said["ConfigurationValues"]) == {"env": {"AWS_VPC_K8S_CNI_EXTERNALSNAT": "true"}}


def test_the_training_operator_gets_its_role_from_an_association_of_its_own(template: Template) -> None:
    logical_id, operator = _add_on(template, "amazon-sagemaker-hyperpod-training-operator")
    assert "PodIdentityAssociations" not in operator["Properties"]
    assert "ServiceAccountRoleArn" not in operator["Properties"]
    ((association_id, association),) = [
        (found_id, found)
        for found_id, found in resources(template, "AWS::EKS::PodIdentityAssociation").items()
        if found["Properties"]["Namespace"] == "aws-hyperpod"
    ]
    assert association["Properties"]["ServiceAccount"] == "hp-training-operator-controller-manager"
    assert association_id in _reached(template, logical_id)
    role = template["Resources"][association["Properties"]["RoleArn"]["Fn::GetAtt"][0]]["Properties"]
    assert "AmazonSageMakerHyperPodTrainingOperatorAccess" in json.dumps(role["ManagedPolicyArns"])
    (trust,) = role["AssumeRolePolicyDocument"]["Statement"]
    assert trust["Principal"] == {"Service": "pods.eks.amazonaws.com"}
    assert trust["Action"] == ["sts:AssumeRole", "sts:TagSession"]
    cluster_id, _ = only(template, "AWS::EKS::Cluster")
    assert trust["Condition"] == {
        "StringEquals": {
            "aws:RequestTag/eks-cluster-arn": {"Fn::GetAtt": [cluster_id, "Arn"]},
            "aws:RequestTag/kubernetes-namespace": "aws-hyperpod",
            "aws:RequestTag/kubernetes-service-account": "hp-training-operator-controller-manager",
        }
    }


def test_the_file_system_driver_may_look_file_systems_up_and_no_more(template: Template) -> None:
    (association,) = [
        found["Properties"]
        for found in resources(template, "AWS::EKS::PodIdentityAssociation").values()
        if found["Properties"]["Namespace"] == "kube-system"
    ]
    assert association["ServiceAccount"] == "fsx-csi-controller-sa"
    role_id = association["RoleArn"]["Fn::GetAtt"][0]
    assert "ManagedPolicyArns" not in template["Resources"][role_id]["Properties"]
    (policy,) = [
        found["Properties"]["PolicyDocument"]
        for found in resources(template, "AWS::IAM::ManagedPolicy").values()
        if {"Ref": role_id} in found["Properties"].get("Roles", ())
    ]
    assert policy["Statement"] == [
        {"Effect": "Allow", "Action": ["fsx:DescribeFileSystems"], "Resource": "*"}
    ]


def test_the_installer_runs_in_the_nodes_subnet_with_https_alone(template: Template) -> None:
    (handler,) = [
        function["Properties"]
        for function in resources(template, "AWS::Lambda::Function").values()
        if "onEvent handler for EKS kubectl" in function["Properties"].get("Description", "")
    ]
    (subnet,) = handler["VpcConfig"]["SubnetIds"]
    assert "Accelerator" in subnet["Ref"]
    (group_id,) = handler["VpcConfig"]["SecurityGroupIds"]
    group = template["Resources"][group_id["Fn::GetAtt"][0]]["Properties"]
    assert [(rule["IpProtocol"], rule["FromPort"]) for rule in group["SecurityGroupEgress"]] == [("tcp", 443)]


def test_the_template_passes_the_schemas(template: Template) -> None:
    # The CDK repeats dependencies (W3005) in the function that runs kubectl.
    assert [found for found in lint(template) if not found.startswith("W3005")] == []


def test_the_same_with_no_feature_flags_and_with_all(recommended_feature_flags: dict[str, Any]) -> None:
    made = []
    for context in ({}, recommended_feature_flags):
        stack = Stack(App(context=context), "Training")
        _whole(stack)
        made.append(template_of(stack))
    assert made[0] == made[1]


def test_the_same_in_a_stage_with_an_environment() -> None:
    stage = Stage(App(), "Prod", env=Environment(account="111122223333", region="us-west-2"))
    stack = Stack(stage, "Training")
    _whole(stack)
    template = stage.synth().get_stack_artifact(stack.artifact_id).template
    assert only(template, "AWS::EKS::Cluster")[1]["Properties"]["Version"] == "1.33"
    # Literal partitions would tie the template to one of them.
    own = json.dumps({i: r for i, r in template["Resources"].items() if r["Type"] == "AWS::EKS::AccessEntry"})
    assert '"arn:aws:eks' not in own


def _given_vpc(stack: Stack) -> ec2.Vpc:
    return ec2.Vpc(
        stack,
        "Vpc",
        nat_gateways=1,
        availability_zones=["us-west-2a", "us-west-2b"],
    )


def test_another_teams_vpc_does_without_any_other_construct_of_ours() -> None:
    stack = _stack(env=Environment(region="us-west-2", account="111122223333"))
    vpc = _given_vpc(stack)
    EksControlPlane(
        stack,
        "Eks",
        vpc=vpc,
        control_plane_subnets=vpc.private_subnets,
        dependency_chart=OCI,
        kubectl_layer=_layer(stack),
    )
    template = template_of(stack)
    logical_id, cluster = only(template, "AWS::EKS::Cluster")
    assert len(cluster["Properties"]["ResourcesVpcConfig"]["SubnetIds"]) == 2
    assert set(resources(template, "AWS::EC2::Route")) <= _reached(template, logical_id)


def test_the_layer_of_kubectl_is_that_of_the_version() -> None:
    stack = _stack()
    _control_plane(stack, kubectl_layer=None)
    descriptions = [
        layer["Properties"].get("Description", "")
        for layer in resources(template_of(stack), "AWS::Lambda::LayerVersion").values()
    ]
    assert any("kubectl 1.33" in description for description in descriptions)


def test_a_missing_layer_is_named_with_the_way_to_get_it() -> None:
    message = (
        r"kubectl_layer: is missing for kubernetes_version '1\.30'; run pip install "
        r"aws-cdk\.lambda-layer-kubectl-v30"
    )
    with pytest.raises(InvalidInputError, match=message):
        _control_plane(_stack(), kubectl_layer=None, kubernetes_version="1.30")


def test_versions_reach_the_add_ons() -> None:
    stack = _stack()
    made = _control_plane(
        stack, add_on_versions={"vpc-cni": "v1.20.4-eksbuild.1", "coredns": "v1.11.4-eksbuild.2"}
    )
    made.install_operators(after=_stand_in(stack))
    template = template_of(stack)
    assert _add_on(template, "vpc-cni")[1]["Properties"]["AddonVersion"] == "v1.20.4-eksbuild.1"
    assert _add_on(template, "coredns")[1]["Properties"]["AddonVersion"] == "v1.11.4-eksbuild.2"


def test_external_snat_can_be_chosen() -> None:
    stack = _stack()
    _control_plane(stack, external_snat=False)
    assert "ConfigurationValues" not in _add_on(template_of(stack), "vpc-cni")[1]["Properties"]


def test_public_access_is_for_named_ranges() -> None:
    stack = _stack()
    _control_plane(stack, public_access_cidrs=["203.0.113.0/24"])
    said = only(template_of(stack), "AWS::EKS::Cluster")[1]["Properties"]["ResourcesVpcConfig"]
    assert (said["EndpointPublicAccess"], said["EndpointPrivateAccess"]) == (True, True)
    assert said["PublicAccessCidrs"] == ["203.0.113.0/24"]
    assert _warnings(stack, "openEndpoint") == []


def test_a_given_key_encrypts_the_secrets() -> None:
    stack = _stack()
    key = kms.Key.from_key_arn(stack, "Key", "arn:aws:kms:us-west-2:111122223333:key/k")
    _control_plane(stack, secrets_key=key)
    template = template_of(stack)
    (encryption,) = only(template, "AWS::EKS::Cluster")[1]["Properties"]["EncryptionConfig"]
    assert encryption["Provider"]["KeyArn"] == "arn:aws:kms:us-west-2:111122223333:key/k"
    assert not any("SecretsKey" in logical_id for logical_id in resources(template, "AWS::KMS::Key"))


def test_operators_left_out_open_no_webhook_of_theirs_but_the_charts() -> None:
    stack = _stack()
    made = _control_plane(stack, operators=["coredns"])
    assert [tuple(port) for port in made.webhook_ports] == [("tcp", 9443, 9443)]
    made.install_operators(after=_stand_in(stack))
    names = {
        found["Properties"]["AddonName"]
        for found in resources(template_of(stack), "AWS::EKS::Addon").values()
    }
    assert names == {*BEFORE_NODES, "coredns"}


def test_operators_may_wait_for_several_clusters_in_another_stack() -> None:
    app = App()
    network_stack = Stack(app, "Platform")
    made = _control_plane(network_stack)
    jobs = Stack(app, "Jobs")
    clusters = [_stand_in(jobs, f"HyperPod{number}") for number in (1, 2)]
    operators = made.install_operators(after=clusters, scope=jobs)
    assert isinstance(operators, EksOperators)
    assert set(operators.roles) == {"aws-fsx-csi-driver", "amazon-sagemaker-hyperpod-training-operator"}
    template = app.synth().get_stack_artifact(jobs.artifact_id).template
    assert {"HyperPod1", "HyperPod2"} <= set(_add_on(template, "coredns")[1]["DependsOn"])


def test_the_issuer_has_no_scheme(template: Template) -> None:
    stack = _stack()
    made = _control_plane(stack)
    assert made.issuer is not None
    resolved = json.dumps(stack.resolve(made.issuer))
    assert "OpenIdConnectIssuerUrl" in resolved
    assert '"//"' in resolved


def _warnings(stack: Stack, name: str) -> list[str]:
    found = Annotations.from_stack(stack).find_warning("*", Match.string_like_regexp(f".*{name}.*"))
    return [entry.entry.data for entry in found]  # type: ignore[misc]


@pytest.mark.parametrize(
    ("options", "name"),
    [
        ({"administrators": ()}, "noAdministrators"),
        ({"public_access_cidrs": ["0.0.0.0/0"]}, "openEndpoint"),
        ({"public_access_cidrs": ["0.0.0.0/1", "192.0.0.0/2", "128.0.0.0/2"]}, "openEndpoint"),
        ({"dependency_chart": DependencyChart.installed()}, "chartElsewhere"),
        ({"kubernetes_version": "1.34"}, "kubernetesVersion"),
    ],
)
def test_what_is_legal_and_probably_not_meant_leaves_a_warning(options: dict[str, Any], name: str) -> None:
    stack = _stack()
    _control_plane(stack, **options)
    assert len(_warnings(stack, f"EksControlPlane.{name}")) == 1


@pytest.mark.parametrize(
    "name", ["noAdministrators", "openEndpoint", "chartElsewhere", "kubernetesVersion", "clusterMust"]
)
def test_the_usual_cluster_leaves_no_warning(name: str) -> None:
    stack = _stack()
    _whole(stack)
    assert _warnings(stack, name) == []


def test_without_a_chart_of_ours_nobody_else_gets_access() -> None:
    stack = _stack()
    _control_plane(stack, dependency_chart=DependencyChart.installed())
    template = template_of(stack)
    _, entry = only(template, "AWS::EKS::AccessEntry")
    assert entry["Properties"]["PrincipalArn"] == ADMINISTRATOR
    assert not any("Kubectl" in logical_id for logical_id in resources(template, "AWS::Lambda::Function"))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"dependency_chart": None},
            "EKS control plane 'Training/Eks': dependency_chart: is missing, and the creation of a HyperPod "
            "cluster can fail without the chart; pass DependencyChart.from_folder",
        ),
        ({"dependency_chart": "oci://x"}, "dependency_chart: must be a DependencyChart"),
        ({"kubernetes_version": "1.27"}, "kubernetes_version: must be a Kubernetes version that HyperPod"),
        ({"kubernetes_version": 1.33}, "got 1.33"),
        ({"administrators": [ADMINISTRATOR]}, "administrators[0]: must be a role, such as"),
        ({"public_access_cidrs": "10.0.0.0/8"}, "public_access_cidrs: must be a list"),
        ({"public_access_cidrs": ["203.0.113.7"]}, "public_access_cidrs[0]: must be an IPv4 range"),
        ({"public_access_cidrs": ["anywhere"]}, "public_access_cidrs[0]: must be an IPv4 range"),
        ({"secrets_key": "arn"}, "secrets_key: must be a KMS key"),
        ({"add_on_versions": {"vpc-cni": "v1.18.2"}}, "add_on_versions.vpc-cni: must be 1.18.3 or later"),
        ({"add_on_versions": {"cni": "v1"}}, "unknown add-on 'cni'"),
        ({"operators": "coredns"}, "operators: must be a list, got 'coredns'; put it in brackets"),
        ({"operators": ["vpc-cni"]}, "operators[0]: must be an add-on that comes after nodes, got 'vpc-cni'"),
        (
            {"operators": ["amazon-sagemaker-hyperpod-training-operator"]},
            "requires cert-manager; add it to the list",
        ),
        ({"kubectl_layer": "arn"}, "kubectl_layer: must be a Lambda layer"),
        ({"kubectl_subnets": ["subnet-1"]}, "kubectl_subnets[0]: must be a subnet"),
        (
            {"control_plane_subnets": []},
            "control_plane_subnets: must be subnets in at least two zones",
        ),
        ({"network": None}, "network: is missing; pass a ClusterNetwork, or vpc and control_plane_subnets"),
        ({"network": "vpc-1"}, "network: must be a ClusterNetwork"),
    ],
)
def test_what_cannot_work_is_refused_by_name(options: dict[str, Any], message: str) -> None:
    stack = _stack()
    network = _network(stack)
    with pytest.raises(InvalidInputError) as raised:
        _control_plane(stack, **{"network": network, **options})
    assert message in str(raised.value)


def test_all_that_is_wrong_is_said_together() -> None:
    stack = _stack()
    with pytest.raises(InvalidInputError) as raised:
        _control_plane(stack, dependency_chart=None, kubernetes_version="1.20", operators=["x"])
    assert len(raised.value.faults) == 3


def test_network_and_vpc_together_are_refused() -> None:
    stack = _stack()
    network = _network(stack)
    with pytest.raises(InvalidInputError, match="network: and vpc were both given; keep one"):
        _control_plane(stack, network, vpc=network.vpc)


def test_a_network_without_subnets_for_the_control_plane_is_refused_with_the_way_out() -> None:
    stack = _stack()
    network = ClusterNetwork(stack, "Network", availability_zone_id="usw2-az1")
    with pytest.raises(InvalidInputError, match="pass control_plane_availability_zone_ids to the network"):
        _control_plane(stack, network)


def test_subnets_of_one_zone_are_refused() -> None:
    stack = _stack()
    subnets = [
        ec2.Subnet.from_subnet_attributes(
            stack, f"Subnet{number}", subnet_id=f"subnet-{number}", availability_zone="us-west-2a"
        )
        for number in (1, 2)
    ]
    vpc = ec2.Vpc.from_vpc_attributes(
        stack, "Vpc", vpc_id="vpc-0123456789abcdef0", availability_zones=["us-west-2a"]
    )
    with pytest.raises(InvalidInputError, match="at least two zones, got all of them in us-west-2a"):
        _control_plane(stack, network=None, vpc=vpc, control_plane_subnets=subnets)


def test_subnets_whose_zone_is_not_known_pass() -> None:
    stack = _stack()
    subnets = [ec2.Subnet.from_subnet_id(stack, f"Subnet{number}", f"subnet-{number}") for number in (1, 2)]
    vpc = ec2.Vpc.from_vpc_attributes(
        stack, "Vpc", vpc_id="vpc-0123456789abcdef0", availability_zones=Fn.get_azs()
    )
    EksControlPlane(
        stack,
        "Eks",
        vpc=vpc,
        control_plane_subnets=subnets,
        dependency_chart=OCI,
        kubectl_layer=_layer(stack),
    )
    _, cluster = only(template_of(stack), "AWS::EKS::Cluster")
    assert cluster["Properties"]["ResourcesVpcConfig"]["SubnetIds"] == ["subnet-1", "subnet-2"]


def test_tokens_pass() -> None:
    stack = _stack()
    version = CfnParameter(stack, "Version").value_as_string
    cidr = CfnParameter(stack, "Cidr").value_as_string
    _control_plane(
        stack,
        kubernetes_version=version,
        public_access_cidrs=[cidr],
        add_on_versions={"vpc-cni": CfnParameter(stack, "Cni").value_as_string},
        cluster_name=Aws.STACK_NAME,
    )
    said = only(template_of(stack), "AWS::EKS::Cluster")[1]["Properties"]
    assert said["Version"] == {"Ref": "Version"}
    assert said["Name"] == {"Ref": "AWS::StackName"}
    assert said["ResourcesVpcConfig"]["PublicAccessCidrs"] == [{"Ref": "Cidr"}]


def test_operators_on_a_new_cluster_need_one_to_wait_for() -> None:
    made = _control_plane(_stack())
    with pytest.raises(InvalidInputError, match="after: must be the HyperPod cluster, got none; coredns, "):
        made.install_operators()


def test_operators_are_installed_once() -> None:
    stack = _stack()
    made = _control_plane(stack)
    cluster = _stand_in(stack)
    made.install_operators(after=cluster)
    with pytest.raises(InvalidInputError, match="was called before; call it once, with all clusters"):
        made.install_operators(after=cluster)


def test_nodes_must_be_a_security_group() -> None:
    made = _control_plane(_stack())
    with pytest.raises(InvalidInputError, match=r"nodes: must be a security group, such as .* got 'sg-1'"):
        made.allow_nodes("sg-1")  # type: ignore[arg-type]


def test_a_chart_of_the_users_can_be_added_too() -> None:
    stack = _stack()
    made = _control_plane(stack)
    made.cluster.add_helm_chart("Kueue", chart="oci://registry.example/kueue", version="1")
    assert len(resources(template_of(stack), "Custom::AWSCDK-EKS-HelmChart")) == 2
