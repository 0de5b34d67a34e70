from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from aws_cdk import App, CfnParameter, CliCredentialsStackSynthesizer, Environment, NestedStack, Stack
from aws_cdk import aws_iam as iam
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_s3_deployment as s3_deployment
from policy_evaluator import (
    ACCOUNT,
    REGION,
    Request,
    anonymous_request,
    arn_of,
    evaluate,
    resolve,
    role_request,
)
from stacks import Template, lint, only, recommended_feature_flags, resources, template_of

from hyperpod_constructs import lifecycle_scripts
from hyperpod_constructs.execution_role import ExecutionRole
from hyperpod_constructs.lifecycle_scripts import (
    FOREIGN_SCRIPTS_WARNING,
    NO_BASH_WARNING,
    SCRIPT_WARNING,
    LifecycleScripts,
)
from hyperpod_lifecycle.content_hash import content_hash, read_folder
from hyperpod_lifecycle.node_parameters import NodeParameters, lustre_mount
from hyperpod_lifecycle.scripts_folder import scripts_folder
from hyperpod_lifecycle.slurm_configuration.classic_slurm import ClassicSlurm
from hyperpod_lifecycle.slurm_configuration.provisioning_parameters import WorkerGroup
from hyperpod_model.faults import InvalidInputError

DEPLOYER = f"arn:aws:iam::{ACCOUNT}:role/cdk-hnb659fds-cfn-exec-role-{ACCOUNT}-{REGION}"
ADMINISTRATOR = f"arn:aws:iam::{ACCOUNT}:role/Admin"
UPLOAD = "Custom::CDKBucketDeployment"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A sound folder of scripts to spoil."""
    path = tmp_path / "scripts"
    path.mkdir()
    entry = path / "on_init_complete.sh"
    entry.write_text('#!/bin/bash\nset -euo pipefail\nbash "$(dirname "$0")/step.sh"\n')
    entry.chmod(0o755)
    (path / "step.sh").write_text("#!/bin/bash\necho step\n")
    (path / "users.txt").write_text("ada\n")
    return path


class Uploaded:
    def __init__(self, template: Template) -> None:
        self.template = template
        self.upload = only(template, UPLOAD)[1]["Properties"]
        self.bucket_id = self.upload["DestinationBucketName"]["Ref"]
        self.bucket_arn = arn_of(self.bucket_id, template)
        self.object_arn = f"{self.bucket_arn}/{self.upload['DestinationBucketKeyPrefix']}/on_init_complete.sh"
        (self.policy,) = (
            resolve(policy["Properties"]["PolicyDocument"], template)
            for policy in resources(template, "AWS::S3::BucketPolicy").values()
            if policy["Properties"]["Bucket"] == {"Ref": self.bucket_id}
        )
        function = template["Resources"][self.upload["ServiceToken"]["Fn::GetAtt"][0]]
        self.handler_id = function["Properties"]["Role"]["Fn::GetAtt"][0]
        self.handler = arn_of(self.handler_id, template)

    def verdict(self, request: Request) -> str:
        return evaluate(self.policy, request)


@pytest.fixture(scope="module")
def own() -> Uploaded:
    """The package's own scripts, beside an upload of another team."""
    stack = Stack(App(), "Training")
    scripts = LifecycleScripts(stack, "Scripts", required_mounts={"workers": ["/fsx"]})
    ExecutionRole(stack, "Nodes", lifecycle_scripts=scripts)
    return Uploaded(template_of(stack))


class TestUpload:
    def test_lies_under_the_hash_of_its_content(self, own: Uploaded) -> None:
        said = {"orchestrator": "slurm", "required_mounts": {"workers": ["/fsx"]}}
        parameters = json.dumps(said, indent=2) + "\n"
        expected = content_hash(read_folder(scripts_folder()), extra={"parameters.json": parameters.encode()})
        assert own.upload["DestinationBucketKeyPrefix"] == f"lifecycle-scripts/{expected}"

    def test_keeps_earlier_hashes(self, own: Uploaded) -> None:
        assert own.upload["Prune"] is False
        assert own.upload["RetainOnDelete"] is True
        bucket = own.template["Resources"][own.bucket_id]
        (rule,) = bucket["Properties"]["LifecycleConfiguration"]["Rules"]
        assert "ExpirationInDays" not in rule
        assert "ExpirationDate" not in rule
        assert bucket["DeletionPolicy"] == "Retain"

    def test_waits_for_the_lock(self, own: Uploaded) -> None:
        upload = only(own.template, UPLOAD)[1]
        (policy_id,) = (
            name
            for name, policy in resources(own.template, "AWS::S3::BucketPolicy").items()
            if policy["Properties"]["Bucket"] == {"Ref": own.bucket_id}
        )
        assert policy_id in upload["DependsOn"]

    def test_uri_names_bucket_and_hash(self, folder: Path) -> None:
        stack = Stack(App(), "Training")
        scripts = LifecycleScripts(stack, "Scripts", folder=folder)
        assert scripts.content_hash == content_hash(read_folder(folder))
        assert scripts.entry_point == "on_init_complete.sh"
        uri = resolve(stack.resolve(scripts.source_s3_uri), {})
        assert uri.startswith("s3://name-Scripts")
        assert uri.endswith(f"/lifecycle-scripts/{scripts.content_hash}")

    @pytest.mark.parametrize("change", ["byte", "mode", "path", "mounts"])
    def test_any_change_changes_the_uri_and_the_asset(
        self, folder: Path, change: str, tmp_path: Path
    ) -> None:
        def upload(number: int, **props: Any) -> Any:
            stack = Stack(App(outdir=str(tmp_path / str(number))), "Training")
            LifecycleScripts(stack, "Scripts", folder=folder, **props)
            return only(template_of(stack), UPLOAD)[1]["Properties"]

        before = upload(0)
        props: dict[str, Any] = {}
        if change == "byte":
            (folder / "step.sh").write_text("#!/bin/bash\necho Step\n")
        elif change == "mode":
            (folder / "step.sh").chmod(0o755)
        elif change == "path":
            (folder / "step.sh").rename(folder / "first.sh")
        else:
            props["required_mounts"] = {"workers": ["/fsx"]}
        after = upload(1, **props)
        assert before["DestinationBucketKeyPrefix"] != after["DestinationBucketKeyPrefix"]
        assert before["SourceObjectKeys"][0] != after["SourceObjectKeys"][0]

    def test_what_is_hashed_is_what_is_staged(self, folder: Path, tmp_path: Path) -> None:
        for name in ("__pycache__/x.cpython-311.pyc", ".git/HEAD", "lib/__pycache__/y.pyc", ".DS_Store"):
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(b"left by a tool")
        (folder / "lib" / "common.sh").write_text("#!/bin/bash\n")
        out = tmp_path / "out"
        stack = Stack(App(outdir=str(out)), "Training")
        LifecycleScripts(stack, "Scripts", folder=folder)
        template_of(stack)
        (staged,) = (path for path in out.glob("asset.*") if (path / "on_init_complete.sh").exists())
        found = {
            path.relative_to(staged).as_posix(): path.read_bytes()
            for path in staged.rglob("*")
            if path.is_file()
        }
        assert found == {file.path: file.content for file in read_folder(folder)}
        assert set(found) == {"on_init_complete.sh", "step.sh", "users.txt", "lib/common.sh"}


class TestLock:
    @pytest.mark.parametrize(
        "action", ["s3:PutObject", "s3:DeleteObject", "s3:DeleteObjectVersion", "s3:PutObjectAcl"]
    )
    def test_only_the_upload_writes(self, own: Uploaded, action: str) -> None:
        def verdict(principal: str) -> str:
            return own.verdict(role_request(action, own.object_arn, principal))

        nodes = next(name for name in resources(own.template, "AWS::IAM::Role") if name.startswith("Nodes"))
        assert verdict(own.handler) == "silent"
        for principal in (
            DEPLOYER,
            ADMINISTRATOR,
            arn_of(nodes, own.template),
            f"arn:aws:iam::{ACCOUNT}:root",
        ):
            assert verdict(principal) == "deny"
        assert own.verdict(anonymous_request(action, own.object_arn)) == "deny"

    @pytest.mark.parametrize(
        "action", ["s3:PutBucketPolicy", "s3:PutLifecycleConfiguration", "s3:DeleteBucket"]
    )
    def test_only_the_deployer_configures(self, own: Uploaded, action: str) -> None:
        assert own.verdict(role_request(action, own.bucket_arn, DEPLOYER)) == "silent"
        for principal in (own.handler, ADMINISTRATOR):
            assert own.verdict(role_request(action, own.bucket_arn, principal)) == "deny"

    def test_reads_stay_with_identity_policies(self, own: Uploaded) -> None:
        assert own.verdict(role_request("s3:GetObject", own.object_arn, ADMINISTRATOR)) == "silent"

    def test_what_the_upload_does_is_not_denied(self, own: Uploaded) -> None:
        """What the upload calls is allowed by the CDK's grants and not denied by the lock."""
        (policy,) = (
            policy["Properties"]["PolicyDocument"]
            for policy in resources(own.template, "AWS::IAM::Policy").values()
            if {"Ref": own.handler_id} in policy["Properties"]["Roles"]
        )
        used = [
            "s3:ListBucket",
            "s3:GetObject",
            "s3:PutObject",
            "s3:AbortMultipartUpload",
            "s3:GetBucketTagging",
        ]
        for action in used:
            resource = own.bucket_arn if "Bucket" in action else own.object_arn
            request = role_request(action, resource, own.handler)
            assert evaluate(resolve(policy, own.template), request) == "allow", action
            assert own.verdict(request) == "silent", action

    def test_nodes_read_every_hash_of_the_expected_account(self, own: Uploaded) -> None:
        _, policy = only(own.template, "AWS::IAM::ManagedPolicy")
        document = resolve(policy["Properties"]["PolicyDocument"], own.template)
        earlier = f"{own.bucket_arn}/lifecycle-scripts/0000/on_init_complete.sh"
        mine, theirs = {"s3:ResourceAccount": ACCOUNT}, {"s3:ResourceAccount": "999988887777"}
        for resource in (own.object_arn, earlier):
            assert evaluate(document, Request("s3:GetObject", resource, mine)) == "allow"
            assert evaluate(document, Request("s3:GetObject", resource, theirs)) == "silent"
            assert evaluate(document, Request("s3:PutObject", resource, mine)) == "silent"
        assert evaluate(document, Request("s3:ListBucket", own.bucket_arn, mine)) == "allow"

    def test_administrators_are_required_where_no_deployer_is_named(self, folder: Path) -> None:
        stack = Stack(App(), "Training", synthesizer=CliCredentialsStackSynthesizer())
        with pytest.raises(InvalidInputError, match="names no role"):
            LifecycleScripts(stack, "Unnamed", folder=folder)
        admin = iam.Role.from_role_arn(stack, "Admin", ADMINISTRATOR)
        LifecycleScripts(stack, "Named", folder=folder, administrators=[admin])


class TestSharing:
    def test_another_teams_upload_has_a_role_of_its_own(self, folder: Path) -> None:
        stack = Stack(App(), "Training")
        _upload(stack, "Website")
        LifecycleScripts(stack, "Scripts", folder=folder)
        template = template_of(stack)
        tokens = {
            json.dumps(upload["Properties"]["ServiceToken"])
            for upload in resources(template, UPLOAD).values()
        }
        assert len(tokens) == 2

    @pytest.mark.parametrize("other_first", [True, False])
    def test_is_refused(self, folder: Path, other_first: bool) -> None:
        stack = Stack(App(), "Training")
        if other_first:
            _upload(stack, "Website", memory_limit=1024)
        LifecycleScripts(stack, "Scripts", folder=folder)
        if not other_first:
            _upload(stack, "Website", memory_limit=1024)
        with pytest.raises(
            RuntimeError, match=r"\[Training/Scripts\] shares .* with 'Training/Website'.*memory_limit"
        ):
            template_of(stack)

    def test_two_of_ours_need_two_memories(self, folder: Path) -> None:
        def build(memory: int) -> Template:
            stack = Stack(App(), "Training")
            LifecycleScripts(stack, "A", folder=folder)
            LifecycleScripts(stack, "B", folder=folder, upload_memory_mib=memory)
            return template_of(stack)

        with pytest.raises(RuntimeError, match="shares the Lambda function"):
            build(1024)
        assert len(resources(build(1025), UPLOAD)) == 2

    def test_nested_stacks_do_not_share(self, folder: Path) -> None:
        stack = Stack(App(), "Training")
        LifecycleScripts(stack, "Scripts", folder=folder)
        _upload(NestedStack(stack, "Nested"), "Website", memory_limit=1024)  # type: ignore[arg-type]
        assert len(resources(template_of(stack), UPLOAD)) == 1


def _upload(stack: Stack, id: str, **props: Any) -> None:
    s3_deployment.BucketDeployment(
        stack,
        id,
        sources=[s3_deployment.Source.data("index.html", "hello")],
        destination_bucket=s3.Bucket(stack, f"{id}Bucket"),
        **props,
    )


class TestChecks:
    def test_all_faults_are_reported_at_once(self, folder: Path) -> None:
        (folder / "step.sh").write_bytes(b"#!/bin/bash\r\necho step")
        (folder / "on_init_complete.sh").chmod(0o644)
        (folder / "provisioning_parameters.json").write_text("{}\n")
        with pytest.raises(InvalidInputError) as caught:
            LifecycleScripts(Stack(App(), "Training"), "Scripts", folder=folder)
        messages = str(caught.value).splitlines()
        assert len(messages) == 4
        assert messages[0].startswith(
            "Training/Scripts.on_init_complete.sh: is the entry point and not executable"
        )
        assert any("step.sh (line 1): has carriage returns" in message for message in messages)
        assert any("step.sh (line 2): has a last line without" in message for message in messages)
        assert any("provisioning_parameters.json: must not be there" in message for message in messages)

    def test_warnings_are_annotations(self, folder: Path) -> None:
        (folder / "users.txt").write_bytes(b"ada\r\n")
        stack = Stack(App(), "Training")
        LifecycleScripts(stack, "Scripts", folder=folder)
        (warning,) = _warnings(stack, "Scripts")
        assert "users.txt (line 1): has carriage returns" in warning
        assert SCRIPT_WARNING in warning

    def test_sound_scripts_raise_no_warning(self, folder: Path) -> None:
        stack = Stack(App(), "Training")
        LifecycleScripts(stack, "Scripts", folder=folder)
        assert _warnings(stack, "Scripts") == []

    def test_without_bash_a_warning(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(lifecycle_scripts.shutil, "which", lambda name: None)
        (folder / "step.sh").write_text("#!/bin/bash\nif\n")
        stack = Stack(App(), "Training")
        LifecycleScripts(stack, "Scripts", folder=folder)
        (warning,) = _warnings(stack, "Scripts")
        assert NO_BASH_WARNING in warning

    @pytest.mark.needs_system("bash")
    def test_with_bash_an_error(self, folder: Path) -> None:
        (folder / "step.sh").write_text("#!/bin/bash\nif\n")
        with pytest.raises(InvalidInputError, match=r"step\.sh \(line 3\): does not parse: syntax error"):
            LifecycleScripts(Stack(App(), "Training"), "Scripts", folder=folder)

    def test_own_scripts_need_to_know_the_controller(self) -> None:
        with pytest.raises(
            InvalidInputError, match=r"slurm_mode: got 'lifecycle', and nothing says .* pass node_parameters="
        ):
            LifecycleScripts(Stack(App(), "Training"), "Scripts", slurm_mode="lifecycle")

    def test_lifecycle_mode_takes_provisioning_parameters(self, folder: Path) -> None:
        (folder / "provisioning_parameters.json").write_text(CLASSIC.provisioning_parameters())
        shutil.copy(folder / "on_init_complete.sh", folder / "on_create.sh")
        scripts = LifecycleScripts(Stack(App(), "Training"), "Scripts", folder=folder, slurm_mode="lifecycle")
        assert scripts.entry_point == "on_create.sh"

    def test_unknown_mode_is_refused(self, folder: Path) -> None:
        with pytest.raises(
            InvalidInputError, match="slurm_mode: needs one of 'api', 'lifecycle', got 'managed'"
        ):
            LifecycleScripts(Stack(App(), "Training"), "Scripts", folder=folder, slurm_mode="managed")  # type: ignore[arg-type]


class TestRequiredMounts:
    @pytest.mark.parametrize(
        ("mounts", "message"),
        [
            ({"work_ers": ["/fsx"]}, r"needs a group name \(.*\), got 'work_ers'"),
            ({"workers": ["fsx"]}, r"needs a path \(.*\), got 'fsx'"),
        ],
    )
    def test_refuses_illegal_values(self, mounts: dict[str, list[str]], message: str) -> None:
        with pytest.raises(InvalidInputError, match=rf"Scripts\.required_mounts: {message}"):
            LifecycleScripts(Stack(App(), "Training"), "Scripts", required_mounts=mounts)

    def test_refuses_tokens_since_they_have_no_hash(self) -> None:
        stack = Stack(App(), "Training")
        path = CfnParameter(stack, "Path").value_as_string
        with pytest.raises(InvalidInputError, match="known at synthesis"):
            LifecycleScripts(stack, "Scripts", required_mounts={"workers": [path]})

    def test_refuses_to_overwrite_a_file(self, folder: Path) -> None:
        (folder / "parameters.json").write_text("{}\n")
        with pytest.raises(InvalidInputError, match=r"holds parameters\.json, which would be overwritten"):
            LifecycleScripts(
                Stack(App(), "Training"), "Scripts", folder=folder, required_mounts={"workers": ["/fsx"]}
            )

    def test_none_renders_nothing(self, folder: Path) -> None:
        stack = Stack(App(), "Training")
        LifecycleScripts(stack, "Scripts", folder=folder, required_mounts={})
        assert len(only(template_of(stack), UPLOAD)[1]["Properties"]["SourceObjectKeys"]) == 1


CLASSIC = ClassicSlurm(
    controller_group="controller",
    worker_groups=[WorkerGroup("workers", "gpu")],
    accounting=True,
    settings={"AccountingStorageTRES": "gres/gpu"},
)


class TestNodeParameters:
    def test_own_scripts_configure_slurm(self) -> None:
        stack = Stack(App(), "Training")
        parameters = NodeParameters(orchestrator="slurm", slurm=CLASSIC)
        scripts = LifecycleScripts(stack, "Scripts", slurm_mode="lifecycle", node_parameters=parameters)
        assert scripts.entry_point == "on_create.sh"
        upload = only(template_of(stack), UPLOAD)[1]["Properties"]
        assert len(upload["SourceObjectKeys"]) == 3
        rendered = {
            "parameters.json": parameters.render().encode(),
            "provisioning_parameters.json": CLASSIC.provisioning_parameters().encode(),
        }
        assert scripts.content_hash == content_hash(read_folder(scripts_folder()), extra=rendered)

    def test_the_service_and_scripts_never_both_configure_slurm(self) -> None:
        parameters = NodeParameters(orchestrator="slurm", slurm=CLASSIC)
        with pytest.raises(InvalidInputError, match=r"slurm_mode: got 'api' and node_parameters with slurm"):
            LifecycleScripts(Stack(App(), "Training"), "Scripts", node_parameters=parameters)

    def test_a_folder_keeps_its_own_provisioning_parameters(self, folder: Path) -> None:
        (folder / "provisioning_parameters.json").write_text(CLASSIC.provisioning_parameters())
        shutil.copy(folder / "on_init_complete.sh", folder / "on_create.sh")
        parameters = NodeParameters(orchestrator="slurm", slurm=CLASSIC)
        with pytest.raises(InvalidInputError, match=r"holds provisioning_parameters\.json, which would be"):
            LifecycleScripts(
                Stack(App(), "Training"),
                "Scripts",
                folder=folder,
                slurm_mode="lifecycle",
                node_parameters=parameters,
            )

    def test_mounts_are_said_once(self) -> None:
        with pytest.raises(InvalidInputError, match="node_parameters: has required_mounts of its own"):
            LifecycleScripts(
                Stack(App(), "Training"),
                "Scripts",
                required_mounts={"workers": ["/fsx"]},
                node_parameters=NodeParameters(orchestrator="slurm"),
            )

    def test_something_else_is_refused(self) -> None:
        with pytest.raises(InvalidInputError, match="node_parameters: must be a NodeParameters, got 5"):
            LifecycleScripts(Stack(App(), "Training"), "Scripts", node_parameters=5)  # type: ignore[arg-type]

    def test_probable_mistakes_are_warned_of(self) -> None:
        stack = Stack(App(), "Training")
        slurm = ClassicSlurm(
            controller_group="c", worker_groups=[WorkerGroup("w", "gpu")], settings={"KillWiat": "60"}
        )
        LifecycleScripts(
            stack,
            "Scripts",
            slurm_mode="lifecycle",
            node_parameters=NodeParameters(orchestrator="slurm", slurm=slurm),
        )
        (warning,) = _warnings(stack, "Scripts")
        assert "settings.KillWiat: is no parameter of Slurm 22.05" in warning

    def test_tokens_of_mounts_are_filled_in_at_deployment_under_one_prefix(self) -> None:
        def scripts(default: str) -> tuple[LifecycleScripts, Template]:
            stack = Stack(App(), "Training")
            # Another Token before it must not change the hash.
            CfnParameter(stack, f"Other{default}")
            name = CfnParameter(stack, "Name", default=default).value_as_string
            mount = lustre_mount(dns_name=name, mount_name="abcdefgh", mount_path="/fsx")
            made = LifecycleScripts(
                stack,
                "Scripts",
                node_parameters=NodeParameters(orchestrator="slurm", mounts={"workers": [mount]}),
            )
            return made, template_of(stack)

        (first, template), (second, _) = scripts("a"), scripts("b")
        assert first.content_hash == second.content_hash
        (markers,) = (found for found in only(template, UPLOAD)[1]["Properties"]["SourceMarkers"] if found)
        assert list(markers.values()) == [{"Ref": "Name"}]


class TestForeignScripts:
    def test_are_used_as_they_are(self) -> None:
        stack = Stack(App(), "Training")
        scripts = LifecycleScripts.from_s3_uri(
            stack, "Scripts", source_s3_uri="s3://my-bucket/lifecycle/", entry_point="on_create.sh"
        )
        assert scripts.source_s3_uri == "s3://my-bucket/lifecycle/"
        assert scripts.entry_point == "on_create.sh"
        assert scripts.content_hash is None
        ExecutionRole(stack, "Nodes", lifecycle_scripts=scripts)
        template = template_of(stack)
        assert not resources(template, "AWS::S3::Bucket")
        assert not resources(template, UPLOAD)
        _, policy = only(template, "AWS::IAM::ManagedPolicy")
        document = resolve(policy["Properties"]["PolicyDocument"], template)
        assert [statement["Resource"] for statement in document["Statement"]] == [
            "arn:aws:s3:::my-bucket",
            "arn:aws:s3:::my-bucket/lifecycle/*",
        ]
        assert all(
            statement["Condition"] == {"StringEquals": {"s3:ResourceAccount": ACCOUNT}}
            for statement in document["Statement"]
        )

    def test_say_what_they_cannot_protect(self) -> None:
        stack = Stack(App(), "Training")
        LifecycleScripts.from_s3_uri(stack, "Scripts", source_s3_uri="s3://my-bucket", entry_point="x.sh")
        (warning,) = _warnings(stack, "Scripts")
        assert "runs code as root on the nodes" in warning
        assert FOREIGN_SCRIPTS_WARNING in warning

    @pytest.mark.parametrize(
        "uri", ["my-bucket/lifecycle", "s3://b", "s3://My_Bucket/x", "s3://my-bucket/" + "x" * 1020]
    )
    def test_refuse_an_illegal_uri(self, uri: str) -> None:
        with pytest.raises(
            InvalidInputError, match=r"Scripts\.source_s3_uri: needs s3://.* at most 1024 .* got"
        ):
            LifecycleScripts.from_s3_uri(
                Stack(App(), "Training"), "Scripts", source_s3_uri=uri, entry_point="x.sh"
            )

    def test_a_token_needs_the_bucket_for_grants_only(self) -> None:
        stack = Stack(App(), "Training")
        uri = CfnParameter(stack, "Uri").value_as_string
        role = ExecutionRole(stack, "Nodes")
        unknown = LifecycleScripts.from_s3_uri(stack, "A", source_s3_uri=uri, entry_point="x.sh")
        with pytest.raises(InvalidInputError, match=r"Training/A\.bucket: needed to grant access"):
            unknown.grant_read(role)
        known = LifecycleScripts.from_s3_uri(
            stack,
            "B",
            source_s3_uri=uri,
            entry_point="x.sh",
            bucket=s3.Bucket.from_bucket_name(stack, "Theirs", "their-scripts"),
        )
        assert known.grant_read(role).success


def _warnings(stack: Stack, id: str) -> list[str]:
    return [
        str(entry.data)
        for entry in stack.node.find_child(id).node.metadata
        if entry.type == "aws:cdk:warning"
    ]


def test_cloudformation_accepts_the_template(own: Uploaded) -> None:
    # W3005 is the CDK's own: the function of an upload depends on its role twice.
    assert [finding for finding in lint(own.template) if not finding.startswith("W3005")] == []


def test_feature_flags_change_nothing_of_ours() -> None:
    """The CDK's own function of the upload differs by flags; all that this construct makes does not."""

    def build(context: dict[str, Any]) -> Template:
        env = Environment(account=ACCOUNT, region=REGION)
        stack = Stack(App(context=context), "Training", env=env)
        scripts = LifecycleScripts(stack, "Scripts", required_mounts={"workers": ["/fsx"]})
        ExecutionRole(stack, "Nodes", lifecycle_scripts=scripts)
        return {
            name: resource
            for name, resource in template_of(stack)["Resources"].items()
            if not name.startswith("CustomCDKBucketDeployment")
        }

    assert build({}) == build(recommended_feature_flags())
