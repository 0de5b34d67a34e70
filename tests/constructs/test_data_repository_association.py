from __future__ import annotations

import json
from typing import Any

import pytest
from aws_cdk import App, CfnParameter, Environment, Stack, Stage, Token
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_fsx as fsx
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_s3 as s3
from aws_cdk.assertions import Annotations, Match, Template
from cfnlint.api import ManualArgs, lint
from policy_evaluator import ACCOUNT, evaluate, resolve, role_request

from hyperpod_constructs.checkpoint_bucket import CheckpointBucket
from hyperpod_constructs.data_repository_association import (
    EXPORT_WARNING,
    FOREIGN_BUCKET_WARNING,
    FOREIGN_KEY_WARNING,
    DataRepositoryAssociation,
)
from hyperpod_constructs.lifecycle_scripts import LifecycleScripts
from hyperpod_constructs.lustre_file_system import FileSystemRemoval, LustreFileSystem
from hyperpod_model.faults import InvalidInputError

ALL = ["NEW", "CHANGED", "DELETED"]
ROLES = f"arn:aws:iam::{ACCOUNT}:role/aws-service-role/s3.data-source.lustre.fsx.amazonaws.com/"


def _stack(name: str = "Stack", app: App | None = None, **options: Any) -> Stack:
    return Stack(App() if app is None else app, name, **options)


def _file_system(stack: Stack, id: str = "Scratch", **options: Any) -> LustreFileSystem:
    vpc = ec2.Vpc.from_vpc_attributes(
        stack, f"{id}Vpc", vpc_id="vpc-0123456789abcdef0", availability_zones=["us-west-2a"]
    )
    said: dict[str, Any] = {
        "storage_capacity_gib": 4800,
        "throughput_mbps_per_tib": 250,
        "backup_retention_days": 0,
        "removal": FileSystemRemoval.RETAIN,
    }
    subnet = ec2.Subnet.from_subnet_id(stack, f"{id}Subnet", "subnet-0123456789abcdef0")
    return LustreFileSystem(stack, id, vpc=vpc, subnet=subnet, **{**said, **options})


def _link(stack: Stack, id: str = "Corpus", **options: Any) -> DataRepositoryAssociation:
    if "file_system" not in options:
        options["file_system"] = _file_system(stack)
    if "bucket" not in options:
        options["bucket"] = s3.Bucket(stack, "Data")
    return DataRepositoryAssociation(stack, id, **{"file_system_path": "/data", **options})


def _properties(stack: Stack) -> dict[str, Any]:
    found = Template.from_stack(stack).find_resources("AWS::FSx::DataRepositoryAssociation")
    ((_, resource),) = found.items()
    return dict(resource["Properties"])


def test_a_link_imports_only_by_default() -> None:
    stack = _stack()
    link = _link(stack, prefix="corpus")
    properties = _properties(stack)
    assert properties["S3"] == {"AutoImportPolicy": {"Events": ALL}}
    assert properties["BatchImportMetaDataOnCreate"] is True
    assert properties["FileSystemPath"] == "/data"
    bucket = stack.resolve(link.node.scope.node.find_child("Data").node.default_child.ref)  # type: ignore
    assert properties["DataRepositoryPath"] == {"Fn::Join": ["", ["s3://", bucket, "/corpus/"]]}
    assert properties["FileSystemId"] == stack.resolve(link.file_system.file_system_id)
    assert stack.resolve(link.association_id)["Fn::GetAtt"][1] == "AssociationId"


def test_events_and_import_are_the_users() -> None:
    stack = _stack()
    _link(stack, import_events=[], export_events=["NEW", "CHANGED"])
    properties = _properties(stack)
    assert properties["S3"] == {"AutoExportPolicy": {"Events": ["NEW", "CHANGED"]}}
    assert properties["BatchImportMetaDataOnCreate"] is False
    assert properties["DataRepositoryPath"]["Fn::Join"][1][0] == "s3://"

    stack = _stack()
    _link(stack, import_metadata_on_create=False)
    assert _properties(stack)["BatchImportMetaDataOnCreate"] is False


def test_paths_and_prefixes_may_be_tokens() -> None:
    stack = _stack()
    path = CfnParameter(stack, "Path").value_as_string
    prefix = CfnParameter(stack, "Prefix").value_as_string
    _link(stack, file_system_path=path, prefix=prefix, import_events=Token.as_list({"Ref": "Events"}))
    properties = _properties(stack)
    assert properties["FileSystemPath"] == {"Ref": "Path"}
    assert properties["DataRepositoryPath"]["Fn::Join"][1][-1] == {"Ref": "Prefix"}
    assert properties["S3"]["AutoImportPolicy"]["Events"] == {"Ref": "Events"}


def test_a_linked_file_system_does_not_copy_tags_to_backups_that_it_has_not() -> None:
    stack = _stack()
    _link(stack)
    (resource,) = Template.from_stack(stack).find_resources("AWS::FSx::FileSystem").values()
    assert "CopyTagsToBackups" not in resource["Properties"]["LustreConfiguration"]
    assert resource["Properties"]["LustreConfiguration"]["AutomaticBackupRetentionDays"] == 0


def test_cloudformation_takes_the_template() -> None:
    stack = _stack()
    bucket = CheckpointBucket(stack, "Checkpoints")
    _link(stack, bucket=bucket, export_events=["NEW"], export_makes_fsx_users_writers=True)
    arguments = ManualArgs(regions=["us-west-2"], ignore_checks=["W"])
    assert lint(json.dumps(Template.from_stack(stack).to_json()), config=arguments) == []


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"file_system_path": "data"}, r"file_system_path: must be a folder .* got 'data'"),
        ({"prefix": "s3://b/c"}, r"prefix: must be the beginning of keys"),
        ({"import_events": ["CREATED"]}, r"import_events\[0\]: must be one of NEW, CHANGED, DELETED"),
        ({"bucket": "data"}, r"data repository association 'Stack/Corpus': bucket: must be a bucket"),
        ({"file_system": "fs-1"}, r"file_system: must be a LustreFileSystem, or"),
    ],
)
def test_wrong_arguments_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        _link(_stack(), **options)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"backup_retention_days": 7}, r"file_system\.backup_retention_days: must be 0 for a file system"),
        ({"removal": FileSystemRemoval.FINAL_BACKUP}, r"file_system\.removal: must be retain"),
        (
            {"deployment_type": "SCRATCH_1", "throughput_mbps_per_tib": None, "storage_capacity_gib": 1200},
            r"file_system\.deployment_type: SCRATCH_1 cannot be linked",
        ),
    ],
)
def test_file_systems_with_backups_are_refused(options: dict[str, Any], message: str) -> None:
    stack = _stack()
    with pytest.raises(InvalidInputError, match=message):
        _link(stack, file_system=_file_system(stack, **options))


def test_folders_of_a_file_system_do_not_overlap_and_those_of_two_may() -> None:
    stack = _stack()
    file_system, bucket = _file_system(stack), s3.Bucket(stack, "Data")
    _link(stack, file_system=file_system, bucket=bucket, prefix="a")
    _link(stack, "Beside", file_system=file_system, bucket=bucket, file_system_path="/more", prefix="b")
    with pytest.raises(InvalidInputError, match=r"file_system_path: must not overlap '/data' of 'Stack/Cor"):
        _link(stack, "Within", file_system=file_system, bucket=bucket, file_system_path="/data/x", prefix="c")
    with pytest.raises(InvalidInputError, match=r"prefix: must be another bucket or prefix than that of"):
        _link(stack, "Twice", file_system=file_system, bucket=bucket, file_system_path="/twice", prefix="a")
    _link(stack, "Other", file_system=_file_system(stack, "Second"), bucket=bucket, prefix="a")


def _imported(stack: Stack, id: str, file_system_id: str) -> fsx.IFileSystem:
    group = ec2.SecurityGroup.from_security_group_id(stack, f"{id}Group", "sg-0123456789abcdef0")
    return fsx.LustreFileSystem.from_lustre_file_system_attributes(
        stack, id, dns_name="name", file_system_id=file_system_id, security_group=group
    )


def test_an_imported_file_system_is_known_by_its_id() -> None:
    stack = _stack()
    bucket = s3.Bucket(stack, "Data")
    _link(stack, file_system=_imported(stack, "One", "fs-0123456789abcdef0"), bucket=bucket)
    other = _imported(stack, "Again", "fs-0123456789abcdef0")
    with pytest.raises(InvalidInputError, match="must not overlap"):
        _link(stack, "Second", file_system=other, bucket=bucket, prefix="a")
    assert _properties_of(stack, "Corpus")["FileSystemId"] == "fs-0123456789abcdef0"


def _properties_of(stack: Stack, id: str) -> dict[str, Any]:
    association = stack.node.find_child(id).node.default_child
    logical_id = stack.resolve(association.logical_id)  # type: ignore[union-attr]
    resources = Template.from_stack(stack).to_json()["Resources"]
    return dict(resources[logical_id]["Properties"])


def _policy(template: dict[str, Any], stack: Stack, checkpoints: CheckpointBucket) -> dict[str, Any]:
    bucket = stack.resolve(checkpoints.bucket.bucket_name)
    (document,) = (
        resource["Properties"]["PolicyDocument"]
        for resource in template["Resources"].values()
        if resource["Type"] == "AWS::S3::BucketPolicy" and resource["Properties"]["Bucket"] == bucket
    )
    resolved: dict[str, Any] = resolve(document, template)
    return resolved


REQUESTS = {
    "read": ("s3:GetObject", "/key"),
    "write": ("s3:PutObject", "/key"),
    "delete": ("s3:DeleteObject", "/key"),
    "notify": ("s3:PutBucketNotification", ""),
}


def _denied(stack: Stack, checkpoints: CheckpointBucket, role_arn: str) -> set[str]:
    template = Template.from_stack(stack).to_json()
    policy = _policy(dict(template), stack, checkpoints)
    bucket = resolve(stack.resolve(checkpoints.bucket.bucket_arn), template)
    return {
        name
        for name, (action, key) in REQUESTS.items()
        if evaluate(policy, role_request(action, f"{bucket}{key}", role_arn)) == "deny"
    }


def _role_of(stack: Stack, file_system: LustreFileSystem) -> str:
    file_system_id = resolve(stack.resolve(file_system.file_system_id), {})
    return f"{ROLES}AWSServiceRoleForFSxS3Access_{file_system_id}"


@pytest.mark.parametrize(
    ("options", "denied"),
    [
        ({}, {"write", "delete"}),
        ({"import_events": []}, {"write", "delete", "notify"}),
        ({"export_events": ["NEW"], "export_makes_fsx_users_writers": True}, set()),
        (
            {"import_events": [], "export_events": ["NEW"], "export_makes_fsx_users_writers": True},
            {"notify"},
        ),
    ],
)
def test_the_service_role_gets_through_the_lock_of_checkpoints_as_far_as_it_has_to(
    options: dict[str, Any], denied: set[str]
) -> None:
    stack = _stack()
    checkpoints = CheckpointBucket(stack, "Checkpoints")
    file_system = _file_system(stack)
    _link(stack, bucket=checkpoints, file_system=file_system, **options)
    assert _denied(stack, checkpoints, _role_of(stack, file_system)) == denied
    others = [
        f"{ROLES}AWSServiceRoleForFSxS3Access_fs-0123456789abcdef0",
        f"arn:aws:iam::{ACCOUNT}:role/AWSServiceRoleForFSxS3Access_fs-0123456789abcdef0",
        _role_of(stack, file_system).replace(ACCOUNT, "999988887777"),
    ]
    for other in others:
        assert _denied(stack, checkpoints, other) == set(REQUESTS)


def test_export_to_checkpoints_is_refused_unless_meant() -> None:
    stack = _stack()
    checkpoints = CheckpointBucket(stack, "Checkpoints")
    with pytest.raises(
        InvalidInputError, match=r"export_events: must be empty for a bucket that lists its writers"
    ):
        _link(stack, bucket=checkpoints, export_events=["NEW"])


def test_export_that_is_meant_is_a_finding() -> None:
    stack = _stack()
    checkpoints = CheckpointBucket(stack, "Checkpoints")
    _link(stack, bucket=checkpoints, export_events=["NEW"], export_makes_fsx_users_writers=True)
    Annotations.from_stack(stack).has_warning(
        "/Stack/Corpus", Match.string_like_regexp(f"runs code on the training nodes.*{EXPORT_WARNING}")
    )


def test_import_leaves_no_warning() -> None:
    stack = _stack()
    _link(stack, bucket=CheckpointBucket(stack, "Checkpoints"))
    Annotations.from_stack(stack).has_no_warning("/Stack/Corpus", Match.any_value())


def test_the_lock_is_found_where_somebody_took_the_bucket_out() -> None:
    stack = _stack()
    checkpoints = CheckpointBucket(stack, "Checkpoints")
    with pytest.raises(InvalidInputError, match="export_makes_fsx_users_writers=True"):
        _link(stack, bucket=checkpoints.bucket, export_events=["NEW"])
    file_system = _file_system(stack, "Other")
    _link(stack, "Import", bucket=checkpoints.bucket, file_system=file_system)
    assert _denied(stack, checkpoints, _role_of(stack, file_system)) == {"write", "delete"}


def _by_name(stack: Stack, bucket: s3.IBucket) -> s3.IBucket:
    return s3.Bucket.from_bucket_name(stack, "Alias", bucket.bucket_name)


def _by_arn(stack: Stack, bucket: s3.IBucket) -> s3.IBucket:
    return s3.Bucket.from_bucket_attributes(stack, "Alias", bucket_arn=bucket.bucket_arn)


@pytest.mark.parametrize("alias", [_by_name, _by_arn])
def test_the_lock_is_found_behind_an_import_of_the_bucket(alias: Any) -> None:
    stack = _stack()
    checkpoints, scripts = CheckpointBucket(stack, "Checkpoints"), LifecycleScripts(stack, "Scripts")
    with pytest.raises(InvalidInputError, match="must be empty for a bucket that lists its writers"):
        _link(stack, bucket=alias(stack, checkpoints.bucket), export_events=ALL)
    stack.node.try_remove_child("Alias")
    with pytest.raises(InvalidInputError, match="runs as root on every node"):
        _link(stack, "Second", file_system=_file_system(stack, "Other"), bucket=alias(stack, scripts.bucket))


def test_the_lock_is_found_behind_a_name_written_twice() -> None:
    stack = _stack()
    CheckpointBucket(stack, "Checkpoints", bucket_name="sagemaker-checkpoints")
    imported = s3.Bucket.from_bucket_name(stack, "Alias", "sagemaker-checkpoints")
    with pytest.raises(InvalidInputError, match="must be empty for a bucket that lists its writers"):
        _link(stack, bucket=imported, export_events=ALL)


def test_an_import_of_the_bucket_is_let_in_like_the_bucket() -> None:
    found = []
    for alias in (lambda stack, bucket: bucket, _by_name):
        stack = _stack()
        _link(stack, bucket=alias(stack, CheckpointBucket(stack, "Checkpoints").bucket))
        found.append(Template.from_stack(stack).to_json())
    assert found[0] == found[1]


def test_the_bucket_of_lifecycle_scripts_is_refused() -> None:
    stack = _stack()
    scripts = LifecycleScripts(stack, "Scripts")
    assert scripts.bucket is not None
    with pytest.raises(InvalidInputError, match=r"bucket: must not be 'Stack/Scripts/.*runs as root"):
        _link(stack, bucket=scripts.bucket)


def test_an_imported_checkpoint_bucket_stays_its_owners() -> None:
    stack = _stack()
    imported = s3.Bucket.from_bucket_name(stack, "Existing", "sagemaker-checkpoints")
    checkpoints = CheckpointBucket.from_bucket(stack, "Checkpoints", bucket=imported)
    with pytest.raises(InvalidInputError, match="export_makes_fsx_users_writers=True"):
        _link(stack, bucket=checkpoints, export_events=["NEW"])
    _link(stack, "Import", bucket=checkpoints, file_system=_file_system(stack, "Other"))
    Annotations.from_stack(stack).has_warning(
        "/Stack/Import", Match.string_like_regexp(f"lists the role role/aws.*{FOREIGN_BUCKET_WARNING}")
    )


def _key_statements(stack: Stack, key: kms.IKey) -> list[dict[str, Any]]:
    template = Template.from_stack(stack).to_json()
    logical_id = stack.resolve(key.node.default_child.logical_id)  # type: ignore[union-attr]
    statements = template["Resources"][logical_id]["Properties"]["KeyPolicy"]["Statement"]
    return [resolve(statement, template) for statement in statements if "Condition" in statement]


@pytest.mark.parametrize(
    ("events", "writes"),
    [({}, False), ({"export_events": ["NEW"]}, True)],
)
def test_the_key_lets_the_service_role_in_through_s3(events: dict[str, Any], writes: bool) -> None:
    stack = _stack()
    key = kms.Key(stack, "Key")
    bucket = s3.Bucket(stack, "Data", encryption_key=key)
    file_system = _file_system(stack)
    _link(stack, bucket=bucket, file_system=file_system, **events)
    (statement,) = _key_statements(stack, key)
    assert statement["Principal"] == {"AWS": "*"}
    assert ("kms:GenerateDataKey*" in statement["Action"]) == writes
    assert "kms:Decrypt" in statement["Action"]
    assert statement["Condition"] == {
        "ArnLike": {"aws:PrincipalArn": _role_of(stack, file_system)},
        "StringEquals": {"kms:CallerAccount": ACCOUNT},
        "StringLike": {"kms:ViaService": "s3.us-west-2.*"},
    }


def test_a_key_that_encrypts_the_file_system_too_names_every_file_systems_role() -> None:
    stack = _stack()
    key = kms.Key(stack, "Key")
    bucket = s3.Bucket(stack, "Data", encryption_key=key)
    _link(stack, bucket=bucket, file_system=_file_system(stack, kms_key=key))
    (statement,) = _key_statements(stack, key)
    assert statement["Condition"]["ArnLike"] == {
        "aws:PrincipalArn": f"{ROLES}AWSServiceRoleForFSxS3Access_fs-*"
    }
    keys = Template.from_stack(stack).find_resources("AWS::KMS::Key")
    assert all("Scratch" not in json.dumps(resource) for resource in keys.values())


def test_an_imported_key_leaves_a_warning() -> None:
    stack = _stack()
    key = kms.Key.from_key_arn(stack, "Key", f"arn:aws:kms:us-west-2:{ACCOUNT}:key/0")
    _link(stack, bucket=s3.Bucket(stack, "Data", encryption_key=key))
    Annotations.from_stack(stack).has_warning(
        "/Stack/Corpus", Match.string_like_regexp(f"may use it.*{FOREIGN_KEY_WARNING}")
    )


def test_a_file_system_of_another_stack_ties_the_two_one_way_only() -> None:
    app = App()
    data, cluster = _stack("Data", app), _stack("Cluster", app)
    checkpoints = CheckpointBucket(data, "Checkpoints")
    file_system = _file_system(cluster)
    _link(cluster, bucket=checkpoints, file_system=file_system)
    assembly = app.synth()
    artifacts = {stack.id: stack for stack in assembly.stacks}
    assert [one.id for one in artifacts["Cluster"].dependencies if one.id == "Data"] == ["Data"]
    assert "Cluster" not in [one.id for one in artifacts["Data"].dependencies]
    role = f"{ROLES}AWSServiceRoleForFSxS3Access_fs-0123456789abcdef0"
    assert _denied(data, checkpoints, role) == {"write", "delete"}
    impostor = f"arn:aws:iam::{ACCOUNT}:role/AWSServiceRoleForFSxS3Access_fs-0123456789abcdef0"
    assert _denied(data, checkpoints, impostor) == set(REQUESTS)


def test_the_link_waits_for_the_lock_and_the_key() -> None:
    stack = _stack()
    checkpoints = CheckpointBucket(stack, "Checkpoints")
    _link(stack, bucket=checkpoints)
    template = Template.from_stack(stack)
    (link,) = template.find_resources("AWS::FSx::DataRepositoryAssociation").values()
    assert checkpoints.bucket.policy is not None
    policy = stack.resolve(checkpoints.bucket.policy.node.default_child.logical_id)  # type: ignore[union-attr]
    assert policy in link["DependsOn"]


def test_a_writer_that_can_only_read_checkpoints_is_not_changed_by_a_link() -> None:
    stack = _stack()
    role = iam.Role(stack, "Role", assumed_by=iam.ServicePrincipal("sagemaker.amazonaws.com"))
    checkpoints = CheckpointBucket(stack, "Checkpoints", readers=[role])
    _link(stack, bucket=checkpoints)
    arn = f"arn:aws:iam::{ACCOUNT}:role/name-{stack.resolve(role.role_arn)['Fn::GetAtt'][0]}"
    assert _denied(stack, checkpoints, arn) == {"write", "delete", "notify"}


@pytest.mark.parametrize("env", [None, Environment(account=ACCOUNT, region="us-west-2")])
def test_the_template_is_the_same_in_a_stage_and_under_all_feature_flags(
    recommended_feature_flags: dict[str, Any], env: Environment | None
) -> None:
    def resources(scope: Any) -> dict[str, Any]:
        stack = Stack(scope, "Stack", env=env)
        _link(stack, bucket=s3.Bucket(stack, "Data", encryption_key=kms.Key(stack, "Key")))
        found: dict[str, Any] = dict(Template.from_stack(stack).to_json()["Resources"])
        return {
            name: {key: value for key, value in resource["Properties"].items() if key != "Tags"}
            for name, resource in found.items()
            if resource["Type"].startswith("AWS::FSx")
        }

    expected = resources(App())
    assert resources(App(context=recommended_feature_flags)) == expected
    assert resources(Stage(App(), "Prod")) == expected
