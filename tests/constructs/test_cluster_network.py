from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from aws_cdk import Annotations as CoreAnnotations
from aws_cdk import (
    App,
    CfnParameter,
    CfnResource,
    Environment,
    NestedStack,
    RemovalPolicy,
    Stack,
    Stage,
    Tags,
)
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_fsx as fsx
from aws_cdk import aws_kms as kms
from aws_cdk import aws_logs as logs
from aws_cdk import aws_s3 as s3
from aws_cdk.assertions import Annotations, Match, Template
from constructs import Construct

from hyperpod_constructs.cluster_network import EXISTING_ACL_WARNING, ClusterNetwork
from hyperpod_model.catalog import ports
from hyperpod_model.faults import InvalidInputError

OREGON = Environment(account="123456789012", region="us-west-2")


def _stack(**options: Any) -> Stack:
    return Stack(App(), "Stack", **options)


def _network(scope: Construct, **options: Any) -> ClusterNetwork:
    return ClusterNetwork(scope, "Network", **{"availability_zone_id": "usw2-az2", **options})


def _id_of(stack: Stack, construct: Any) -> str:
    resource = construct.node.default_child or construct
    return str(stack.resolve(resource.logical_id))


def _one(template: Template, resource_type: str, properties: Any | None = None) -> tuple[str, dict[str, Any]]:
    ((name, resource),) = template.find_resources(
        resource_type, None if properties is None else {"Properties": properties}
    ).items()
    return name, resource


@pytest.fixture(scope="module")
def template() -> Template:
    stack = _stack()
    _network(stack)
    return Template.from_stack(stack)


@pytest.fixture(scope="module")
def subnet_ids(template: Template) -> dict[str, str]:
    found = template.find_resources("AWS::EC2::Subnet")
    return {resource["Properties"]["CidrBlock"]: name for name, resource in found.items()}


ACCELERATOR, PUBLIC = "10.0.128.0/17", "10.0.0.0/24"


def test_both_subnets_are_pinned_by_zone_id_and_give_no_public_addresses(template: Template) -> None:
    subnets = [resource["Properties"] for resource in template.find_resources("AWS::EC2::Subnet").values()]
    assert sorted(subnet["CidrBlock"] for subnet in subnets) == [PUBLIC, ACCELERATOR]
    for subnet in subnets:
        assert subnet["AvailabilityZoneId"] == "usw2-az2"
        assert "AvailabilityZone" not in subnet
        assert subnet["MapPublicIpOnLaunch"] is False


def test_the_vpc_resolves_names(template: Template) -> None:
    template.has_resource_properties(
        "AWS::EC2::VPC", {"CidrBlock": "10.0.0.0/16", "EnableDnsSupport": True, "EnableDnsHostnames": True}
    )


def test_nodes_reach_the_internet_through_a_nat_gateway_in_the_public_subnet(
    template: Template, subnet_ids: dict[str, str]
) -> None:
    nat, gateway = _one(template, "AWS::EC2::NatGateway")
    assert gateway["Properties"]["SubnetId"] == {"Ref": subnet_ids[PUBLIC]}
    address, _ = _one(template, "AWS::EC2::EIP")
    assert gateway["Properties"]["AllocationId"] == {"Fn::GetAtt": [address, "AllocationId"]}
    _, association = _one(
        template, "AWS::EC2::SubnetRouteTableAssociation", {"SubnetId": {"Ref": subnet_ids[ACCELERATOR]}}
    )
    _, route = _one(template, "AWS::EC2::Route", {"RouteTableId": association["Properties"]["RouteTableId"]})
    assert route["Properties"]["NatGatewayId"] == {"Ref": nat}
    assert route["Properties"]["DestinationCidrBlock"] == "0.0.0.0/0"


def test_the_public_subnet_reaches_the_internet_gateway(
    template: Template, subnet_ids: dict[str, str]
) -> None:
    gateway, _ = _one(template, "AWS::EC2::InternetGateway")
    attachment, _ = _one(template, "AWS::EC2::VPCGatewayAttachment", {"InternetGatewayId": {"Ref": gateway}})
    _, association = _one(
        template, "AWS::EC2::SubnetRouteTableAssociation", {"SubnetId": {"Ref": subnet_ids[PUBLIC]}}
    )
    _, route = _one(template, "AWS::EC2::Route", {"RouteTableId": association["Properties"]["RouteTableId"]})
    assert route["Properties"]["GatewayId"] == {"Ref": gateway}
    assert attachment in route["DependsOn"]


def test_the_nat_gateway_waits_for_its_way_out_and_its_address_goes_before_the_internet_gateway(
    template: Template,
) -> None:
    attachment, _ = _one(template, "AWS::EC2::VPCGatewayAttachment")
    for resource_type in ("AWS::EC2::NatGateway", "AWS::EC2::EIP"):
        _, resource = _one(template, resource_type)
        assert attachment in resource["DependsOn"]


def test_s3_is_reached_through_a_gateway_endpoint_of_the_nodes_route_table(
    template: Template, subnet_ids: dict[str, str]
) -> None:
    _, association = _one(
        template, "AWS::EC2::SubnetRouteTableAssociation", {"SubnetId": {"Ref": subnet_ids[ACCELERATOR]}}
    )
    template.has_resource_properties(
        "AWS::EC2::VPCEndpoint",
        {
            "VpcEndpointType": "Gateway",
            "ServiceName": {"Fn::Join": ["", ["com.amazonaws.", {"Ref": "AWS::Region"}, ".s3"]]},
            "RouteTableIds": [association["Properties"]["RouteTableId"]],
        },
    )


def _entries(template: Template, *, egress: bool) -> list[dict[str, Any]]:
    found = template.find_resources("AWS::EC2::NetworkAclEntry", {"Properties": {"Egress": egress}})
    return sorted((entry["Properties"] for entry in found.values()), key=lambda entry: entry["RuleNumber"])


def _summary(entry: dict[str, Any]) -> tuple[Any, ...]:
    ports_of = entry.get("PortRange")
    return (
        entry["RuleAction"],
        entry["Protocol"],
        (ports_of["From"], ports_of["To"]) if ports_of else None,
        entry.get("CidrBlock") or entry.get("Ipv6CidrBlock"),
    )


def test_the_acl_first_denies_the_checkpoint_ports_then_allows_the_rest(template: Template) -> None:
    assert [_summary(entry) for entry in _entries(template, egress=False)] == [
        ("deny", 6, (9200, 9200), "0.0.0.0/0"),
        ("deny", 6, (9200, 9200), "::/0"),
        ("deny", 17, (9209, 9240), "0.0.0.0/0"),
        ("deny", 17, (9209, 9240), "::/0"),
        ("allow", -1, None, "0.0.0.0/0"),
        ("allow", -1, None, "::/0"),
    ]
    assert [_summary(entry) for entry in _entries(template, egress=True)] == [
        ("allow", -1, None, "0.0.0.0/0"),
        ("allow", -1, None, "::/0"),
    ]


def test_the_acl_closes_exactly_the_ranges_of_the_catalog(template: Template) -> None:
    numbers = {"tcp": 6, "udp": 17}
    denied = {
        _summary(entry)[1:3] for entry in _entries(template, egress=False) if entry["RuleAction"] == "deny"
    }
    assert denied == {(numbers[r.protocol], (r.first, r.last)) for r in ports.TIERED_CHECKPOINTING}


@pytest.mark.parametrize("closed", ports.TIERED_CHECKPOINTING, ids=str)
def test_no_answer_to_a_node_comes_back_on_a_closed_port(closed: ports.PortRange) -> None:
    for local in (*ports.LINUX_EPHEMERAL, *ports.CHECKPOINTLESS_EPHEMERAL):
        assert not closed.overlaps(local.protocol, local.first, local.last)


def test_the_nat_gateway_whose_local_ports_include_closed_ones_stands_behind_no_acl_of_ours(
    template: Template, subnet_ids: dict[str, str]
) -> None:
    assert any(
        closed.overlaps(local.protocol, local.first, local.last)
        for closed in ports.TIERED_CHECKPOINTING
        for local in ports.NAT_GATEWAY_EPHEMERAL
    )
    _, association = _one(template, "AWS::EC2::SubnetNetworkAclAssociation")
    assert association["Properties"]["SubnetId"] == {"Ref": subnet_ids[ACCELERATOR]}


def test_only_a_complete_acl_is_put_in_front_of_the_nodes(template: Template) -> None:
    _, association = _one(template, "AWS::EC2::SubnetNetworkAclAssociation")
    assert set(template.find_resources("AWS::EC2::NetworkAclEntry")) <= set(association["DependsOn"])


def test_flow_logs_arrive_in_a_log_group_by_reference(template: Template) -> None:
    group, properties = _one(template, "AWS::Logs::LogGroup", {"RetentionInDays": 365})
    assert "LogGroupName" not in properties["Properties"]
    role, _ = _one(template, "AWS::IAM::Role", {"Description": "Delivers VPC flow logs to their log group"})
    policy, _ = _one(
        template,
        "AWS::IAM::ManagedPolicy",
        {
            "Roles": [{"Ref": role}],
            "PolicyDocument": Match.object_like(
                {
                    "Statement": [
                        {
                            "Effect": "Allow",
                            "Action": [
                                "logs:CreateLogStream",
                                "logs:DescribeLogGroups",
                                "logs:DescribeLogStreams",
                                "logs:PutLogEvents",
                            ],
                            "Resource": {"Fn::GetAtt": [group, "Arn"]},
                        }
                    ]
                }
            ),
        },
    )
    vpc, _ = _one(template, "AWS::EC2::VPC")
    _, flow_log = _one(
        template,
        "AWS::EC2::FlowLog",
        {
            "ResourceType": "VPC",
            "ResourceId": {"Ref": vpc},
            "TrafficType": "ALL",
            "LogDestinationType": "cloud-watch-logs",
            "LogGroupName": {"Ref": group},
            "DeliverLogsPermissionArn": {"Fn::GetAtt": [role, "Arn"]},
        },
    )
    assert policy in flow_log["DependsOn"]


def test_the_delivery_role_serves_flow_logs_of_this_account_only(template: Template) -> None:
    _, role = _one(template, "AWS::IAM::Role", {"Description": "Delivers VPC flow logs to their log group"})
    (statement,) = role["Properties"]["AssumeRolePolicyDocument"]["Statement"]
    assert statement["Principal"] == {"Service": "vpc-flow-logs.amazonaws.com"}
    assert statement["Condition"]["StringEquals"] == {"aws:SourceAccount": {"Ref": "AWS::AccountId"}}


def test_flow_logs_are_encrypted_with_a_rotating_key_that_the_log_service_may_use(template: Template) -> None:
    key, resource = _one(template, "AWS::KMS::Key")
    template.has_resource_properties("AWS::Logs::LogGroup", {"KmsKeyId": {"Fn::GetAtt": [key, "Arn"]}})
    assert resource["Properties"]["EnableKeyRotation"] is True
    template.has_resource_properties(
        "AWS::KMS::Key",
        {
            "KeyPolicy": {
                "Statement": Match.array_with(
                    [
                        Match.object_like(
                            {
                                "Action": Match.array_with(["kms:Encrypt", "kms:GenerateDataKey*"]),
                                "Principal": {
                                    "Service": {
                                        "Fn::Join": [
                                            "",
                                            ["logs.", {"Ref": "AWS::Region"}, ".", {"Ref": "AWS::URLSuffix"}],
                                        ]
                                    }
                                },
                                "Condition": {
                                    "ArnLike": {"kms:EncryptionContext:aws:logs:arn": Match.any_value()}
                                },
                            }
                        )
                    ]
                )
            }
        },
    )


def test_flow_logs_and_their_key_outlive_the_stack(template: Template) -> None:
    for resource_type, properties in (
        ("AWS::KMS::Key", {}),
        ("AWS::Logs::LogGroup", {"RetentionInDays": 365}),
    ):
        _, resource = _one(template, resource_type, properties)
        assert resource["DeletionPolicy"] == "Retain"


def test_the_default_security_group_is_closed(template: Template) -> None:
    vpc, _ = _one(template, "AWS::EC2::VPC")
    group = {"Fn::GetAtt": [vpc, "DefaultSecurityGroup"]}
    function, _ = _one(template, "AWS::Lambda::Function")
    _, resource = _one(template, "Custom::ClosedDefaultSecurityGroup")
    assert resource["Properties"] == {
        "ServiceToken": {"Fn::GetAtt": [function, "Arn"]},
        "ServiceTimeout": "780",
        "GroupId": group,
    }
    policy, _ = _one(
        template,
        "AWS::IAM::ManagedPolicy",
        {"Description": "Takes all rules out of the default security group of a cluster network"},
    )
    assert policy in resource["DependsOn"]


def test_the_handler_may_revoke_rules_of_the_default_group_only(template: Template) -> None:
    _, policy = _one(
        template,
        "AWS::IAM::ManagedPolicy",
        {"Description": "Takes all rules out of the default security group of a cluster network"},
    )
    by_sid = {
        statement["Sid"]: statement for statement in policy["Properties"]["PolicyDocument"]["Statement"]
    }
    vpc, _ = _one(template, "AWS::EC2::VPC")
    assert by_sid["RevokeRules"]["Resource"]["Fn::Join"][1][-1] == {
        "Fn::GetAtt": [vpc, "DefaultSecurityGroup"]
    }
    wide = [sid for sid, statement in by_sid.items() if statement["Resource"] == "*"]
    assert wide == ["ReadRules"]
    assert by_sid["ReadRules"]["Action"] == "ec2:DescribeSecurityGroups"


def test_everything_in_the_console_carries_a_name(template: Template) -> None:
    for resource_type in (
        "VPC",
        "Subnet",
        "RouteTable",
        "InternetGateway",
        "NatGateway",
        "EIP",
        "NetworkAcl",
        "FlowLog",
    ):
        for name, resource in template.find_resources(f"AWS::EC2::{resource_type}").items():
            tags = {tag["Key"]: tag["Value"] for tag in resource["Properties"]["Tags"]}
            assert tags["Name"].startswith("Stack/Network"), name


def test_tags_of_the_app_reach_the_network() -> None:
    stack = _stack()
    network = _network(stack)
    Tags.of(network).add("team", "training")
    template = Template.from_stack(stack)
    for resource_type in ("VPC", "Subnet", "NatGateway", "NetworkAcl"):
        template.all_resources_properties(
            f"AWS::EC2::{resource_type}", {"Tags": Match.array_with([{"Key": "team", "Value": "training"}])}
        )


WAY_OUT = {
    "AWS::EC2::Route",
    "AWS::EC2::NatGateway",
    "AWS::EC2::SubnetRouteTableAssociation",
    "AWS::EC2::VPCEndpoint",
    "AWS::EC2::SubnetNetworkAclAssociation",
}


@pytest.fixture(scope="module")
def consumers() -> dict[str, Any]:
    stack = _stack()
    network = _network(stack)
    dependencies = {
        "OnVpc": network.vpc,
        "OnSubnet": network.accelerator_subnet,
        "OnInternet": network.vpc.internet_connectivity_established,
        "OnSubnetInternet": network.accelerator_subnet.internet_connectivity_established,
        "OnNetwork": network,
    }
    for name, dependency in dependencies.items():
        CfnResource(stack, name, type="Some::Consumer::Type").node.add_dependency(dependency)
    fsx.LustreFileSystem(
        stack,
        "Consumer",
        vpc=network.vpc,
        vpc_subnet=network.accelerator_subnet,
        storage_capacity_gib=1200,
        lustre_configuration=fsx.LustreConfiguration(deployment_type=fsx.LustreDeploymentType.SCRATCH_2),
    )
    network.vpc.add_interface_endpoint("Ssm", service=ec2.InterfaceVpcEndpointAwsService.SSM)
    resources: dict[str, Any] = Template.from_stack(stack).to_json()["Resources"]
    return resources


@pytest.mark.parametrize("name", ["OnVpc", "OnSubnet", "OnInternet", "OnSubnetInternet", "OnNetwork"])
def test_depending_on_the_network_means_its_way_out_works(consumers: dict[str, Any], name: str) -> None:
    way_out = {
        logical_id
        for logical_id, resource in consumers.items()
        if resource["Type"] in WAY_OUT and resource["Properties"].get("VpcEndpointType") != "Interface"
    }
    assert way_out <= set(consumers[name]["DependsOn"])


def test_other_constructs_take_the_vpc_and_the_subnet(consumers: dict[str, Any]) -> None:
    (subnet,) = (
        name
        for name, resource in consumers.items()
        if resource["Type"] == "AWS::EC2::Subnet" and resource["Properties"]["CidrBlock"] == ACCELERATOR
    )
    file_system = next(r for r in consumers.values() if r["Type"] == "AWS::FSx::FileSystem")
    assert file_system["Properties"]["SubnetIds"] == [{"Ref": subnet}]
    endpoint = next(
        r
        for r in consumers.values()
        if r["Type"] == "AWS::EC2::VPCEndpoint" and r["Properties"]["VpcEndpointType"] == "Interface"
    )
    assert endpoint["Properties"]["SubnetIds"] == [{"Ref": subnet}]


def test_sizes_and_ranges_are_the_users() -> None:
    stack = _stack()
    network = _network(
        stack, vpc_cidr="172.16.0.0/20", accelerator_subnet_prefix_length=22, public_subnet_prefix_length=28
    )
    template = Template.from_stack(stack)
    cidrs = [r["Properties"]["CidrBlock"] for r in template.find_resources("AWS::EC2::Subnet").values()]
    assert sorted(cidrs) == ["172.16.0.0/28", "172.16.12.0/22"]
    assert network.accelerator_subnet_cidr == "172.16.12.0/22"
    assert network.accelerator_subnet.ipv4_cidr_block == "172.16.12.0/22"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"accelerator_subnet_prefix_length": 15},
            r"cluster network 'Stack/Network': accelerator_subnet_prefix_length: must be from 16 to 28, got "
            r"15",
        ),
        ({"public_subnet_prefix_length": 29}, r"public_subnet_prefix_length: must be from 16 to 28, got 29"),
        (
            {"vpc_cidr": "10.0.0.0/8"},
            r"vpc_cidr: must have a prefix length from /16 to /28, got '10\.0\.0\.0/8'",
        ),
        ({"vpc_cidr": "10.0.0.1/16"}, r"vpc_cidr: must be an IPv4 range such as 10\.0\.0\.0/16"),
        (
            {"accelerator_subnet_prefix_length": 16},
            r"vpc_cidr: must hold accelerator_subnet_prefix_length /16 and public_subnet_prefix_length /24",
        ),
        (
            {"availability_zone_id": "us-west-2a"},
            r"availability_zone_id: must be the id of an Availability Zone",
        ),
    ],
)
def test_wrong_arguments_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        _network(_stack(), **options)


def test_a_zone_of_another_region_is_refused_where_the_region_is_known() -> None:
    with pytest.raises(
        InvalidInputError, match=r"availability_zone_id: must be a zone of us-west-2, got 'use1-az1'"
    ):
        _network(_stack(env=OREGON), availability_zone_id="use1-az1")
    _network(_stack(), availability_zone_id="use1-az1")


def test_a_zone_that_the_catalog_does_not_list_leaves_a_warning() -> None:
    stack = _stack(env=OREGON)
    _network(stack, availability_zone_id="usw2-lax1-az1")
    Annotations.from_stack(stack).has_warning(
        "/Stack/Network", Match.string_like_regexp("'usw2-lax1-az1' is not a known zone of us-west-2")
    )


def test_zone_and_range_may_be_tokens() -> None:
    stack = _stack()
    zone = CfnParameter(stack, "Zone").value_as_string
    cidr = CfnParameter(stack, "Cidr").value_as_string
    network = _network(stack, availability_zone_id=zone, vpc_cidr=cidr)
    network.check_capacity(groups=[("workers", "ml.p5.48xlarge", 16)])
    template = Template.from_stack(stack)
    template.all_resources_properties("AWS::EC2::Subnet", {"AvailabilityZoneId": {"Ref": "Zone"}})
    blocks = {
        tuple(r["Properties"]["CidrBlock"]["Fn::Select"][1]["Fn::Cidr"])[1:]: r["Properties"]["CidrBlock"][
            "Fn::Select"
        ][0]
        for r in template.find_resources("AWS::EC2::Subnet").values()
    }
    assert blocks == {(2, "15"): 1, (1, "8"): 0}


def test_prefix_lengths_must_be_known_at_synthesis() -> None:
    stack = _stack()
    length = CfnParameter(stack, "Length", type="Number").value_as_number
    with pytest.raises(
        InvalidInputError, match="accelerator_subnet_prefix_length: must be known at synthesis"
    ):
        _network(stack, accelerator_subnet_prefix_length=length)


def test_capacity_is_refused_with_the_prefix_needed() -> None:
    network = _network(_stack(), accelerator_subnet_prefix_length=24)
    with pytest.raises(
        InvalidInputError,
        match=r"cluster network 'Stack/Network': accelerator subnet: a /24 subnet has 251 usable addresses, "
        r"the cluster needs 515 \(workers 16 x 32, others 3\); use a prefix length of 22 or shorter",
    ):
        network.check_capacity(groups=[("workers", "ml.p5.48xlarge", 16)], other_addresses=3)


def test_the_default_network_takes_the_usual_cluster() -> None:
    groups = [
        ("controller", "ml.m5.2xlarge", 1),
        ("login", "ml.m5.4xlarge", 1),
        ("workers", "ml.p5.48xlarge", 16),
    ]
    network = _network(_stack())
    network.check_capacity(groups=groups, orchestrator="slurm", other_addresses=5)
    network.check_capacity(groups=groups, orchestrator="eks", other_addresses=5)


def test_tokens_pass_the_capacity_check() -> None:
    stack = _stack()
    count = CfnParameter(stack, "Count", type="Number").value_as_number
    network = _network(stack, accelerator_subnet_prefix_length=28)
    network.check_capacity(
        groups=[
            ("workers", "ml.p5.48xlarge", count),
            ("more", CfnParameter(stack, "Type").value_as_string, 100),
        ]
    )


def test_own_figures_replace_the_catalog() -> None:
    network = _network(_stack(), accelerator_subnet_prefix_length=24)
    network.check_capacity(
        groups=[("workers", "ml.p5.48xlarge", 16)], addresses_per_node={"ml.p5.48xlarge": 2}
    )


def test_flow_logs_can_go_to_a_bucket_whose_policy_lets_them_in() -> None:
    stack = _stack()
    key = kms.Key(stack, "Key")
    bucket = s3.Bucket(stack, "Logs", encryption=s3.BucketEncryption.KMS, encryption_key=key)
    network = _network(stack, flow_log_bucket=bucket)
    assert network.flow_log_group is None
    template = Template.from_stack(stack)
    bucket_id = _id_of(stack, bucket)
    policy_id, _ = _one(template, "AWS::S3::BucketPolicy")
    _, flow_log = _one(template, "AWS::EC2::FlowLog")
    assert flow_log["Properties"]["LogDestinationType"] == "s3"
    assert flow_log["Properties"]["LogDestination"] == {"Fn::GetAtt": [bucket_id, "Arn"]}
    assert "DeliverLogsPermissionArn" not in flow_log["Properties"]
    assert policy_id in flow_log["DependsOn"]
    template.has_resource_properties(
        "AWS::S3::BucketPolicy",
        {
            "PolicyDocument": {
                "Statement": Match.array_with(
                    [
                        Match.object_like(
                            {
                                "Action": "s3:PutObject",
                                "Principal": {"Service": "delivery.logs.amazonaws.com"},
                                "Condition": Match.object_like(
                                    {
                                        "StringEquals": {
                                            "aws:SourceAccount": {"Ref": "AWS::AccountId"},
                                            "s3:x-amz-acl": "bucket-owner-full-control",
                                        }
                                    }
                                ),
                            }
                        ),
                        Match.object_like({"Action": "s3:GetBucketAcl"}),
                    ]
                )
            }
        },
    )
    template.has_resource_properties(
        "AWS::KMS::Key",
        {
            "KeyPolicy": {
                "Statement": Match.array_with(
                    [Match.object_like({"Principal": {"Service": "delivery.logs.amazonaws.com"}})]
                )
            }
        },
    )


def test_flow_logs_to_an_imported_bucket_leave_a_warning() -> None:
    stack = _stack()
    _network(stack, flow_log_bucket=s3.Bucket.from_bucket_name(stack, "Logs", "somebody-elses"))
    Annotations.from_stack(stack).has_warning(
        "/Stack/Network",
        Match.string_like_regexp("policy of the imported bucket 'Stack/Logs' cannot be changed"),
    )
    Template.from_stack(stack).has_resource_properties("AWS::EC2::FlowLog", {"LogDestinationType": "s3"})


def test_flow_logs_take_the_users_key_and_retention() -> None:
    stack = _stack()
    key = kms.Key(stack, "Key", removal_policy=RemovalPolicy.DESTROY)
    _network(stack, flow_log_key=key, flow_log_retention=logs.RetentionDays.TEN_YEARS)
    template = Template.from_stack(stack)
    template.resource_count_is("AWS::KMS::Key", 1)
    template.has_resource_properties(
        "AWS::Logs::LogGroup",
        {"RetentionInDays": 3653, "KmsKeyId": {"Fn::GetAtt": [_id_of(stack, key), "Arn"]}},
    )


def test_no_lookup_is_asked_for_in_an_environment() -> None:
    app = App()
    stack = Stack(app, "Stack", env=OREGON)
    _network(stack)
    manifest = json.loads((Path(app.synth().directory) / "manifest.json").read_text(encoding="utf-8"))
    assert "missing" not in manifest
    assert "Stack" in manifest["artifacts"]


def _resources(scope: Construct, env: Environment | None) -> dict[str, Any]:
    stack = Stack(scope, "Stack", env=env)
    network = _network(stack)
    for resource in network.node.find_all():
        Tags.of(resource).remove("Name")
    resources: dict[str, Any] = Template.from_stack(stack).to_json()["Resources"]
    for resource in resources.values():
        resource.get("Properties", {}).pop("Description", None)
    return resources


@pytest.mark.parametrize("env", [None, Environment(region="us-west-2"), OREGON])
def test_the_template_is_the_same_in_a_stage_and_under_all_feature_flags(
    recommended_feature_flags: dict[str, Any], env: Environment | None
) -> None:
    expected = _resources(App(), env)
    assert _resources(App(context=recommended_feature_flags), env) == expected
    assert _resources(Stage(App(), "Prod"), env) == expected


def test_works_in_a_nested_stack() -> None:
    app = App()
    nested = NestedStack(Stack(app, "Parent"), "Nested")
    _network(nested)
    content = (Path(app.synth().directory) / nested.template_file).read_text(encoding="utf-8")
    Template.from_string(content).resource_count_is("AWS::EC2::NatGateway", 1)


def test_two_networks_share_a_stack() -> None:
    stack = _stack()
    _network(stack)
    ClusterNetwork(stack, "Second", availability_zone_id="usw2-az1", vpc_cidr="10.1.0.0/16")
    Template.from_stack(stack).resource_count_is("AWS::EC2::VPC", 2)


def _existing(stack: Stack, **options: Any) -> Any:
    vpc = ec2.Vpc.from_vpc_attributes(
        stack, "Vpc", vpc_id="vpc-0123456789abcdef0", availability_zones=["us-west-2a"]
    )
    subnet = ec2.Subnet.from_subnet_id(stack, "Subnet", "subnet-0123456789abcdef0")
    return ClusterNetwork.from_existing(stack, "Network", vpc=vpc, accelerator_subnet=subnet, **options)


def test_an_existing_network_is_left_alone_and_its_acl_is_a_finding() -> None:
    stack = _stack()
    network = _existing(stack)
    assert stack.resolve(network.vpc.vpc_id) == "vpc-0123456789abcdef0"
    assert stack.resolve(network.accelerator_subnet.subnet_id) == "subnet-0123456789abcdef0"
    Annotations.from_stack(stack).has_warning(
        "/Stack/Network",
        Match.string_like_regexp(
            r"network ACL of the existing subnet 'Stack/Subnet' is left as it is.*tcp 9200 and udp 9209-9240"
        ),
    )
    assert "Resources" not in Template.from_stack(stack).to_json()


def test_the_finding_can_be_acknowledged() -> None:
    stack = _stack()
    network = _existing(stack)
    CoreAnnotations.of(network).acknowledge_warning(EXISTING_ACL_WARNING, "the network team denies them")
    Annotations.from_stack(stack).has_no_warning("/Stack/Network", Match.any_value())


def test_an_existing_network_of_unknown_size_is_checked_against_the_largest_and_warns() -> None:
    stack = _stack()
    network = _existing(stack)
    network.check_capacity(groups=[("workers", "ml.p5.48xlarge", 100)])
    Annotations.from_stack(stack).has_warning(
        "/Stack/Network", Match.string_like_regexp("pass accelerator_subnet_cidr")
    )
    with pytest.raises(InvalidInputError, match=r"no subnet is larger than /16"):
        network.check_capacity(groups=[("workers", "ml.p5.48xlarge", 5000)])


def test_an_existing_network_is_checked_against_the_size_given() -> None:
    network = _existing(_stack(), accelerator_subnet_cidr="10.0.0.0/24")
    with pytest.raises(InvalidInputError, match=r"a /24 subnet has 251 usable addresses"):
        network.check_capacity(groups=[("workers", "ml.p5.48xlarge", 16)])


def test_the_size_of_a_subnet_of_this_app_is_known() -> None:
    stack = _stack()
    vpc = ec2.Vpc(
        stack,
        "Vpc",
        max_azs=1,
        subnet_configuration=[
            ec2.SubnetConfiguration(name="nodes", subnet_type=ec2.SubnetType.PRIVATE_ISOLATED, cidr_mask=24)
        ],
    )
    network = ClusterNetwork.from_existing(
        stack, "Network", vpc=vpc, accelerator_subnet=vpc.isolated_subnets[0]
    )
    assert network.accelerator_subnet_cidr == "10.0.0.0/24"


def test_a_wrong_range_of_an_existing_subnet_is_refused() -> None:
    with pytest.raises(InvalidInputError, match=r"accelerator_subnet_cidr: must be an IPv4 range"):
        _existing(_stack(), accelerator_subnet_cidr="10.0.0.0/33")


@pytest.fixture
def closing(custom_resource_handler: Any) -> Any:
    return custom_resource_handler("close_default_security_group", "ec2")


def _event(request_type: str) -> dict[str, Any]:
    return {"RequestType": request_type, "ResourceProperties": {"GroupId": "sg-1"}}


INGRESS = [{"IpProtocol": "-1", "UserIdGroupPairs": [{"GroupId": "sg-1", "UserId": "123456789012"}]}]
EGRESS = [{"IpProtocol": "-1", "IpRanges": [{"CidrIp": "0.0.0.0/0"}]}]


def _describe(stubber: Any, ingress: Any, egress: Any) -> None:
    stubber.add_response(
        "describe_security_groups",
        {"SecurityGroups": [{"GroupId": "sg-1", "IpPermissions": ingress, "IpPermissionsEgress": egress}]},
        {"GroupIds": ["sg-1"]},
    )


@pytest.mark.parametrize("request_type", ["Create", "Update"])
def test_the_handler_revokes_what_there_is(closing: Any, request_type: str) -> None:
    _describe(closing.stubber, INGRESS, EGRESS)
    for direction, permissions in (("ingress", INGRESS), ("egress", EGRESS)):
        closing.stubber.add_response(
            f"revoke_security_group_{direction}", {}, {"GroupId": "sg-1", "IpPermissions": permissions}
        )
    assert closing(_event(request_type)) == [("SUCCESS", "sg-1", None)]
    closing.stubber.assert_no_pending_responses()


def test_the_handler_leaves_a_closed_group_alone(closing: Any) -> None:
    _describe(closing.stubber, [], [])
    assert closing(_event("Create")) == [("SUCCESS", "sg-1", None)]


def test_the_handler_does_nothing_at_deletion(closing: Any) -> None:
    assert closing(_event("Delete")) == [("SUCCESS", "sg-1", None)]


def test_the_handler_reports_why_it_failed(closing: Any) -> None:
    closing.stubber.add_client_error("describe_security_groups", "UnauthorizedOperation", "no")
    (answer,) = closing(_event("Create"))
    assert (answer.status, answer.physical_id) == ("FAILED", "sg-1")
    assert "UnauthorizedOperation" in answer.reason


def test_a_network_of_our_own_leaves_no_warning() -> None:
    stack = _stack(env=OREGON)
    _network(stack)
    Annotations.from_stack(stack).has_no_warning("*", Match.any_value())
    Annotations.from_stack(stack).has_no_error("*", Match.any_value())
