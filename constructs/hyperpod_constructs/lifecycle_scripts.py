"""The scripts that HyperPod runs as root on every node, and the bucket they lie in."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

from aws_cdk import Annotations, Aws, Duration, IgnoreMode, Stack, Token
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_s3_deployment as s3_deployment
from constructs import Construct

from hyperpod_constructs.access_log_bucket import AccessLogBucket
from hyperpod_constructs.argument_kinds import BUCKET as BUCKET_KIND
from hyperpod_constructs.argument_kinds import KEY, ROLE, check_kind, check_kinds
from hyperpod_constructs.existing_role_access import let_existing_roles_in
from hyperpod_constructs.locked_bucket import LockedBucket, allow_objects
from hyperpod_constructs.object_access import READING
from hyperpod_constructs.tokens import known
from hyperpod_constructs.tree_validation import validate_at_synth
from hyperpod_lifecycle.content_hash import LEFT_OUT, content_hash, read_folder
from hyperpod_lifecycle.node_parameters import PARAMETERS_FILE, NodeParameters
from hyperpod_lifecycle.script_checks import check_entry_point, check_folder
from hyperpod_lifecycle.scripts_folder import scripts_folder
from hyperpod_model.catalog.names import BUCKET, INSTANCE_GROUP, MOUNT_PATH, SOURCE_S3_URI
from hyperpod_model.catalog.nodes import PROVISIONING_PARAMETERS_FILE
from hyperpod_model.faults import Fault, InvalidInputError, Unknown, refuse

SCRIPT_WARNING = "hyperpod:LifecycleScripts.script"
NO_BASH_WARNING = "hyperpod:LifecycleScripts.noBash"
SLURM_WARNING = "hyperpod:LifecycleScripts.slurm"
FOREIGN_SCRIPTS_WARNING = "hyperpod:LifecycleScripts.foreignScripts"

SlurmMode = Literal["api", "lifecycle"]

_PREFIX = "lifecycle-scripts"
_ENTRY_POINTS: Mapping[SlurmMode, str] = {"api": "on_init_complete.sh", "lifecycle": "on_create.sh"}


class EntryPoint(NamedTuple):
    """A file that HyperPod runs, out of scripts that lie in S3.

    Attributes:
        source_s3_uri: Where the scripts lie.
        entry_point: Name of the file there.
    """

    source_s3_uri: str
    entry_point: str


class LifecycleScripts(Construct):
    """Uploads a folder of scripts under the hash of its content, to a bucket that only the upload may write.

    HyperPod runs these scripts as root on every new node, every replacement and after a software update:
    whoever writes the bucket runs code there as root. The bucket has the locks of :class:`CheckpointBucket`:
    TLS only, object writes and deletes denied except to the upload's own role, configuration denied except to
    the administrators, versioned, logged, encrypted with a rotated key, retained. Nodes read and never write.

    The prefix is a SHA-256 over sorted paths, raw bytes and modes, so that any change of a script is a change
    of ``source_s3_uri`` and reaches the cluster. Earlier prefixes stay, for replacement nodes of a group that
    was not updated yet: nothing is pruned and current objects never expire.

    The folder is checked here, before anything is uploaded: the entry point exists and is executable (not on
    Windows), scripts have LF ends and ``#!``, no comment interrupts a continued command, everything parses
    with ``bash -n`` (a warning where no bash is installed), no symbolic links. All faults are reported at
    once.

    A cluster must wait for the upload: ``cluster.node.add_dependency(scripts)``. ``HyperPodCluster`` does so.

    What remains possible, and to whom: an administrator can lift the lock; so can the account's root user, by
    the bucket's policy. Whoever may update the code of the upload's Lambda function, invoke it, or change its
    role writes the bucket, and whoever may write the CDK's asset bucket before a deployment replaces what is
    uploaded: keep bootstrap roles and ``lambda:*`` on this function to deployers.

    Args:
        scope: Parent of the construct.
        id: Id within the parent.
        folder: Folder to upload, relative to the working directory or absolute. Default: the package's own
            scripts, which do what ``node_parameters`` say.
        entry_point: File at the top of the folder that HyperPod runs. Default: ``on_init_complete.sh``, or
            ``on_create.sh`` where ``slurm_mode`` is ``lifecycle``.
        slurm_mode: ``api`` (default) where HyperPod configures Slurm from the node types and partitions of
            the instance groups; ``provisioning_parameters.json`` must then not be there. ``lifecycle`` where
            the scripts configure Slurm: the package's own need ``node_parameters`` with ``slurm``.
        required_mounts: Paths by instance group that must be mounted and take writes, such as
            ``{"workers": ["/fsx"]}``, where nothing else is to be said. None by default.
        node_parameters: What the scripts know of the cluster; written to ``parameters.json`` beside them, and
            ``slurm`` of it to ``provisioning_parameters.json`` as well, of which HyperPod makes
            ``slurm.conf``. Mounts may have Tokens, such as the DNS name of a file system of this stack: they
            are filled in at deployment, under the same prefix. Default: ``required_mounts`` alone.
        administrators: Roles that may change the bucket's configuration, in addition to the role with which
            CloudFormation deploys the stack. Required where the stack's synthesizer names none.
        kms_key: Key of the objects. Its policy must leave access to IAM. Default: a key of its own, rotated
            every year and retained.
        bucket_name: Physical name in the global namespace; must begin with ``sagemaker-``. Default: a name in
            the account-regional namespace.
        access_log_bucket: Where requests are logged. Default: a bucket of its own.
        upload_memory_mib: Memory of the upload's Lambda function. The CDK shares one function, and its role,
            among all uploads of a stack that have the same memory; sharing this one is an error. Default
            1024.

    Attributes:
        bucket: The bucket of the scripts.
        key: Its key; None for imported scripts without one.
        source_s3_uri: ``s3://<bucket>/lifecycle-scripts/<hash>``, for ``SourceS3Uri`` of an instance group.
        entry_point: File name, for ``OnInitComplete`` or ``OnCreate``.
        content_hash: The hash; None for imported scripts.

    Raises:
        InvalidInputError: With every fault of the folder, or if the bucket could not be changed again.
    """

    bucket: s3.IBucket | None
    key: kms.IKey | None
    source_s3_uri: str
    entry_point: str
    content_hash: str | None

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        folder: str | Path | None = None,
        entry_point: str | None = None,
        slurm_mode: SlurmMode = "api",
        required_mounts: Mapping[str, Sequence[str]] | None = None,
        node_parameters: NodeParameters | None = None,
        administrators: Sequence[iam.IRole] | None = None,
        kms_key: kms.IKey | None = None,
        bucket_name: str | None = None,
        access_log_bucket: AccessLogBucket | None = None,
        upload_memory_mib: int = 1024,
    ) -> None:
        super().__init__(scope, id)
        refuse(
            [
                *check_kinds(administrators, ROLE, (self.node.path, "administrators")),
                *check_kind(kms_key, KEY, (self.node.path, "kms_key")),
            ]
        )
        if folder is not None and not isinstance(folder, (str, Path)):
            message = f"needs the path of a folder of scripts, got {folder!r}"
            raise InvalidInputError([Fault((self.node.path, "folder"), message)])
        self._refuse_parameters(required_mounts, node_parameters)
        self._refuse_slurm_mode(slurm_mode, folder, node_parameters)
        source = scripts_folder() if folder is None else Path(folder)
        self.entry_point = _ENTRY_POINTS[slurm_mode] if entry_point is None else entry_point
        rendered = self._render(source, required_mounts, node_parameters)
        self._check(source, service_configures_slurm=slurm_mode == "api")
        self._files = read_folder(source)
        self.content_hash = content_hash(
            self._files, extra={name: self._without_tokens(text) for name, text in rendered.items()}
        )
        locked = LockedBucket(
            self,
            "Resource",
            label="lcs",
            lock_reads=False,
            noncurrent_version_expiration=Duration.days(90),
            administrators=administrators,
            kms_key=kms_key,
            bucket_name=bucket_name,
            access_log_bucket=access_log_bucket,
        )
        self.bucket = locked.bucket
        self.key = locked.key
        prefix = f"{_PREFIX}/{self.content_hash}"
        self._upload = s3_deployment.BucketDeployment(
            self,
            "Upload",
            sources=[
                s3_deployment.Source.asset(
                    str(source.resolve()),
                    asset_hash=self.content_hash,
                    exclude=list(LEFT_OUT),
                    ignore_mode=IgnoreMode.GIT,
                ),
                *(s3_deployment.Source.data(name, text) for name, text in rendered.items()),
            ],
            destination_bucket=self.bucket,
            destination_key_prefix=prefix,
            prune=False,
            retain_on_delete=True,
            memory_limit=upload_memory_mib,
        )
        locked.add_writer(self._upload.handler_role)
        # Nothing that lay there before the lock outlives the upload under the same keys.
        assert locked.bucket.policy is not None
        self._upload.node.add_dependency(locked.bucket.policy)
        self.source_s3_uri = f"s3://{self.bucket.bucket_name}/{prefix}"
        validate_at_synth(self, self._find_shared_uploads)

    @staticmethod
    def from_s3_uri(
        scope: Construct,
        id: str,
        *,
        source_s3_uri: str,
        entry_point: str,
        bucket: s3.IBucket | None = None,
        kms_key: kms.IKey | None = None,
    ) -> LifecycleScripts:
        """Use scripts that lie in S3 already, as they are.

        Nothing is uploaded or checked, and the bucket's policy stays its owner's: whoever writes there runs
        code as root on the nodes. The warning ``hyperpod:LifecycleScripts.foreignScripts`` says so at
        synthesis.

        Args:
            scope: Parent of the construct.
            id: Id within the parent.
            source_s3_uri: Such as ``s3://sagemaker-scripts/lifecycle``.
            entry_point: File there that HyperPod runs.
            bucket: The bucket, where ``source_s3_uri`` is a Token or begins with ``https``, or another
                account owns it; grants are pinned to ``bucket.env.account``. Default: the bucket in the URI,
                of the stack's account.
            kms_key: Its key, if encrypted with SSE-KMS. None by default.

        Raises:
            InvalidInputError: If the URI is illegal.
        """
        return _ForeignLifecycleScripts(
            scope, id, source_s3_uri=source_s3_uri, entry_point=entry_point, bucket=bucket, kms_key=kms_key
        )

    def starting_at(self, entry_point: str) -> EntryPoint:
        """Another file of the same scripts, for an instance group that runs it in place of ``entry_point``.

        Args:
            entry_point: File at the top of the folder.

        Raises:
            InvalidInputError: If the folder has no such file, or the service could not run it.
        """
        faults = check_entry_point(self._files, entry_point=entry_point)
        refuse(fault._replace(path=(self.node.path, *fault.path)) for fault in faults)
        return EntryPoint(self.source_s3_uri, entry_point)

    def grant_read(self, role: iam.IRole) -> iam.Grant:
        """Allow a role to list the bucket and get the scripts of every hash, and nothing else.

        Only as long as the bucket belongs to the expected account. Earlier hashes are included, since
        replacement nodes of a group not updated yet run them.

        Args:
            role: The execution role of an instance group.

        Raises:
            InvalidInputError: If the role belongs to another account, or the bucket is unknown.
        """
        if self.bucket is None:
            raise InvalidInputError(
                [
                    Fault(
                        (self.node.path, "bucket"),
                        "needed to grant access, got none and a source_s3_uri that is known after "
                        "deployment only; pass bucket=s3.Bucket.from_bucket_name(...)",
                    )
                ]
            )
        return allow_objects(
            self,
            role,
            bucket=self.bucket,
            key=self.key,
            access=READING,
            objects=self._objects(),
        )

    def let_existing_roles_read(self, roles: Sequence[iam.IRole]) -> None:
        """Allow roles that exist already what ``grant_read`` allows, by the policies of bucket and key.

        The roles are not changed, so that one call takes all of them.

        Args:
            roles: Execution roles of the bucket's account that this app does not make.

        Raises:
            InvalidInputError: If a role belongs to another account, or the scripts are imported.
        """
        if self.content_hash is None or self.bucket is None or self.key is None:
            raise InvalidInputError(
                [
                    Fault(
                        (self.node.path,),
                        "cannot let existing roles read: the policy of an imported bucket is its owner's; "
                        "let the owner allow them there, or grant_read to a role that may be changed",
                    )
                ]
            )
        let_existing_roles_in(
            self,
            roles,
            bucket=self.bucket,
            key=self.key,
            access=READING,
            objects=self._objects(),
        )

    def _objects(self) -> str:
        return f"{_PREFIX}/*"

    def _refuse_parameters(
        self, required_mounts: Mapping[str, Sequence[str]] | None, node_parameters: NodeParameters | None
    ) -> None:
        where = (self.node.path, "node_parameters")
        if node_parameters is not None and not isinstance(node_parameters, NodeParameters):
            message = f"must be a NodeParameters, got {node_parameters!r}"
        elif node_parameters is not None and required_mounts is not None:
            message = "has required_mounts of its own; give them there, and leave out required_mounts here"
        else:
            return
        raise InvalidInputError([Fault(where, message)])

    def _refuse_slurm_mode(
        self, slurm_mode: str, folder: str | Path | None, node_parameters: NodeParameters | None
    ) -> None:
        slurm = None if node_parameters is None else node_parameters.slurm
        if slurm_mode not in _ENTRY_POINTS:
            message = (
                f"needs one of {', '.join(map(repr, _ENTRY_POINTS))}, got '{slurm_mode}'; choose who "
                "configures Slurm"
            )
        elif slurm_mode == "lifecycle" and folder is None and slurm is None:
            message = (
                "got 'lifecycle', and nothing says which group is the controller, so that the cluster would "
                "come up without Slurm; pass node_parameters=NodeParameters(slurm=ClassicSlurm(...)), a "
                "folder of scripts that do it, or let the service configure it with 'api'"
            )
        elif slurm_mode == "api" and slurm is not None:
            message = (
                "got 'api' and node_parameters with slurm: an update would find "
                f"{PROVISIONING_PARAMETERS_FILE} beside the service's own configuration, fail and roll back; "
                "say 'lifecycle', or leave slurm out"
            )
        else:
            return
        raise InvalidInputError([Fault((self.node.path, "slurm_mode"), message)])

    def _render(
        self,
        source: Path,
        required_mounts: Mapping[str, Sequence[str]] | None,
        node_parameters: NodeParameters | None,
    ) -> dict[str, str]:
        parameters = node_parameters
        if parameters is None:
            if not required_mounts:
                return {}
            # Only the package's own scripts tell orchestrators apart, and these mounts are of Slurm's nodes.
            parameters = NodeParameters(orchestrator="slurm", required_mounts=required_mounts)
        self._refuse_mounts(parameters.required_mounts)
        rendered = {PARAMETERS_FILE: parameters.render()}
        if parameters.slurm is not None:
            rendered[PROVISIONING_PARAMETERS_FILE] = parameters.slurm.provisioning_parameters()
            for number, warning in enumerate(parameters.slurm.warnings):
                Annotations.of(self).add_warning_v2(f"{SLURM_WARNING}{number}", str(warning))
        refuse(
            Fault(
                (self.node.path, "folder"),
                f"holds {name}, which would be overwritten; rename that file, or leave out what renders it",
            )
            for name in rendered
            if (source / name).exists()
        )
        return rendered

    def _refuse_mounts(self, required_mounts: Mapping[str, Sequence[str]]) -> None:
        faults = []
        where = (self.node.path, "required_mounts")
        for group, paths in required_mounts.items():
            for rule, name, value in [
                (INSTANCE_GROUP, "a group name", group),
                *((MOUNT_PATH, "a path", path) for path in paths),
            ]:
                text = known(value)
                if isinstance(text, Unknown):
                    faults.append(
                        Fault(
                            where,
                            f"needs {name} that is known at synthesis, since the scripts are uploaded under "
                            "the hash of their content, got a Token; write it out",
                        )
                    )
                elif not rule.matches(text):
                    faults.append(Fault(where, f"needs {name} ({rule.in_words}), got '{text}'; correct it"))
        refuse(faults)

    def _without_tokens(self, text: str) -> bytes:
        """What of a rendered file is the same in each synthesis: numbers of Tokens are not."""
        if not Token.is_unresolved(text):
            return text.encode()
        return json.dumps(Stack.of(self).resolve(text), sort_keys=True).encode()

    def _check(self, source: Path, *, service_configures_slurm: bool) -> None:
        bash = shutil.which("bash")
        if bash is None:
            Annotations.of(self).add_warning_v2(
                NO_BASH_WARNING,
                "no bash on this machine, so that nothing says whether the scripts parse; install it",
            )
        faults = check_folder(
            source, entry_point=self.entry_point, service_configures_slurm=service_configures_slurm, bash=bash
        )
        located = [fault._replace(path=(self.node.path, *fault.path)) for fault in faults]
        for number, warning in enumerate(refuse(located)):
            Annotations.of(self).add_warning_v2(f"{SCRIPT_WARNING}{number}", str(warning))

    def _find_shared_uploads(self) -> list[str]:
        role = self._upload.handler_role.node.path
        return [
            f"shares the Lambda function and role of its upload with '{other.node.path}', which could then "
            "write the scripts that run as root on the nodes; give one of them another memory "
            "(upload_memory_mib here, memory_limit on a BucketDeployment)"
            for other in Stack.of(self).node.find_all()
            if isinstance(other, s3_deployment.BucketDeployment)
            and other.node.path != self._upload.node.path
            and other.handler_role.node.path == role
        ]


class _ForeignLifecycleScripts(LifecycleScripts):
    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        source_s3_uri: str,
        entry_point: str,
        bucket: s3.IBucket | None,
        kms_key: kms.IKey | None,
    ) -> None:
        Construct.__init__(self, scope, id)
        uri = known(source_s3_uri)
        named = None if isinstance(uri, Unknown) else _bucket_and_prefix(uri)
        if not isinstance(uri, Unknown) and not (
            SOURCE_S3_URI.matches(uri) and (named is None or BUCKET.matches(named[0]))
        ):
            raise InvalidInputError(
                [
                    Fault(
                        (self.node.path, "source_s3_uri"),
                        f"needs {SOURCE_S3_URI.in_words} of at most {SOURCE_S3_URI.max_length} characters, "
                        f"with a bucket of {BUCKET.in_words}, got '{uri}'; correct it",
                    )
                ]
            )
        refuse(
            [
                *check_kind(bucket, BUCKET_KIND, (self.node.path, "bucket")),
                *check_kind(kms_key, KEY, (self.node.path, "kms_key")),
            ]
        )
        if not isinstance(entry_point, str):
            message = f"needs the name of the file there that HyperPod runs, got {entry_point!r}"
            raise InvalidInputError([Fault((self.node.path, "entry_point"), message)])
        self.source_s3_uri = source_s3_uri
        self.entry_point = entry_point
        self.content_hash = None
        self.key = kms_key
        self.bucket = bucket
        self._key_prefix = "" if named is None else named[1]
        if bucket is None and named is not None:
            self.bucket = s3.Bucket.from_bucket_attributes(
                self, "Bucket", bucket_arn=f"arn:{Aws.PARTITION}:s3:::{named[0]}"
            )
        Annotations.of(self).add_warning_v2(
            FOREIGN_SCRIPTS_WARNING,
            "the policy of the bucket with these lifecycle scripts is not this app's: nothing here denies "
            "writes to others, and whoever writes there runs code as root on the nodes; make sure that its "
            "policy lists the writers",
        )

    def starting_at(self, entry_point: str) -> EntryPoint:
        return EntryPoint(self.source_s3_uri, entry_point)

    def _objects(self) -> str:
        return f"{self._key_prefix.rstrip('/')}/*" if self._key_prefix.strip("/") else "*"


def _bucket_and_prefix(uri: str) -> tuple[str, str] | None:
    if not uri.startswith("s3://"):
        return None
    name, _, prefix = uri.removeprefix("s3://").partition("/")
    return name, prefix
