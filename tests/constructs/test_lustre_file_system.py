from __future__ import annotations

import json
from typing import Any

import pytest
from aws_cdk import App, CfnParameter, CfnResource, Environment, Stack, Stage, Tags
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_kms as kms
from aws_cdk.assertions import Annotations, Match, Template
from cfnlint.api import ManualArgs, lint
from constructs import Construct

from hyperpod_constructs.cluster_network import ClusterNetwork
from hyperpod_constructs.efa_security_group import EfaSecurityGroup
from hyperpod_constructs.lustre_file_system import FileSystemRemoval, LustreFileSystem
from hyperpod_model.catalog.ports import LUSTRE
from hyperpod_model.faults import InvalidInputError

RETAIN = {"removal": FileSystemRemoval.RETAIN}
EFA = {"efa_enabled": True, "storage_capacity_gib": 19_200}
RULE_TYPES = ("AWS::EC2::SecurityGroupIngress", "AWS::EC2::SecurityGroupEgress")


def _stack(app: Construct | None = None, name: str = "Stack", **options: Any) -> Stack:
    return Stack(App() if app is None else app, name, **options)


def _foreign_network(scope: Construct) -> dict[str, Any]:
    attributes = {"vpc_id": "vpc-0123456789abcdef0", "availability_zones": ["us-west-2a"]}
    return {
        "vpc": ec2.Vpc.from_vpc_attributes(scope, "Vpc", **attributes),
        "subnet": ec2.Subnet.from_subnet_attributes(
            scope, "Subnet", subnet_id="subnet-0123456789abcdef0", route_table_id="rtb-0123456789abcdef0"
        ),
    }


def _own_network(scope: Construct) -> dict[str, Any]:
    network = ClusterNetwork(scope, "Network", availability_zone_id="usw2-az2")
    return {"vpc": network.vpc, "subnet": network.accelerator_subnet}


def _file_system(scope: Construct, network: dict[str, Any] | None = None, **options: Any) -> LustreFileSystem:
    sizes = {"storage_capacity_gib": 4800, "throughput_mbps_per_tib": 250}
    placed = _foreign_network(scope) if network is None else network
    return LustreFileSystem(scope, "Shared", **placed, **{**sizes, **options})


def _nodes(stack: Stack, network: dict[str, Any]) -> EfaSecurityGroup:
    return EfaSecurityGroup(stack, "Nodes", vpc=network["vpc"])


def _one(template: Template, resource_type: str) -> tuple[str, dict[str, Any]]:
    ((name, resource),) = template.find_resources(resource_type).items()
    return name, resource


@pytest.fixture(scope="module")
def template() -> Template:
    stack = _stack()
    network = _own_network(stack)
    _file_system(stack, network, client_security_groups=[_nodes(stack, network)], **RETAIN)
    return Template.from_stack(stack)


def _group_id(template: Template, prefix: str) -> str:
    (name,) = (name for name in template.find_resources("AWS::EC2::SecurityGroup") if name.startswith(prefix))
    return name


def test_is_persistent_ssd_with_compression_and_backups(template: Template) -> None:
    _, file_system = _one(template, "AWS::FSx::FileSystem")
    properties = file_system["Properties"]
    assert properties["FileSystemType"] == "LUSTRE"
    assert properties["FileSystemTypeVersion"] == "2.15"
    assert properties["StorageType"] == "SSD"
    assert properties["StorageCapacity"] == 4800
    assert properties["LustreConfiguration"] == {
        "DeploymentType": "PERSISTENT_2",
        "PerUnitStorageThroughput": 250,
        "DataCompressionType": "LZ4",
        "AutomaticBackupRetentionDays": 7,
        "CopyTagsToBackups": True,
    }


def test_is_encrypted_with_a_rotating_key_of_its_own(template: Template) -> None:
    (key,) = (name for name in template.find_resources("AWS::KMS::Key") if name.startswith("Shared"))
    template.has_resource_properties("AWS::FSx::FileSystem", {"KmsKeyId": {"Fn::GetAtt": [key, "Arn"]}})
    assert template.find_resources("AWS::KMS::Key")[key]["Properties"]["EnableKeyRotation"] is True


def test_stands_in_the_nodes_subnet_behind_its_own_group(template: Template) -> None:
    (subnet,) = template.find_resources("AWS::EC2::Subnet", {"Properties": {"CidrBlock": "10.0.128.0/17"}})
    template.has_resource_properties(
        "AWS::FSx::FileSystem",
        {
            "SubnetIds": [{"Ref": subnet}],
            "SecurityGroupIds": [{"Fn::GetAtt": [_group_id(template, "SharedSecurityGroup"), "GroupId"]}],
        },
    )


@pytest.mark.parametrize("ports", LUSTRE, ids=str)
@pytest.mark.parametrize(
    ("opened", "peer"),
    [
        ("SharedSecurityGroup", "SharedSecurityGroup"),
        ("SharedSecurityGroup", "Nodes"),
        ("Nodes", "SharedSecurityGroup"),
    ],
)
def test_the_lustre_ports_are_open_both_ways(template: Template, ports: Any, opened: str, peer: str) -> None:
    own, other = ({"Fn::GetAtt": [_group_id(template, name), "GroupId"]} for name in (opened, peer))
    rule = {"GroupId": own, "IpProtocol": ports.protocol, "FromPort": ports.first, "ToPort": ports.last}
    template.has_resource_properties(RULE_TYPES[0], {**rule, "SourceSecurityGroupId": other})
    template.has_resource_properties(RULE_TYPES[1], {**rule, "DestinationSecurityGroupId": other})


def test_nothing_else_is_open_on_its_group(template: Template) -> None:
    own = {"Fn::GetAtt": [_group_id(template, "SharedSecurityGroup"), "GroupId"]}
    for resource_type in RULE_TYPES:
        rules = template.find_resources(resource_type, {"Properties": {"GroupId": own}})
        assert {rule["Properties"]["FromPort"] for rule in rules.values()} == {988, 1018}
    group = template.find_resources("AWS::EC2::SecurityGroup")[own["Fn::GetAtt"][0]]["Properties"]
    assert "SecurityGroupIngress" not in group
    assert [rule["CidrIp"] for rule in group["SecurityGroupEgress"]] == ["255.255.255.255/32"]


def _rules_of(resources: dict[str, Any], name: str) -> set[str]:
    return {
        logical_id
        for logical_id, resource in resources.items()
        if resource["Type"] in RULE_TYPES and name in json.dumps(resource["Properties"])
    }


def test_is_created_after_every_rule(template: Template) -> None:
    _, file_system = _one(template, "AWS::FSx::FileSystem")
    rules = _rules_of(template.to_json()["Resources"], _group_id(template, "SharedSecurityGroup"))
    assert len(rules) == 6 * len(LUSTRE)
    assert rules <= set(file_system["DependsOn"])


def test_waits_for_rules_that_come_later_too() -> None:
    stack = _stack()
    file_system = _file_system(stack)
    consumer = CfnResource(stack, "Consumer", type="Some::Consumer::Type")
    consumer.node.add_dependency(file_system)
    plain = ec2.SecurityGroup(stack, "Plain", vpc=stack.node.find_child("Vpc"), allow_all_outbound=False)  # type: ignore[arg-type]
    file_system.allow_from(plain)
    imported = ec2.SecurityGroup.from_security_group_id(stack, "Imported", "sg-0123456789abcdef0")
    file_system.connections.allow_default_port_from(imported)
    resources = Template.from_stack(stack).to_json()["Resources"]
    (own,) = (
        name
        for name in resources
        if name.startswith("SharedSecurityGroup") and "Rules" not in name and "from" not in name
    )
    (created,) = (r for r in resources.values() if r["Type"] == "AWS::FSx::FileSystem")
    opened = {
        name
        for name in _rules_of(resources, own)
        if resources[name]["Properties"]["GroupId"] == {"Fn::GetAtt": [own, "GroupId"]}
    }
    assert any("sg-0123456789abcdef0" in json.dumps(resources[name]) for name in opened)
    assert opened <= set(created["DependsOn"])
    assert opened <= set(resources["Consumer"]["DependsOn"])


def test_a_client_asked_twice_is_let_in_once() -> None:
    stack = _stack()
    network = _foreign_network(stack)
    nodes = _nodes(stack, network)
    file_system = _file_system(stack, network, client_security_groups=[nodes, nodes])
    file_system.allow_from(nodes)
    nodes.allow_lustre(file_system.security_group)
    Template.from_stack(stack).resource_count_is(RULE_TYPES[0], 1 + 3 * len(LUSTRE))


def test_connections_open_the_lustre_range_by_default() -> None:
    stack = _stack()
    file_system = _file_system(stack)
    backup = ec2.SecurityGroup(stack, "Backup", vpc=stack.node.find_child("Vpc"), allow_all_outbound=False)  # type: ignore[arg-type]
    backup.connections.allow_to_default_port(file_system)
    Template.from_stack(stack).has_resource_properties(RULE_TYPES[0], {"FromPort": 988, "ToPort": 1023})


def test_names_to_mount_follow_region_and_partition() -> None:
    stack = _stack()
    file_system = _file_system(stack)
    (name,) = (n for n, r in Template.from_stack(stack).to_json()["Resources"].items() if "FSx" in r["Type"])
    assert stack.resolve(file_system.dns_name) == {
        "Fn::Join": ["", [{"Ref": name}, ".fsx.", {"Ref": "AWS::Region"}, ".", {"Ref": "AWS::URLSuffix"}]]
    }
    assert stack.resolve(file_system.mount_name) == {"Fn::GetAtt": [name, "LustreMountName"]}
    assert stack.resolve(file_system.file_system_id) == {"Ref": name}


def test_says_how_many_addresses_it_takes() -> None:
    assert _file_system(_stack()).addresses == 5


KEPT = ("Retain", "RetainExceptOnCreate")


def _retained(template: Template) -> set[str]:
    return {
        resource["Type"]
        for resource in template.to_json()["Resources"].values()
        if resource.get("DeletionPolicy") in KEPT
    }


def test_a_retained_file_system_keeps_all_that_it_needs(template: Template) -> None:
    resources = template.to_json()["Resources"]
    own_rules = {
        name
        for name, resource in resources.items()
        if resource["Type"] in RULE_TYPES and "WithinRules" in name
    }
    assert len(own_rules) == 2 * len(LUSTRE)
    needed = {
        name
        for name, resource in resources.items()
        if (resource["Type"] in ("AWS::FSx::FileSystem", "AWS::EC2::VPC", "AWS::KMS::Key"))
        or (resource["Type"] == "AWS::EC2::SecurityGroup" and name.startswith("Shared"))
        or (resource["Type"] == "AWS::EC2::Subnet" and resource["Properties"]["CidrBlock"] == "10.0.128.0/17")
    } | own_rules
    for name in needed:
        assert resources[name]["DeletionPolicy"] in KEPT, name
        assert resources[name]["UpdateReplacePolicy"] == "Retain", name


def test_a_file_system_that_was_never_used_goes_when_its_creation_is_rolled_back(template: Template) -> None:
    by_policy: dict[str, set[str]] = {policy: set() for policy in KEPT}
    for resource in template.to_json()["Resources"].values():
        by_policy.get(resource.get("DeletionPolicy"), set()).add(resource["Type"])
    assert by_policy["RetainExceptOnCreate"] == {
        "AWS::FSx::FileSystem",
        "AWS::EC2::VPC",
        "AWS::EC2::Subnet",
        "AWS::EC2::SecurityGroup",
        *RULE_TYPES,
    }
    assert "AWS::KMS::Key" in by_policy["Retain"]


def test_what_a_retained_file_system_does_not_need_goes(template: Template) -> None:
    resources = template.to_json()["Resources"]
    kept = {name for name, resource in resources.items() if resource.get("DeletionPolicy") in KEPT}
    assert _group_id(template, "Nodes") not in kept
    nodes = _rules_of(resources, _group_id(template, "Nodes"))
    assert nodes
    assert not nodes & kept
    assert "AWS::EC2::NatGateway" not in _retained(template)
    template.resource_count_is("Custom::FinalBackup", 0)


def test_a_network_of_another_stack_is_retained_with_it() -> None:
    app = App()
    network_stack, storage_stack = _stack(app, "Network"), _stack(app, "Storage")
    network = _own_network(network_stack)
    _file_system(storage_stack, network, client_security_groups=[_nodes(network_stack, network)], **RETAIN)
    app.synth()
    assert {"AWS::EC2::VPC", "AWS::EC2::Subnet"} <= _retained(Template.from_stack(network_stack))
    assert [stack.node.path for stack in storage_stack.dependencies] == ["Network"]


def test_a_second_range_of_the_vpc_is_retained_with_it() -> None:
    stack = _stack()
    vpc = ec2.Vpc(stack, "Vpc", max_azs=1, nat_gateways=0)
    ec2.CfnVPCCidrBlock(vpc, "More", vpc_id=vpc.vpc_id, cidr_block="10.1.0.0/16")
    _file_system(stack, {"vpc": vpc, "subnet": vpc.isolated_subnets[0]}, **RETAIN)
    retained = _retained(Template.from_stack(stack))
    assert {"AWS::EC2::VPC", "AWS::EC2::Subnet", "AWS::EC2::VPCCidrBlock"} <= retained


def test_a_network_of_somebody_else_is_not_touched() -> None:
    stack = _stack()
    _file_system(stack, **RETAIN)
    assert "AWS::FSx::FileSystem" in _retained(Template.from_stack(stack))


@pytest.fixture(scope="module")
def final_backup() -> Template:
    stack = _stack()
    network = _own_network(stack)
    _file_system(stack, network, client_security_groups=[_nodes(stack, network)])
    return Template.from_stack(stack)


def test_by_default_a_final_backup_is_taken_before_the_file_system_is_deleted(final_backup: Template) -> None:
    name, file_system = _one(final_backup, "AWS::FSx::FileSystem")
    assert file_system["DeletionPolicy"] == "Delete"
    _, backup = _one(final_backup, "Custom::FinalBackup")
    # What refers to the file system is deleted before it.
    assert backup["Properties"]["FileSystemId"] == {"Ref": name}
    # Three runs of 15 minutes fit.
    assert backup["Properties"]["ServiceTimeout"] == "3300"
    assert backup["DeletionPolicy"] == "Delete"


def test_a_replaced_file_system_is_kept_in_any_case(final_backup: Template, template: Template) -> None:
    for each in (final_backup, template):
        assert _one(each, "AWS::FSx::FileSystem")[1]["UpdateReplacePolicy"] == "Retain"


def test_the_key_outlives_the_file_system_for_the_sake_of_its_backup(final_backup: Template) -> None:
    keys = {n: r for n, r in final_backup.find_resources("AWS::KMS::Key").items() if n.startswith("Shared")}
    assert [key["DeletionPolicy"] for key in keys.values()] == ["Retain"]


def test_with_a_final_backup_the_network_is_not_retained(final_backup: Template) -> None:
    assert not {"AWS::EC2::VPC", "AWS::EC2::Subnet", "AWS::EC2::SecurityGroup"} & _retained(final_backup)


def test_the_handler_may_back_this_file_system_up_and_no_more(final_backup: Template) -> None:
    name, _ = _one(final_backup, "AWS::FSx::FileSystem")
    policies = final_backup.find_resources("AWS::IAM::ManagedPolicy")
    (policy,) = (p["Properties"] for n, p in policies.items() if n.startswith("Shared"))
    by_sid = {statement["Sid"]: statement for statement in policy["PolicyDocument"]["Statement"]}
    assert by_sid["BackUp"]["Action"] == "fsx:CreateBackup"
    assert {"Ref": name} in by_sid["BackUp"]["Resource"][0]["Fn::Join"][1]
    assert by_sid["FollowBackup"]["Action"] == "fsx:DescribeBackups"
    assert by_sid["FollowBackup"]["Resource"] == by_sid["BackUp"]["Resource"][1]
    assert "fsx:DeleteFileSystem" not in json.dumps(policy)
    assert all(statement["Resource"] != "*" for statement in by_sid.values())


def test_the_handler_may_use_the_key_whatever_the_domain_of_the_partition(final_backup: Template) -> None:
    policies = final_backup.find_resources("AWS::IAM::ManagedPolicy")
    (policy,) = (p["Properties"] for n, p in policies.items() if n.startswith("Shared"))
    (use,) = (s for s in policy["PolicyDocument"]["Statement"] if s["Sid"] == "KeepBackupReadable")
    service = {"Fn::Join": ["", ["fsx.", {"Ref": "AWS::Region"}, ".*"]]}
    assert use["Condition"] == {"StringLike": {"kms:ViaService": service}}


def test_the_template_of_network_and_storage_has_no_errors(
    final_backup: Template, template: Template
) -> None:
    arguments = ManualArgs(regions=["us-west-2"], ignore_checks=["W"])
    for each in (final_backup, template):
        assert lint(json.dumps(each.to_json()), config=arguments) == []


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"data_compression_type": "NONE"}, {"DataCompressionType": "NONE"}),
        ({"backup_retention_days": 0}, {"AutomaticBackupRetentionDays": 0}),
        ({"backup_retention_days": 30}, {"AutomaticBackupRetentionDays": 30}),
        (
            {"deployment_type": "PERSISTENT_1", "throughput_mbps_per_tib": 50},
            {"DeploymentType": "PERSISTENT_1", "PerUnitStorageThroughput": 50},
        ),
        (
            {"deployment_type": "SCRATCH_2", "throughput_mbps_per_tib": None, **RETAIN},
            {
                "DeploymentType": "SCRATCH_2",
                "PerUnitStorageThroughput": Match.absent(),
                "AutomaticBackupRetentionDays": Match.absent(),
                "CopyTagsToBackups": Match.absent(),
            },
        ),
        (EFA, {"EfaEnabled": True, "MetadataConfiguration": {"Mode": "AUTOMATIC"}}),
    ],
)
def test_options_reach_the_file_system(options: dict[str, Any], expected: dict[str, Any]) -> None:
    stack = _stack()
    _file_system(stack, **options)
    Template.from_stack(stack).has_resource_properties(
        "AWS::FSx::FileSystem", {"LustreConfiguration": expected}
    )


def test_a_scratch_file_system_has_no_key() -> None:
    stack = _stack()
    file_system = _file_system(stack, deployment_type="SCRATCH_2", throughput_mbps_per_tib=None, **RETAIN)
    template = Template.from_stack(stack)
    template.resource_count_is("AWS::KMS::Key", 0)
    template.has_resource_properties("AWS::FSx::FileSystem", {"KmsKeyId": Match.absent()})
    assert file_system.key is None


def test_takes_the_users_key() -> None:
    stack = _stack()
    key = kms.Key(stack, "Mine")
    assert _file_system(stack, kms_key=key).key is key
    template = Template.from_stack(stack)
    template.resource_count_is("AWS::KMS::Key", 1)
    template.has_resource_properties("AWS::FSx::FileSystem", {"KmsKeyId": stack.resolve(key.key_arn)})


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"storage_capacity_gib": 5000},
            r"file system 'Stack/Shared': storage_capacity_gib: must be 1200 or a multiple of 2400 GiB for "
            r"PERSISTENT_2, got 5000; use 4800 or 7200",
        ),
        ({"throughput_mbps_per_tib": None}, r"throughput_mbps_per_tib: must be one of 125, 250, 500, 1000"),
        ({"deployment_type": "SCRATCH_3"}, r"deployment_type: must be one of SCRATCH_1"),
        ({"data_compression_type": "GZIP"}, r"data_compression_type: must be one of NONE, LZ4, got 'GZIP'"),
        ({"backup_retention_days": 365}, r"backup_retention_days: must be from 0 .* to 90, got 365"),
        (
            {"deployment_type": "SCRATCH_2", "throughput_mbps_per_tib": None},
            r"removal: SCRATCH_2 has no backups, so no final one; retain it or use PERSISTENT_1",
        ),
        (
            {"deployment_type": "PERSISTENT_1", "throughput_mbps_per_tib": 50, "efa_enabled": True},
            r"efa_enabled: PERSISTENT_1 cannot be reached through EFA",
        ),
    ],
)
def test_settings_that_fsx_refuses_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        _file_system(_stack(), **options)


def test_a_key_for_a_scratch_file_system_is_refused() -> None:
    stack = _stack()
    with pytest.raises(
        InvalidInputError, match=r"kms_key: SCRATCH_2 is always encrypted with a key of the service"
    ):
        _file_system(
            stack,
            deployment_type="SCRATCH_2",
            throughput_mbps_per_tib=None,
            kms_key=kms.Key(stack, "Key"),
            **RETAIN,
        )


def test_sizes_and_types_may_be_tokens() -> None:
    stack = _stack()
    number = CfnParameter(stack, "Number", type="Number").value_as_number
    text = CfnParameter(stack, "Text").value_as_string
    file_system = _file_system(
        stack,
        storage_capacity_gib=number,
        throughput_mbps_per_tib=number,
        deployment_type=text,
        data_compression_type=text,
        backup_retention_days=number,
    )
    assert file_system.addresses == 2
    Template.from_stack(stack).has_resource_properties(
        "AWS::FSx::FileSystem",
        {
            "StorageCapacity": {"Ref": "Number"},
            "LustreConfiguration": Match.object_like(
                {"DeploymentType": {"Ref": "Text"}, "AutomaticBackupRetentionDays": {"Ref": "Number"}}
            ),
        },
    )


@pytest.mark.parametrize("removal", FileSystemRemoval)
def test_a_removal_is_known_by_its_name(removal: FileSystemRemoval) -> None:
    assert FileSystemRemoval.of(removal.value) is removal


def test_an_unknown_removal_is_refused() -> None:
    with pytest.raises(ValueError, match="'delete' is not a valid FileSystemRemoval"):
        FileSystemRemoval.of("delete")


def test_with_efa_all_traffic_is_open_between_file_system_and_nodes() -> None:
    stack = _stack()
    network = _foreign_network(stack)
    _file_system(stack, network, **EFA, client_security_groups=[_nodes(stack, network)])
    template = Template.from_stack(stack)
    for resource_type in RULE_TYPES:
        rules = template.find_resources(resource_type)
        assert {r["Properties"]["IpProtocol"] for n, r in rules.items() if not n.startswith("Nodes")} == {
            "-1"
        }
    Annotations.from_stack(stack).has_no_warning("*", Match.any_value())


def test_with_efa_a_second_client_is_refused() -> None:
    app = App()
    stack = _stack(app)
    network = _foreign_network(stack)
    other = ec2.SecurityGroup(stack, "Other", vpc=network["vpc"], allow_all_outbound=False)
    _file_system(stack, network, **EFA, client_security_groups=[_nodes(stack, network), other])
    with pytest.raises(
        RuntimeError, match=r"must admit nobody but itself and 'Stack/Nodes'.*'Stack/Other/Resource'"
    ):
        app.synth()


def test_with_efa_plain_clients_are_let_in() -> None:
    stack = _stack()
    network = _foreign_network(stack)
    imported = ec2.SecurityGroup.from_security_group_id(stack, "Imported", "sg-0123456789abcdef0")
    _file_system(stack, network, **EFA, client_security_groups=[imported])
    Template.from_stack(stack).has_resource_properties(
        RULE_TYPES[0], {"SourceSecurityGroupId": "sg-0123456789abcdef0", "IpProtocol": "-1"}
    )


def _resources(scope: Construct, removal: FileSystemRemoval, env: Environment | None) -> dict[str, Any]:
    stack = _stack(scope, env=env)
    network = _foreign_network(stack)
    file_system = _file_system(
        stack, network, client_security_groups=[_nodes(stack, network)], removal=removal
    )
    Tags.of(file_system).remove("Name")
    resources: dict[str, Any] = Template.from_stack(stack).to_json()["Resources"]
    for resource in resources.values():
        if resource["Type"] == "AWS::KMS::Key":
            resource["Properties"].pop("Description")
    return resources


@pytest.mark.parametrize(
    "env", [None, Environment(region="us-west-2"), Environment(account="123456789012", region="us-west-2")]
)
@pytest.mark.parametrize("removal", FileSystemRemoval)
def test_the_template_is_the_same_in_a_stage_and_under_all_feature_flags(
    recommended_feature_flags: dict[str, Any], removal: FileSystemRemoval, env: Environment | None
) -> None:
    expected = _resources(App(), removal, env)
    assert _resources(App(context=recommended_feature_flags), removal, env) == expected
    assert _resources(Stage(App(), "Prod"), removal, env) == expected


def test_works_with_an_account_and_a_region() -> None:
    stack = _stack(env=Environment(account="123456789012", region="us-west-2"))
    _file_system(stack, _own_network(stack))
    Template.from_stack(stack).resource_count_is("AWS::FSx::FileSystem", 1)


@pytest.fixture
def backing_up(custom_resource_handler: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    handler = custom_resource_handler("back_up_file_system", "fsx")
    monkeypatch.setattr(handler.module.time, "sleep", lambda seconds: None)
    return handler


FILE_SYSTEM = "fs-0123456789abcdef0"
BACKUP = "backup-0123456789abcdef0"


class _Context:
    def __init__(self, *remaining: int) -> None:
        self._remaining = list(remaining)

    def get_remaining_time_in_millis(self) -> int:
        return self._remaining.pop(0) if self._remaining else 900_000


def _event(request_type: str, **changes: Any) -> dict[str, Any]:
    return {
        "RequestType": request_type,
        "RequestId": "11111111-2222-3333-4444-555555555555",
        "ResourceProperties": {"FileSystemId": FILE_SYSTEM},
        **changes,
    }


def _backup(lifecycle: str, **more: Any) -> dict[str, Any]:
    return {
        "Backup": {
            "BackupId": BACKUP,
            "Lifecycle": lifecycle,
            "Type": "USER_INITIATED",
            "CreationTime": 0,
            "FileSystem": {"FileSystemId": FILE_SYSTEM},
            **more,
        }
    }


def _request(file_system_id: str = FILE_SYSTEM) -> dict[str, Any]:
    return {
        "FileSystemId": file_system_id,
        "ClientRequestToken": "11111111-2222-3333-4444-555555555555",
        "Tags": [{"Key": "Name", "Value": f"final backup of {file_system_id}"}],
    }


@pytest.mark.parametrize("request_type", ["Create", "Update"])
def test_the_handler_backs_nothing_up_before_deletion(backing_up: Any, request_type: str) -> None:
    assert backing_up(_event(request_type), _Context()) == [("SUCCESS", FILE_SYSTEM, None)]


def _described(lifecycle: str, **more: Any) -> dict[str, Any]:
    return {"Backups": [_backup(lifecycle, **more)["Backup"]]}


def test_the_handler_answers_only_when_the_backup_is_complete(backing_up: Any) -> None:
    backing_up.stubber.add_response("create_backup", _backup("CREATING"), _request())
    for lifecycle in ("CREATING", "TRANSFERRING", "AVAILABLE"):
        backing_up.stubber.add_response("describe_backups", _described(lifecycle), {"BackupIds": [BACKUP]})
    assert backing_up(_event("Delete"), _Context()) == [("SUCCESS", FILE_SYSTEM, None)]
    backing_up.stubber.assert_no_pending_responses()


def test_the_handler_backs_up_the_file_system_that_the_resource_was_made_for(backing_up: Any) -> None:
    backing_up.stubber.add_response("create_backup", _backup("AVAILABLE"), _request("fs-00000000000000001"))
    event = _event("Delete", PhysicalResourceId="fs-00000000000000001")
    assert backing_up(event, _Context()) == [("SUCCESS", "fs-00000000000000001", None)]


def test_the_handler_waits_for_a_backup_that_is_under_way(backing_up: Any) -> None:
    backing_up.stubber.add_client_error("create_backup", "BackupInProgress", expected_params=_request())
    backing_up.stubber.add_response("create_backup", _backup("AVAILABLE"), _request())
    assert backing_up(_event("Delete"), _Context()) == [("SUCCESS", FILE_SYSTEM, None)]
    backing_up.stubber.assert_no_pending_responses()


def test_a_file_system_that_is_gone_needs_no_backup(backing_up: Any) -> None:
    backing_up.stubber.add_client_error("create_backup", "FileSystemNotFound")
    assert backing_up(_event("Delete"), _Context()) == [("SUCCESS", FILE_SYSTEM, None)]


def test_the_handler_lets_lambda_try_again_when_its_time_is_over(backing_up: Any) -> None:
    backing_up.stubber.add_response("create_backup", _backup("CREATING"), _request())
    with pytest.raises(backing_up.module.NotYet, match=FILE_SYSTEM):
        backing_up(_event("Delete"), _Context(900_000, 59_000))
    assert backing_up.answers == []


@pytest.mark.parametrize(
    ("prepare", "reason"),
    [
        (
            lambda stubber: (
                stubber.add_response("create_backup", _backup("CREATING")),
                stubber.add_response(
                    "describe_backups", _described("FAILED", FailureDetails={"Message": "disk on fire"})
                ),
            ),
            f"{BACKUP} is FAILED: disk on fire",
        ),
        (
            lambda stubber: (
                stubber.add_response("create_backup", _backup("CREATING")),
                stubber.add_client_error("describe_backups", "BackupNotFound", "gone"),
            ),
            "gone",
        ),
        (
            lambda stubber: stubber.add_client_error("create_backup", "AccessDeniedException", "no"),
            "AccessDeniedException",
        ),
    ],
)
def test_without_a_backup_the_deletion_fails(backing_up: Any, prepare: Any, reason: str) -> None:
    prepare(backing_up.stubber)
    (answer,) = backing_up(_event("Delete"), _Context())
    assert (answer.status, answer.physical_id) == ("FAILED", FILE_SYSTEM)
    assert answer.reason.startswith(f"no final backup of {FILE_SYSTEM}: ")
    assert reason in answer.reason
