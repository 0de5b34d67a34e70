"""What users of HyperPod run into: each wrong input is answered in words, or cannot be said by default."""

from __future__ import annotations

import copy
import json
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from aws_cdk import App, Environment, Stack, assertions
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_sagemaker as sagemaker

from hyperpod_constructs.cluster_network import ClusterNetwork
from hyperpod_constructs.eks_add_ons import EksAddOns
from hyperpod_constructs.execution_role import ExecutionRole
from hyperpod_constructs.hyperpod_stack import HyperPodStack
from hyperpod_constructs.lifecycle_scripts import LifecycleScripts
from hyperpod_lifecycle.scripts_folder import scripts_folder
from hyperpod_model.catalog.iam import ECR_ACTIONS, EKS_ACTIONS, FILE_SYSTEM_READ_ACTIONS
from hyperpod_model.catalog.regions import offers
from hyperpod_model.cluster_spec import ClusterSpec, load_cluster
from hyperpod_model.faults import InvalidInputError
from hyperpod_policy import Report, review

CLUSTERS = Path(__file__).parents[1] / "examples" / "clusters"
REGION = "us-west-2"
ENV = Environment(account="111122223333", region=REGION)
ZONE = "usw2-az2"

Template = dict[str, Any]


class Refused(NamedTuple):
    """A wrong input and its answer.

    Attributes:
        symptom: What a user sees where nothing refuses it.
        answer: Gives the input, and returns what comes back.
        words: Parts of the answer.
    """

    symptom: str
    answer: Callable[[], str]
    words: tuple[str, ...]


class Impossible(NamedTuple):
    """A fault that the defaults leave no room for.

    Attributes:
        symptom: What a user sees elsewhere.
        check: Asserts what makes it impossible.
    """

    symptom: str
    check: Callable[[], None]


@cache
def _synthesized() -> str:
    app = App(outdir=tempfile.mkdtemp())
    spec = load_cluster(CLUSTERS / "llm-train.yaml").spec
    stack = HyperPodStack(app, "HyperPodStack", spec=spec, env=Environment(region=REGION))
    app.synth()
    return (Path(app.outdir) / stack.template_file).read_text(encoding="utf-8")


def default_template() -> Template:
    """The template of the usual cluster, to change."""
    decoded: Template = json.loads(_synthesized())
    return decoded


@cache
def default_report() -> Report:
    return review(default_template(), region=REGION)


def _only(template: Template, kind: str, beginning: str = "") -> tuple[str, Template]:
    (found,) = [
        (name, resource)
        for name, resource in template["Resources"].items()
        if resource["Type"] == kind and name.startswith(beginning)
    ]
    return found


def _cluster(template: Template) -> Template:
    properties: Template = _only(template, "AWS::SageMaker::Cluster")[1]["Properties"]
    return properties


def _reviewed(change: Callable[[Template], None]) -> Callable[[], str]:
    """Weaken the usual cluster's template, and return what its review says."""

    def answer() -> str:
        template = default_template()
        change(template)
        assert template != default_template()
        return review(template, region=REGION).text()

    return answer


def _spec(**changes: Any) -> ClusterSpec:
    spec = load_cluster(CLUSTERS / "llm-train.yaml").spec
    return ClusterSpec.model_validate({**copy.deepcopy(spec.model_dump(exclude_unset=True)), **changes})


def _loaded(**changes: str) -> Callable[[], str]:
    """Change words of the usual cluster's file, and return the refusal."""

    def answer() -> str:
        text = (CLUSTERS / "llm-train.yaml").read_text(encoding="utf-8")
        for old, new in changes.values():
            assert old in text
            text = text.replace(old, new)
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "cluster.yaml"
            file.write_text(text, encoding="utf-8")
            with pytest.raises(InvalidInputError) as refused:
                load_cluster(file)
        return str(refused.value)

    return answer


def _scripts(content: bytes | None, name: str = "on_init_complete.sh", **options: Any) -> Callable[[], str]:
    """Upload a folder with one script, and return the refusal."""

    def answer() -> str:
        with tempfile.TemporaryDirectory() as folder:
            if content is not None:
                file = Path(folder) / name
                file.write_bytes(content)
                file.chmod(0o755)
            stack = Stack(App(), "Stack", env=ENV)
            with pytest.raises(InvalidInputError) as refused:
                LifecycleScripts(stack, "Scripts", folder=folder, **options)
        return str(refused.value)

    return answer


# Wrong inputs


def _second_group_without_self_rules(template: Template) -> None:
    template["Resources"]["Second"] = {
        "Type": "AWS::EC2::SecurityGroup",
        "Properties": {"GroupDescription": "monitoring"},
    }
    _cluster(template)["VpcConfig"]["SecurityGroupIds"].append({"Ref": "Second"})


def _world_in_place_of_itself(template: Template) -> None:
    _, rule = _only(template, "AWS::EC2::SecurityGroupEgress", "NodeSecurityGroupSelfEgress")
    del rule["Properties"]["DestinationSecurityGroupId"]
    rule["Properties"]["CidrIp"] = "0.0.0.0/0"


def _object_action_on_the_bucket(template: Template) -> None:
    name, _ = _only(template, "AWS::S3::Bucket", "CheckpointBucket")
    _, policy = _only(template, "AWS::IAM::ManagedPolicy", "ExecutionRole")
    policy["Properties"]["PolicyDocument"]["Statement"].append(
        {"Effect": "Allow", "Action": "s3:GetObject", "Resource": {"Fn::GetAtt": [name, "Arn"]}}
    )


def _cluster_beside(beginning: str) -> Callable[[Template], None]:
    def change(template: Template) -> None:
        _, cluster = _only(template, "AWS::SageMaker::Cluster")
        kept = [name for name in cluster["DependsOn"] if not name.startswith(beginning)]
        assert kept != cluster["DependsOn"]
        cluster["DependsOn"] = kept

    return change


def _file_system_beside_its_rules(template: Template) -> None:
    del _only(template, "AWS::FSx::FileSystem")[1]["DependsOn"]


def _flow_logs_to_a_name(template: Template) -> None:
    _only(template, "AWS::EC2::FlowLog")[1]["Properties"]["LogGroupName"] = "/vpc/flow-logs"


LACKING = ("ap-northeast-2", "apne2-az1", "ml.p4de.24xlarge")
"""A region, a zone of it, and a type that it does not offer."""


def _type_that_the_region_lacks(*, vouch: bool = False) -> ClusterSpec:
    region, zone, instance_type = LACKING
    assert offers(region, instance_type).value is False
    groups = [group.model_dump(exclude_unset=True) for group in _spec().instance_groups]
    groups[-1]["instance_type"] = instance_type
    return _spec(
        region=region,
        network={"availability_zone_id": zone},
        instance_groups=groups,
        unlisted_instance_types=[instance_type] if vouch else [],
    )


def _isolated_without_s3() -> str:
    stack = Stack(App(), "Stack", env=ENV)
    network = ClusterNetwork(stack, "Network", availability_zone_id=ZONE, isolated=True)
    sagemaker.CfnCluster(
        stack,
        "Cluster",
        cluster_name="llm-train",
        vpc_config=sagemaker.CfnCluster.VpcConfigProperty(
            security_group_ids=["sg-0123456789abcdef0"], subnets=[network.accelerator_subnet.subnet_id]
        ),
    )
    template = assertions.Template.from_stack(stack).to_json()
    assert review(template, region=REGION).outcome("IsolatedEndpoints") == "pass"
    template["Resources"] = {
        name: resource
        for name, resource in template["Resources"].items()
        if resource.get("Properties", {}).get("VpcEndpointType") != "Gateway"
    }
    return review(template, region=REGION).text()


REFUSED = [
    Refused(
        "creation ends in an EFA health check error: one of two security groups lacks rules to itself",
        _reviewed(_second_group_without_self_rules),
        ("EfaSelfTraffic", "Second", "all traffic from the group itself, as a rule that names the group"),
    ),
    Refused(
        "the EFA health check fails although all outbound traffic is open",
        _reviewed(_world_in_place_of_itself),
        ("EfaSelfTraffic", "an address range does not stand in for the group"),
    ),
    Refused(
        "creation rolls back: the region has no capacity of a type, because it never offered it",
        _loaded(
            region=("region: us-west-2", f"region: {LACKING[0]}"),
            zone=(ZONE, LACKING[1]),
            instance_type=("ml.p5.48xlarge", LACKING[2]),
        ),
        (
            f"instance_groups[2].instance_type (line 30): region {LACKING[0]} has no '{LACKING[2]}'",
            "us-east-1",
        ),
    ),
    Refused(
        "lifecycle scripts fail with an empty log: the entry point is not in the folder",
        _scripts(None),
        ("on_init_complete.sh",),
    ),
    Refused(
        "lifecycle scripts fail with an empty log: lines end in CR LF",
        _scripts(b"#!/bin/bash\r\necho ready\r\n"),
        ("on_init_complete.sh", "line"),
    ),
    Refused(
        "lifecycle scripts fail with an empty log: no interpreter is named",
        _scripts(b"echo ready\n"),
        ("on_init_complete.sh", "#!"),
    ),
    Refused(
        "lifecycle scripts never arrive: a network without internet has no way to S3",
        _isolated_without_s3,
        ("IsolatedEndpoints", "no endpoint for s3"),
    ),
    Refused(
        "s3:GetObject is denied, for the policy names the bucket and not its objects",
        _reviewed(_object_action_on_the_bucket),
        ("ObjectPermissions", "the bucket's ARN followed by /*"),
    ),
    Refused(
        "an update fails: a provisioning file stands beside the configuration of the API",
        _scripts(b"{}\n", name="provisioning_parameters.json"),
        ("provisioning_parameters.json",),
    ),
    Refused(
        "slurm.conf is never made: the provisioning file is malformed",
        _scripts(
            b'{"version": "1.0.0", "controller_group": "controller",}\n',
            name="provisioning_parameters.json",
            slurm_mode="lifecycle",
        ),
        ("provisioning_parameters.json (line 1): is no JSON",),
    ),
    Refused(
        "slurmctld stops: a setting has the wrong separator",
        _scripts(b"#!/bin/bash\ncat >> accounting.conf <<EOF\nAccountingStorageTRES: gres/gpu\nEOF\n"),
        ("on_init_complete.sh (line 3)", "write AccountingStorageTRES=gres/gpu"),
    ),
    Refused(
        "the cluster hangs in Deleting: its way to the internet went first",
        _reviewed(_cluster_beside("NetworkAcceleratorInternetRoute")),
        ("ClusterDependencies", "NetworkAcceleratorInternetRoute"),
    ),
    Refused(
        "the service cannot assume the execution role: the cluster was made beside its policies",
        _reviewed(_cluster_beside("ExecutionRole")),
        ("ClusterDependencies", "ExecutionRolePermissions"),
    ),
    Refused(
        "the file system fails on port 988: it was made beside the rules of its security group",
        _reviewed(_file_system_beside_its_rules),
        ("LustreOrder",),
    ),
    Refused(
        "the subnet runs out of addresses: every node takes one for each network card",
        _loaded(
            prefix=(
                f"availability_zone_id: {ZONE}",
                f"availability_zone_id: {ZONE}\n  accelerator_subnet_prefix_length: 25",
            )
        ),
        ("accelerator_subnet_prefix_length", "addresses"),
    ),
    Refused(
        "the resource type cannot be found: the region has no HyperPod",
        _loaded(region=("region: us-west-2", "region: us-gov-west-1"), zone=(ZONE, "usgw1-az1")),
        ("us-gov-west-1", "us-east-1"),
    ),
    Refused(
        "flow logs never arrive: the name of the log group is written out",
        _reviewed(_flow_logs_to_a_name),
        ("FlowLogs", "/vpc/flow-logs"),
    ),
]


@pytest.mark.parametrize("case", REFUSED, ids=lambda case: case.symptom)
def test_a_wrong_input_is_answered_in_words(case):
    answer = case.answer()
    assert [words for words in case.words if words not in answer] == [], answer


# Defaults


def _statements(construct: Any) -> list[Template]:
    template = assertions.Template.from_stack(Stack.of(construct)).to_json()
    return [
        statement
        for resource in template["Resources"].values()
        if resource["Type"] in ("AWS::IAM::Policy", "AWS::IAM::ManagedPolicy")
        for statement in resource["Properties"]["PolicyDocument"]["Statement"]
    ]


def _allowed(construct: Any) -> set[str]:
    found: set[str] = set()
    for statement in _statements(construct):
        actions = statement["Action"]
        found.update([actions] if isinstance(actions, str) else actions)
    return found


def _names(actions: Any) -> set[str]:
    return {action.name for action in actions}


def _role(**props: Any) -> ExecutionRole:
    stack = Stack(App(), "Stack", env=ENV)
    subnet = ec2.Subnet.from_subnet_id(stack, "Subnet", "subnet-0123456789abcdef0")
    group = ec2.SecurityGroup.from_security_group_id(stack, "Group", "sg-0123456789abcdef0")
    return ExecutionRole(stack, "Role", subnets=[subnet], security_groups=[group], **props)


def _kept(*rule_ids: str) -> Callable[[], None]:
    def check() -> None:
        assert {rule_id: default_report().outcome(rule_id) for rule_id in rule_ids} == dict.fromkeys(
            rule_ids, "pass"
        )

    return check


def _a_right_call_is_accepted() -> None:
    """A type that the table does not list for the region is refused, and taken from who vouches for it."""
    with pytest.raises(ValueError, match="if you know better, list it in unlisted_instance_types"):
        _type_that_the_region_lacks()
    assert _type_that_the_region_lacks(vouch=True).instance_groups[-1].instance_type == LACKING[2]


def _file_systems_are_found() -> None:
    assert _names(FILE_SYSTEM_READ_ACTIONS) <= _allowed(_role(describe_file_systems=True))


def _scripts_are_readable() -> None:
    name, _ = _only(default_template(), "AWS::S3::Bucket", "LifecycleScripts")
    _, policy = _only(default_template(), "AWS::IAM::ManagedPolicy", "ExecutionRole")
    reading = [
        statement
        for statement in policy["Properties"]["PolicyDocument"]["Statement"]
        if "s3:GetObject" in statement["Action"] and name in json.dumps(statement["Resource"])
    ]
    assert reading


def _images_are_pulled() -> None:
    assert _names(ECR_ACTIONS) <= _allowed(_role(orchestrator="eks"))


def _pods_get_addresses() -> None:
    assert _names(EKS_ACTIONS) <= _allowed(_role(orchestrator="eks"))


def _operators_have_an_association_of_their_own() -> None:
    stack = Stack(App(), "Stack", env=ENV)
    EksAddOns(
        stack,
        "AddOns",
        cluster_name="train",
        cluster_arn="arn:aws:eks:us-west-2:111122223333:cluster/train",
        names=["cert-manager", "eks-pod-identity-agent", "amazon-sagemaker-hyperpod-training-operator"],
        versions={},
    )
    found = assertions.Template.from_stack(stack)
    add_ons = found.find_resources("AWS::EKS::Addon")
    assert not any("PodIdentityAssociations" in add_on["Properties"] for add_on in add_ons.values())
    (association,) = found.find_resources("AWS::EKS::PodIdentityAssociation").values()
    assert association["Properties"]["ServiceAccount"] == "hp-training-operator-controller-manager"


def _images_have_a_volume_of_their_own() -> None:
    (workers,) = [
        group
        for group in _cluster(default_template())["InstanceGroups"]
        if group["InstanceGroupName"] == "workers"
    ]
    sizes = [
        storage["EbsVolumeConfig"]["VolumeSizeInGB"]
        for storage in workers["InstanceStorageConfigs"]
        if "EbsVolumeConfig" in storage
    ]
    assert sizes == [500]


def _nothing_is_provisioned_by_hand() -> None:
    assert not [*scripts_folder().rglob("provisioning_parameters.json")]
    for group in _cluster(default_template())["InstanceGroups"]:
        assert any("FsxLustreConfig" in storage for storage in group["InstanceStorageConfigs"])
        assert "SlurmConfig" in group
    template = assertions.Template.from_stack(
        HyperPodStack(App(), "HyperPodStack", spec=_spec(file_system=None), env=Environment(region=REGION))
    )
    template.resource_count_is("AWS::FSx::FileSystem", 0)
    assert "FsxLustreConfig" not in json.dumps(template.to_json())


def _both_orchestrators_are_read() -> None:
    found = {load_cluster(path).spec.orchestrator for path in CLUSTERS.glob("*.yaml")}
    assert found == {"slurm", "eks"}


def _a_changed_script_has_another_prefix() -> None:
    uris = set()
    for text in (b"#!/bin/bash\necho one\n", b"#!/bin/bash\necho other\n"):
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "on_init_complete.sh"
            file.write_bytes(text)
            file.chmod(0o755)
            scripts = LifecycleScripts(Stack(App(), "Stack", env=ENV), "Scripts", folder=folder)
            uris.add(scripts.source_s3_uri.rpartition("/")[2])
    assert len(uris) == 2


IMPOSSIBLE = [
    Impossible("EFA health check error", _kept("EfaSelfTraffic")),
    Impossible("a validator refuses what is right", _a_right_call_is_accepted),
    Impossible(
        "EFA for the file system is skipped, since the role cannot look it up", _file_systems_are_found
    ),
    Impossible("an object is denied", _kept("ObjectPermissions")),
    Impossible("the managed policy does not read the scripts' bucket", _scripts_are_readable),
    Impossible("an image cannot be pulled", _images_are_pulled),
    Impossible("pods get no address", _pods_get_addresses),
    Impossible("an add-on refuses the association within it", _operators_have_an_association_of_their_own),
    Impossible("no space is left for container images", _images_have_a_volume_of_their_own),
    Impossible(
        "a provisioning file is malformed, or mounts what is not there", _nothing_is_provisioned_by_hand
    ),
    Impossible("code that takes every cluster for one on EKS", _both_orchestrators_are_read),
    Impossible("the cluster hangs in Deleting, or cannot assume its role", _kept("ClusterDependencies")),
    Impossible("the file system fails on port 988", _kept("LustreOrder", "LustrePorts")),
    Impossible("a script was changed and nothing happens", _a_changed_script_has_another_prefix),
    Impossible("flow logs never arrive", _kept("FlowLogs")),
]


@pytest.mark.parametrize("case", IMPOSSIBLE, ids=lambda case: case.symptom)
def test_a_fault_has_no_room_by_default(case):
    case.check()
