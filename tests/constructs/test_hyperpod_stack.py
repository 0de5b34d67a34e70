"""The whole stack: what a specification says, and what the template says."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from aws_cdk import App, Environment, LegacyStackSynthesizer, Stack, Stage, Validations
from aws_cdk.assertions import Annotations, Match
from create_cluster_model import assert_clusters_are_legal
from stacks import only, resources

from hyperpod_constructs import HyperPodChecks, HyperPodStack
from hyperpod_model.cluster_spec import ClusterSpec, load_cluster
from hyperpod_model.faults import UNKNOWN, InvalidInputError

CLUSTERS = Path(__file__).parents[2] / "examples" / "clusters"
SPECS = sorted(path.name for path in CLUSTERS.glob("*.yaml"))
REQUEST = "llm-train-request.json"
EXAMPLES = [*SPECS, REQUEST]
ACCOUNT = "111122223333"


@cache
def spec_of(name: str) -> ClusterSpec:
    if name == REQUEST:
        return load_cluster(CLUSTERS / name, region="us-west-2", availability_zone_id="usw2-az2").spec
    return load_cluster(CLUSTERS / name).spec


def stack_of(spec: ClusterSpec, **props: Any) -> HyperPodStack:
    return HyperPodStack(App(), "HyperPodStack", spec=spec, **props)


def synthesized(stack: Stack) -> dict[str, Any]:
    template: dict[str, Any] = App.of(stack).synth().get_stack_artifact(stack.artifact_id).template
    return template


@cache
def template_of(name: str) -> dict[str, Any]:
    return synthesized(stack_of(spec_of(name)))


def changed(example: str = "llm-train.yaml", **changes: Any) -> ClusterSpec:
    return ClusterSpec.model_validate({**spec_of(example).model_dump(exclude_unset=True), **changes})


def lint(template: Mapping[str, Any], region: str | None) -> list[str]:
    """What cfn-lint finds; W3005 only says that a dependency on a whole construct says some things twice."""
    from cfnlint.api import lint as lint_template

    found = lint_template(json.dumps(template), regions=[str(region)])
    return [f"{one.rule.id} {one.message}" for one in found if one.rule.id != "W3005"]


def differences(wanted: Any, got: Any, path: str = "") -> Iterator[str]:
    if wanted is UNKNOWN:
        if got in (None, [], "", {}):
            yield f"{path}: {got!r}, which is nothing"
    elif isinstance(wanted, Mapping) and isinstance(got, Mapping):
        for key in {*wanted, *got}:
            if key not in wanted or key not in got:
                yield f"{path}.{key}: only in {'the request' if key in wanted else 'the template'}"
            else:
                yield from differences(wanted[key], got[key], f"{path}.{key}")
    elif isinstance(wanted, list) and isinstance(got, list) and len(wanted) == len(got):
        for index, (one, other) in enumerate(zip(wanted, got, strict=True)):
            yield from differences(one, other, f"{path}[{index}]")
    elif wanted != got:
        yield f"{path}: {wanted!r} in the request, {got!r} in the template"


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_template_says_what_the_specification_says(name: str) -> None:
    _, cluster = only(template_of(name), "AWS::SageMaker::Cluster")
    properties = dict(cluster["Properties"])
    spec = spec_of(name)
    recorded = {tag["Key"]: tag["Value"] for tag in properties.pop("Tags")}
    request = spec.to_request()
    request.pop("Tags", None)
    assert list(differences(request, properties)) == []
    assert spec.tags.items() <= recorded.items()
    assert recorded["hyperpod:spare-nodes"] == str(spec.resilience.spare_nodes)


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_service_and_the_registry_take_the_template(name: str) -> None:
    assert_clusters_are_legal(template_of(name))
    assert lint(template_of(name), spec_of(name).region) == []


def test_the_registry_refuses_a_bad_template() -> None:
    template = template_of("llm-train.yaml")
    name, cluster = only(template, "AWS::SageMaker::Cluster")
    broken = {**cluster, "Properties": {**cluster["Properties"], "NodeRecovery": "Sometimes"}}
    template = {**template, "Resources": {**template["Resources"], name: broken}}
    assert any("Sometimes" in found for found in lint(template, "us-west-2"))


def test_differences_are_found() -> None:
    assert list(differences({"A": [1, UNKNOWN]}, {"A": [2, []], "B": 1})) != []


def test_the_stack_is_named_after_the_cluster_and_protected() -> None:
    stack = stack_of(spec_of("llm-train.yaml"))
    assert stack.stack_name == "hyperpod-llm-train"
    assert stack.termination_protection is True
    assert stack.artifact_id == "HyperPodStack"


def test_another_cluster_never_replaces_the_first() -> None:
    other = changed(name="llm-train-2")
    assert stack_of(other).stack_name == "hyperpod-llm-train-2"


@pytest.fixture(scope="module")
def default() -> dict[str, Any]:
    return template_of("llm-train.yaml")


@pytest.mark.parametrize(
    ("kind", "count"),
    [
        ("AWS::EC2::VPC", 1),
        ("AWS::EC2::NatGateway", 1),
        ("AWS::FSx::FileSystem", 1),
        ("AWS::S3::Bucket", 3),
        ("AWS::S3::BucketPolicy", 3),
        ("AWS::SageMaker::Cluster", 1),
        ("Custom::CDKBucketDeployment", 1),
    ],
)
def test_the_default_stack_makes(default: dict[str, Any], kind: str, count: int) -> None:
    assert len(resources(default, kind)) == count


def test_the_cluster_waits_for_all_that_nodes_need(default: dict[str, Any]) -> None:
    _, cluster = only(default, "AWS::SageMaker::Cluster")
    waits_for = {default["Resources"][logical_id]["Type"] for logical_id in cluster["DependsOn"]}
    assert {
        "AWS::IAM::ManagedPolicy",
        "AWS::S3::BucketPolicy",
        "AWS::EC2::Route",
        "AWS::EC2::NatGateway",
        "AWS::EC2::SecurityGroupIngress",
        "AWS::EC2::SecurityGroupEgress",
        "AWS::EC2::SubnetNetworkAclAssociation",
        "AWS::FSx::FileSystem",
        "Custom::CDKBucketDeployment",
    } <= waits_for


def test_no_node_runs_before_its_buckets_are_locked(default: dict[str, Any]) -> None:
    _, cluster = only(default, "AWS::SageMaker::Cluster")
    policies = resources(default, "AWS::S3::BucketPolicy")
    scripts_and_checkpoints = {name for name in policies if "AccessLogs" not in name}
    assert len(scripts_and_checkpoints) == 2
    assert scripts_and_checkpoints <= set(cluster["DependsOn"])


def test_on_slurm_the_execution_role_is_the_writer_of_checkpoints(default: dict[str, Any]) -> None:
    (policy,) = (
        policy
        for name, policy in resources(default, "AWS::S3::BucketPolicy").items()
        if name.startswith("CheckpointBucket")
    )
    (denial,) = (
        statement
        for statement in policy["Properties"]["PolicyDocument"]["Statement"]
        if statement.get("Sid") == "DenyObjectWritesExceptWriters"
    )
    role, _ = next(
        (name, role) for name, role in resources(default, "AWS::IAM::Role").items() if "ExecutionRole" in name
    )
    assert denial["Condition"]["ArnNotEquals"]["aws:PrincipalArn"] == [{"Fn::GetAtt": [role, "Arn"]}]


def test_outputs_say_what_people_need_next(default: dict[str, Any]) -> None:
    outputs = default["Outputs"]
    assert outputs["ClusterName"]["Value"] == "llm-train"
    assert {
        "ClusterArn",
        "NodeLogGroup",
        "SessionTarget",
        "CheckpointBucketName",
        "LifecycleScriptsUri",
        "FileSystemSource",
    } <= outputs.keys()
    assert outputs["SpareNodes"]["Value"] == "1"


def test_tags_are_on_the_cluster_and_on_what_it_needs() -> None:
    template = synthesized(stack_of(changed(tags={"team": "foundation"})))
    tag = {"Key": "team", "Value": "foundation"}
    for kind in (
        "AWS::SageMaker::Cluster",
        "AWS::FSx::FileSystem",
        "AWS::EC2::VPC",
        "AWS::EC2::SecurityGroup",
    ):
        for resource in resources(template, kind).values():
            assert tag in resource["Properties"]["Tags"], kind


def test_what_the_specification_does_without_is_not_made() -> None:
    template = synthesized(stack_of(changed(file_system=None, checkpoint_bucket=None)))
    assert resources(template, "AWS::FSx::FileSystem") == {}
    assert not any("Checkpoint" in name for name in template["Resources"])
    assert "FileSystemSource" not in template["Outputs"]
    assert "CheckpointBucketName" not in template["Outputs"]


def test_an_existing_network_and_role_are_used_and_not_changed() -> None:
    template = template_of("small-existing-network.yaml")
    for kind in ("AWS::EC2::VPC", "AWS::EC2::Subnet", "AWS::EC2::NetworkAcl", "AWS::EC2::SecurityGroup"):
        made = [name for name in resources(template, kind) if "FileSystem" not in name]
        assert made == [], kind


EXISTING_ROLES = [f"arn:aws:iam::{ACCOUNT}:role/hyperpod-{name}" for name in ("controller", "workers")]


@pytest.fixture(scope="module")
def with_existing_roles() -> dict[str, Any]:
    groups = spec_of("llm-train.yaml").model_dump(exclude_unset=True)["instance_groups"]
    controller, login, workers = groups
    roles = dict(zip((controller["name"], workers["name"]), EXISTING_ROLES, strict=True))
    of_groups = [{**group, "execution_role_arn": roles.get(group["name"])} for group in groups]
    assert login["name"] not in roles
    return synthesized(stack_of(changed(instance_groups=of_groups)))


def allowances(template: dict[str, Any], kind: str, prefix: str, roles: list[str]) -> list[dict[str, Any]]:
    """Allowances for the roles in the one policy of a kind whose logical id begins so."""
    document = "KeyPolicy" if kind == "AWS::KMS::Key" else "PolicyDocument"
    (policy,) = (one for name, one in resources(template, kind).items() if name.startswith(prefix))
    return [
        statement
        for statement in policy["Properties"][document]["Statement"]
        if statement["Effect"] == "Allow" and statement["Principal"]["AWS"] in (roles, *roles)
    ]


@pytest.mark.parametrize(
    ("prefix", "on_bucket", "on_objects", "on_key"),
    [
        ("LifecycleScripts", "s3:ListBucket", "s3:GetObject", "kms:Decrypt"),
        (
            "CheckpointBucket",
            ["s3:GetBucketLocation", "s3:ListBucket"],
            ["s3:DeleteObject", "s3:GetObject", "s3:PutObject"],
            ["kms:Decrypt", "kms:GenerateDataKey"],
        ),
    ],
)
def test_buckets_and_keys_let_existing_node_roles_in(
    with_existing_roles: dict[str, Any], prefix: str, on_bucket: Any, on_objects: Any, on_key: Any
) -> None:
    of_bucket = allowances(with_existing_roles, "AWS::S3::BucketPolicy", prefix, EXISTING_ROLES)
    assert [statement["Action"] for statement in of_bucket] == [on_bucket, on_objects]
    (of_key,) = allowances(with_existing_roles, "AWS::KMS::Key", prefix, EXISTING_ROLES)
    assert of_key["Action"] == on_key
    assert of_key["Condition"] == {"StringLike": {"kms:ViaService": "s3.us-west-2.*"}}


def test_existing_node_roles_write_checkpoints_beside_the_one_that_is_made(
    with_existing_roles: dict[str, Any],
) -> None:
    (policy,) = (
        policy
        for name, policy in resources(with_existing_roles, "AWS::S3::BucketPolicy").items()
        if name.startswith("CheckpointBucket")
    )
    (made,) = (name for name in resources(with_existing_roles, "AWS::IAM::Role") if "ExecutionRole" in name)
    for sid in ("DenyObjectWritesExceptWriters", "DenyObjectReadsExceptReaders"):
        (denial,) = (s for s in policy["Properties"]["PolicyDocument"]["Statement"] if s.get("Sid") == sid)
        assert denial["Condition"]["ArnNotEquals"]["aws:PrincipalArn"] == [
            {"Fn::GetAtt": [made, "Arn"]},
            *EXISTING_ROLES,
        ]


def test_an_existing_role_is_not_let_into_scripts_that_its_group_does_not_run() -> None:
    groups = spec_of("llm-train.yaml").model_dump(exclude_unset=True)["instance_groups"]
    groups[-1]["execution_role_arn"] = EXISTING_ROLES[1]
    groups[-1]["lifecycle_scripts"] = {"source_s3_uri": "s3://sagemaker-elsewhere/scripts"}
    template = synthesized(stack_of(changed(instance_groups=groups)))
    role = EXISTING_ROLES[1:]
    assert allowances(template, "AWS::S3::BucketPolicy", "LifecycleScripts", role) == []
    assert allowances(template, "AWS::KMS::Key", "LifecycleScripts", role) == []


def test_a_foreign_script_location_is_used_as_it_is() -> None:
    template = template_of("own-lifecycle-scripts.yaml")
    assert resources(template, "Custom::CDKBucketDeployment") == {}


def test_one_key_is_imported_once() -> None:
    arn = f"arn:aws:kms:us-west-2:{ACCOUNT}:key/11111111-2222-3333-4444-555555555555"
    groups = [
        {
            **group,
            "root_volume_kms_key_arn": arn,
            "secondary_volume_kms_key_arn": arn,
            "secondary_volume_size_gib": 100,
        }
        for group in spec_of("llm-train.yaml").model_dump(exclude_unset=True)["instance_groups"]
    ]
    _, cluster = only(synthesized(stack_of(changed(instance_groups=groups))), "AWS::SageMaker::Cluster")
    for group in cluster["Properties"]["InstanceGroups"]:
        volumes = [
            one["EbsVolumeConfig"] for one in group["InstanceStorageConfigs"] if "EbsVolumeConfig" in one
        ]
        assert [volume["VolumeKmsKeyId"] for volume in volumes] == [arn, arn]


def test_feature_flags_change_nothing(
    default: dict[str, Any], recommended_feature_flags: dict[str, Any]
) -> None:
    app = App(context=recommended_feature_flags)
    assert synthesized(HyperPodStack(app, "HyperPodStack", spec=spec_of("llm-train.yaml"))) == default


def test_a_synthesis_is_repeatable(default: dict[str, Any]) -> None:
    assert synthesized(stack_of(spec_of("llm-train.yaml"))) == default


@pytest.mark.parametrize(
    "env",
    [
        Environment(account=ACCOUNT, region="us-west-2"),
        Environment(region="us-west-2"),
        Environment(),
    ],
)
def test_neither_account_nor_region_is_needed(env: Environment, default: dict[str, Any]) -> None:
    template = synthesized(stack_of(spec_of("llm-train.yaml"), env=env))
    assert {name: one["Type"] for name, one in template["Resources"].items()} == {
        name: one["Type"] for name, one in default["Resources"].items()
    }


def test_it_stands_in_a_stage() -> None:
    stage = Stage(App(), "Prod", env=Environment(account=ACCOUNT, region="us-west-2"))
    stack = HyperPodStack(stage, "HyperPodStack", spec=spec_of("llm-train.yaml"))
    assert stack.stack_name == "hyperpod-llm-train"
    template = stage.synth().get_stack_artifact(stack.artifact_id).template
    assert_clusters_are_legal(template)


def test_two_clusters_stand_in_one_app() -> None:
    app = App()
    first = HyperPodStack(app, "First", spec=spec_of("llm-train.yaml"))
    second = HyperPodStack(app, "Second", spec=changed(name="llm-train-2"))
    assembly = app.synth()
    assert assembly.get_stack_artifact(first.artifact_id).stack_name == "hyperpod-llm-train"
    assert assembly.get_stack_artifact(second.artifact_id).stack_name == "hyperpod-llm-train-2"


ADMINISTRATOR = f"arn:aws:iam::{ACCOUNT}:role/bucket-administrator"


def test_administrators_may_change_every_bucket() -> None:
    template = synthesized(stack_of(changed(administrator_role_arns=[ADMINISTRATOR])))
    policies = resources(template, "AWS::S3::BucketPolicy").values()
    assert len(policies) == 3
    for policy in policies:
        (denial,) = (
            statement
            for statement in policy["Properties"]["PolicyDocument"]["Statement"]
            if statement.get("Sid") == "DenyConfigurationExceptAdministrators"
        )
        assert ADMINISTRATOR in denial["Condition"]["ArnNotEquals"]["aws:PrincipalArn"]


def test_a_synthesizer_without_a_role_needs_administrators() -> None:
    with pytest.raises(InvalidInputError, match="administrators"):
        stack_of(spec_of("llm-train.yaml"), synthesizer=LegacyStackSynthesizer())
    named = changed(
        administrator_role_arns=[ADMINISTRATOR], lifecycle_scripts={"source_s3_uri": "s3://sagemaker-a/b"}
    )
    stack_of(named, synthesizer=LegacyStackSynthesizer())


def with_first_group(**changes: Any) -> ClusterSpec:
    first, *others = spec_of("llm-train.yaml").model_dump(exclude_unset=True)["instance_groups"]
    return changed(instance_groups=[{**first, **changes}, *others])


def test_a_group_may_start_another_script_of_the_same_upload() -> None:
    scripts = {"source_s3_uri": "s3://sagemaker-scripts/abc"}
    spec = with_first_group(lifecycle_scripts={"on_init_complete": "other.sh"}).model_dump(exclude_unset=True)
    spec = ClusterSpec.model_validate({**spec, "lifecycle_scripts": scripts})
    _, cluster = only(synthesized(stack_of(spec)), "AWS::SageMaker::Cluster")
    first, second, _ = (group["LifeCycleConfig"] for group in cluster["Properties"]["InstanceGroups"])
    assert first["OnInitComplete"] == "other.sh"
    assert second["OnInitComplete"] == "on_init_complete.sh"
    assert first["SourceS3Uri"] == second["SourceS3Uri"] == scripts["source_s3_uri"]


def test_a_script_that_is_not_uploaded_cannot_be_started() -> None:
    spec = with_first_group(lifecycle_scripts={"on_init_complete": "other.sh"})
    with pytest.raises(InvalidInputError, match=r"entry_point: needs a file of the folder, got 'other\.sh'"):
        stack_of(spec)


def test_findings_are_acknowledged_by_name_and_with_a_reason() -> None:
    reason = "the data is in the archive too"
    spec = changed(
        file_system={"removal": "retain"}, acknowledged_findings={"HyperPodChecks::LustreRemoval": reason}
    )
    stack = stack_of(spec)
    Validations.of(stack.node.root).add_plugins(HyperPodChecks())
    report = json.loads((Path(App.of(stack).synth().directory) / "validation-report.json").read_text())
    (pack,) = (one for one in report["pluginReports"] if one["pluginName"] == "HyperPodChecks")
    assert pack["violations"] == []
    assert [one["reason"] for one in pack["suppressedViolations"]] == [reason]


def egress_ports(template: dict[str, Any]) -> set[Any]:
    rules = resources(template, "AWS::EC2::SecurityGroupEgress").values()
    return {rule["Properties"]["FromPort"] for rule in rules if "CidrIp" in rule["Properties"]}


def test_port_80_is_opened_by_name_only(default: dict[str, Any]) -> None:
    network = spec_of("llm-train.yaml").network.model_dump(exclude_unset=True)
    opened = synthesized(stack_of(changed(network={**network, "http_egress": True})))
    assert egress_ports(default) == {443}
    assert egress_ports(opened) == {443, 80}


def test_readers_of_checkpoints_are_let_in() -> None:
    template = synthesized(stack_of(changed(checkpoint_bucket={"reader_role_arns": EXISTING_ROLES})))
    of_bucket = allowances(template, "AWS::S3::BucketPolicy", "CheckpointBucket", EXISTING_ROLES)
    assert [statement["Action"] for statement in of_bucket] == ["s3:ListBucket", "s3:GetObject"]
    (of_key,) = allowances(template, "AWS::KMS::Key", "CheckpointBucket", EXISTING_ROLES)
    assert of_key["Action"] == "kms:Decrypt"


def test_one_role_may_run_nodes_and_read_checkpoints() -> None:
    (role, _) = EXISTING_ROLES
    spec = with_first_group(execution_role_arn=role).model_dump(exclude_unset=True)
    spec = {**spec, "checkpoint_bucket": {"reader_role_arns": [role]}}
    template = synthesized(stack_of(ClusterSpec.model_validate(spec)))
    policies = resources(template, "AWS::S3::BucketPolicy")
    (policy,) = (one for name, one in policies.items() if name.startswith("CheckpointBucket"))
    ids = [one["Sid"] for one in policy["Properties"]["PolicyDocument"]["Statement"] if "Sid" in one]
    assert len(ids) == len(set(ids))


def test_an_existing_network_leaves_no_warning_that_its_user_cannot_mend() -> None:
    stack = stack_of(spec_of("small-existing-network.yaml"))
    Annotations.from_stack(stack).has_no_warning("*", Match.string_like_regexp("aws-cdk/aws-ec2"))


@pytest.mark.parametrize(("http_egress", "warnings"), [(False, 1), (True, 0)])
def test_scripts_that_call_apt_behind_a_closed_port_are_warned_of(
    tmp_path: Path, http_egress: bool, warnings: int
) -> None:
    script = tmp_path / "on_init_complete.sh"
    script.write_text("#!/bin/bash\napt-get install -y htop\n")
    script.chmod(0o755)
    network = spec_of("llm-train.yaml").network.model_dump(exclude_unset=True)
    stack = stack_of(
        changed(network={**network, "http_egress": http_egress}, lifecycle_scripts={"folder": str(tmp_path)})
    )
    found = Annotations.from_stack(stack).find_warning(
        "*", Match.string_like_regexp(r"on_init_complete\.sh \(line 2\): runs apt-get, and the nodes'")
    )
    assert len(found) == warnings


def test_a_folder_may_bring_its_own_parameters(tmp_path: Path) -> None:
    script = tmp_path / "on_init_complete.sh"
    script.write_text("#!/bin/bash\ntrue\n")
    script.chmod(0o755)
    (tmp_path / "parameters.json").write_text("{}\n")
    template = synthesized(stack_of(changed(lifecycle_scripts={"folder": str(tmp_path)})))
    _, upload = only(template, "Custom::CDKBucketDeployment")
    assert len(upload["Properties"]["SourceObjectKeys"]) == 1


@cache
def eks_template() -> dict[str, Any]:
    return template_of("llm-train-eks.yaml")


def waits_for(template: dict[str, Any], logical_id: str) -> set[str]:
    """Everything that is created before a resource, by logical id."""
    text = {name: json.dumps(resource) for name, resource in template["Resources"].items()}
    found: set[str] = set()
    todo = [logical_id]
    while todo:
        resource = template["Resources"][todo.pop()]
        named = {name for name in text if f'"{name}"' in json.dumps(resource)} - found - {logical_id}
        found |= named
        todo += named
    return found


def types_of(template: dict[str, Any], names: set[str]) -> set[str]:
    return {template["Resources"][name]["Type"] for name in names}


def test_on_eks_the_chart_is_there_before_the_cluster_and_operators_after() -> None:
    template = eks_template()
    cluster, _ = only(template, "AWS::SageMaker::Cluster")
    before = types_of(template, waits_for(template, cluster))
    assert {"AWS::EKS::Cluster", "Custom::AWSCDK-EKS-HelmChart", "AWS::EC2::SecurityGroupIngress"} <= before
    for name, add_on in resources(template, "AWS::EKS::Addon").items():
        after = cluster in waits_for(template, name)
        assert after is ("Operators" in name), add_on["Properties"]["AddonName"]


def test_on_eks_only_the_pods_role_writes_checkpoints() -> None:
    template = eks_template()
    (policy,) = (
        policy
        for name, policy in resources(template, "AWS::S3::BucketPolicy").items()
        if name.startswith("CheckpointBucket")
    )
    (denial,) = (
        statement
        for statement in policy["Properties"]["PolicyDocument"]["Statement"]
        if statement.get("Sid") == "DenyObjectWritesExceptWriters"
    )
    (writer,) = denial["Condition"]["ArnNotEquals"]["aws:PrincipalArn"]
    assert writer["Fn::GetAtt"][0].startswith("TrainingPodRole")


def test_on_eks_the_service_mounts_nothing_and_tiers_are_on() -> None:
    _, cluster = only(eks_template(), "AWS::SageMaker::Cluster")
    properties = cluster["Properties"]
    assert properties["TieredStorageConfig"] == {"Mode": "Enable", "InstanceMemoryAllocationPercentage": 20}
    volumes = [volume for group in properties["InstanceGroups"] for volume in group["InstanceStorageConfigs"]]
    assert all("EbsVolumeConfig" in volume for volume in volumes)
    assert {"Key": "SageMaker", "Value": "true"} in properties["Tags"]


def test_outputs_say_what_jobs_on_eks_need() -> None:
    outputs = eks_template()["Outputs"]
    assert outputs["CheckpointIntervalSteps"]["Value"] == "500"
    assert outputs["TrainingNamespace"]["Value"] == "kubeflow"
    assert outputs["TrainingServiceAccount"]["Value"] == "trainer"


def eks(**changes: Any) -> ClusterSpec:
    return changed("llm-train-eks.yaml", **changes)


def test_tiers_are_turned_off_in_so_many_words() -> None:
    _, cluster = only(
        synthesized(stack_of(eks(tiered_checkpointing={"enabled": False}))), "AWS::SageMaker::Cluster"
    )
    assert cluster["Properties"]["TieredStorageConfig"] == {"Mode": "Disable"}


def test_an_isolated_cluster_has_no_way_out() -> None:
    network = spec_of("llm-train-eks.yaml").network.model_dump(exclude_unset=True)
    template = synthesized(stack_of(eks(network={**network, "isolated": True})))
    for kind in ("AWS::EC2::NatGateway", "AWS::EC2::InternetGateway", "AWS::EC2::VPCGatewayAttachment"):
        assert resources(template, kind) == {}, kind
    services = {
        json.dumps(endpoint["Properties"]["ServiceName"])
        for endpoint in resources(template, "AWS::EC2::VPCEndpoint").values()
    }
    for service in (".s3", ".ecr.api", ".ecr.dkr", ".sts", ".eks", ".eks-auth", ".ssm", ".sagemaker.api"):
        assert any(f'{service}"' in name for name in services), service


def test_autoscaling_brings_its_role() -> None:
    template = synthesized(stack_of(eks(auto_scaling={})))
    _, cluster = only(template, "AWS::SageMaker::Cluster")
    assert cluster["Properties"]["AutoScaling"]["Mode"] == "Enable"
    (role,) = cluster["Properties"]["ClusterRole"]["Fn::GetAtt"][:1]
    trust = template["Resources"][role]["Properties"]["AssumeRolePolicyDocument"]["Statement"]
    assert [one["Principal"] for one in trust] == [{"Service": "hyperpod.sagemaker.amazonaws.com"}]


def test_a_bucket_shows_in_the_file_system() -> None:
    repository = {"path": "/data", "bucket_name": "sagemaker-corpus"}
    file_system = {"removal": "retain", "data_repository": repository}
    template = synthesized(stack_of(changed(file_system=file_system)))
    _, association = only(template, "AWS::FSx::DataRepositoryAssociation")
    assert association["Properties"]["FileSystemPath"] == "/data"
    _, made = only(template, "AWS::FSx::FileSystem")
    assert made["Properties"]["LustreConfiguration"]["AutomaticBackupRetentionDays"] == 0


def test_irsa_on_an_existing_cluster_needs_no_custom_resource() -> None:
    template = template_of("llm-train-eks-existing.yaml")
    assert resources(template, "Custom::AWSCDKCfnJson") == {}
    (role,) = (
        role
        for name, role in resources(template, "AWS::IAM::Role").items()
        if name.startswith("TrainingPodRole")
    )
    (statement,) = role["Properties"]["AssumeRolePolicyDocument"]["Statement"]
    assert set(statement["Condition"]) == {"StringEquals"}
    assert not any("*" in str(value) for value in statement["Condition"]["StringEquals"].values())


def test_an_issuer_may_have_its_scheme_as_describe_cluster_shows_it() -> None:
    name = "llm-train-eks-existing.yaml"
    said = spec_of(name)
    assert said.training_pods is not None
    pods = said.training_pods.model_copy(update={"issuer": f"https://{said.training_pods.issuer}"})
    template = synthesized(stack_of(said.model_copy(update={"training_pods": pods})))
    assert template == template_of(name)


def test_nodes_of_a_new_eks_cluster_hand_operators_their_roles_whatever_the_pods_use() -> None:
    pods = {"namespace": "kubeflow", "service_account": "trainer", "identity": "irsa"}
    template = synthesized(stack_of(eks(training_pods=pods)))
    (policy,) = (
        policy
        for name, policy in resources(template, "AWS::IAM::ManagedPolicy").items()
        if name.startswith("ExecutionRole")
    )
    sids = {statement.get("Sid") for statement in policy["Properties"]["PolicyDocument"]["Statement"]}
    assert "PodIdentity" in sids
    existing = template_of("llm-train-eks-existing.yaml")
    (policy,) = (
        policy
        for name, policy in resources(existing, "AWS::IAM::ManagedPolicy").items()
        if name.startswith("ExecutionRole")
    )
    assert "PodIdentity" not in json.dumps(policy)


def test_a_slurm_cluster_loads_nothing_of_eks() -> None:
    program = (
        "import sys; from hyperpod_constructs import HyperPodStack; from aws_cdk import App\n"
        "from hyperpod_model.cluster_spec import load_cluster\n"
        f"HyperPodStack(App(), 'S', spec=load_cluster({str(CLUSTERS / 'llm-train.yaml')!r}).spec)\n"
        "print([name for name in sys.modules if 'eks' in name and name.startswith('hyperpod_constructs')])"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"
