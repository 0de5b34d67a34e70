"""The key that says who wrote a checkpoint."""

from __future__ import annotations

from collections.abc import Sequence

from aws_cdk import Annotations, Aws, RemovalPolicy
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from constructs import Construct

from hyperpod_constructs.argument_kinds import KEY, ROLE, check_kind, check_kinds
from hyperpod_constructs.bucket_lock import ExceptRoles
from hyperpod_constructs.deploying_role import deploying_role_arn
from hyperpod_constructs.locked_bucket import refuse_foreign_role
from hyperpod_model.catalog.iam import (
    KMS_KEY_CONFIGURATION_ACTIONS,
    KMS_MAC_SIGNING_ACTIONS,
    KMS_MAC_VERIFYING_ACTIONS,
)
from hyperpod_model.faults import Fault, InvalidInputError, refuse

FOREIGN_KEY_WARNING = "hyperpod:CheckpointSigningKey.foreignKey"


class CheckpointSigningKey(Construct):
    """HMAC key in KMS: those who save checkpoints sign them, those who load them can verify and not sign.

    A checkpoint is unpickled when a job resumes, and unpickling runs code. ``CheckpointBucket`` keeps other
    writers out; this key lets the reading side tell, before anything is unpickled, what a listed writer saved
    from what got there otherwise: through a file system, a restored version, another bucket, a lifted policy.
    Jobs use it through ``hyperpod_lifecycle.training``, as ``KmsKey(<ARN>)``.

    The key's policy leaves access to IAM and denies, whatever identity policies and grants say:

    - ``kms:GenerateMac``, except to ``signers``;
    - changes of the policy, disabling and deletion, except to the administrators and the account's root user,
      who keeps the way out of a lock-out.

    As long as nobody signs, everybody is denied. HMAC keys cannot rotate by themselves: make another one and
    let jobs trust both for a while (``KeyRing``). The key is retained when the stack goes, since without it
    no checkpoint verifies any more. Source: KMS developer guide, HMAC keys in AWS KMS.

    What remains possible, and to whom: a signer, in any of its sessions, can sign what it likes; on Slurm
    that is every user who can run a job. An administrator can list more signers.

    Args:
        scope: Parent of the construct.
        id: Id within the parent.
        signers: Roles exempt from the denial of ``kms:GenerateMac``; they still need permissions. None by
            default: nobody signs.
        administrators: Roles that may change the key, besides the role with which CloudFormation deploys the
            stack, as its synthesizer names it. Required where it names none.

    Attributes:
        key: The key.

    Raises:
        InvalidInputError: If nobody could change the key again, a role's ARN is not that of one role, or a
            role of another stack has no physical name.
    """

    key: kms.IKey

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        signers: Sequence[iam.IRole] = (),
        administrators: Sequence[iam.IRole] | None = None,
    ) -> None:
        super().__init__(scope, id)
        where = self.node.path
        refuse(
            [
                *check_kinds(signers, ROLE, (where, "signers"), required=True),
                *check_kinds(administrators, ROLE, (where, "administrators")),
            ]
        )
        deploying_role = deploying_role_arn(self)
        if deploying_role is None and not administrators:
            message = (
                "the stack's synthesizer names no role with which CloudFormation deploys, so nobody but the "
                "root user could change this key again; pass administrators=[...] with the role that deploys "
                "the stack"
            )
            raise InvalidInputError([Fault((where, "administrators"), message)])
        # Aws.PARTITION: the CDK's own would depend on a feature flag.
        root_user = f"arn:{Aws.PARTITION}:iam::{Aws.ACCOUNT_ID}:root"
        leave_to_iam = iam.PolicyStatement(
            sid="LeaveAccessToIam",
            principals=[iam.ArnPrincipal(root_user)],
            actions=["kms:*"],
            resources=["*"],
        )
        key = kms.Key(
            self,
            "Resource",
            description=f"Signs checkpoints: {where}",
            key_spec=kms.KeySpec.HMAC_256,
            key_usage=kms.KeyUsage.GENERATE_VERIFY_MAC,
            removal_policy=RemovalPolicy.RETAIN,
            policy=iam.PolicyDocument(statements=[leave_to_iam]),
        )
        self.key = key
        self._signing = ExceptRoles(
            self,
            key,
            sid="DenySigningExceptSigners",
            what="signers",
            actions=KMS_MAC_SIGNING_ACTIONS,
            resource="*",
        )
        configuration = ExceptRoles(
            self,
            key,
            sid="DenyConfigurationExceptAdministrators",
            what="administrators",
            actions=KMS_KEY_CONFIGURATION_ACTIONS,
            resource="*",
        )
        configuration.add_pattern(root_user)
        if deploying_role is not None:
            configuration.add_arn(deploying_role)
        for role in () if administrators is None else administrators:
            configuration.add_role(role)
        for role in signers:
            self.add_signer(role)

    @staticmethod
    def from_key(scope: Construct, id: str, *, key: kms.IKey) -> CheckpointSigningKey:
        """Use a key that exists already, such as one that several clusters share.

        Its policy stays its owner's, with the warning ``hyperpod:CheckpointSigningKey.foreignKey``. Grants
        allow the role its action; where the key's policy denies it, its owner has to list the role.

        Args:
            scope: Parent of the construct.
            id: Id within the parent.
            key: A key of spec ``HMAC_256``, such as ``kms.Key.from_key_arn(...)``.
        """
        return _ForeignSigningKey(scope, id, key=key)

    def add_signer(self, role: iam.IRole) -> None:
        """Exempt a role from the denial of ``kms:GenerateMac``; it still needs permissions of its own.

        Args:
            role: Of another stack: with a physical name.

        Raises:
            InvalidInputError: If the role is that of EKS nodes, or lives in another stack and has no physical
                name.
        """
        refuse(check_kind(role, ROLE, (self.node.path, "role"), required=True))
        if getattr(role, "orchestrator", None) == "eks":
            message = (
                f"cannot make '{role.node.path}' a signer: it is the role of EKS nodes, which every pod on "
                "the host network works with; let a TrainingPodRole sign checkpoints"
            )
            raise InvalidInputError([Fault((self.node.path,), message)])
        self._signing.add_role(role)

    def grant_sign(self, role: iam.IRole) -> iam.Grant:
        """Make a role a signer and allow it to sign and to verify: jobs that save also resume.

        Args:
            role: A role of the key's account: on Slurm the nodes' execution role, on EKS a
                ``TrainingPodRole``.

        Raises:
            InvalidInputError: If the role is that of EKS nodes, belongs to another account, or to another
                stack without a physical name.
        """
        refuse_foreign_role(self, role, self.key.env.account)
        self.add_signer(role)
        return self._allow(role, [*KMS_MAC_SIGNING_ACTIONS, *KMS_MAC_VERIFYING_ACTIONS])

    def grant_verify(self, role: iam.IRole) -> iam.Grant:
        """Allow a role to verify, and not to sign.

        Args:
            role: A role of the key's account, such as one that evaluates checkpoints.

        Raises:
            InvalidInputError: If the role belongs to another account.
        """
        refuse(check_kind(role, ROLE, (self.node.path, "role"), required=True))
        refuse_foreign_role(self, role, self.key.env.account)
        return self._allow(role, KMS_MAC_VERIFYING_ACTIONS)

    def let_existing_roles_sign(self, roles: Sequence[iam.IRole]) -> None:
        """Allow roles that exist already what ``grant_sign`` allows, by the key's policy, in one call.

        Args:
            roles: Roles of the key's account that this app does not make. KMS refuses one that does not
                exist.

        Raises:
            InvalidInputError: If a role belongs to another account.
        """
        for role in roles:
            self.add_signer(role)
        self._let_in("ExistingSigners", roles, [*KMS_MAC_SIGNING_ACTIONS, *KMS_MAC_VERIFYING_ACTIONS])

    def let_existing_roles_verify(self, roles: Sequence[iam.IRole]) -> None:
        """Allow roles that exist already what ``grant_verify`` allows, by the key's policy, in one call.

        Args:
            roles: Roles of the key's account that this app does not make. KMS refuses one that does not
                exist.

        Raises:
            InvalidInputError: If a role belongs to another account.
        """
        self._let_in("ExistingVerifiers", roles, KMS_MAC_VERIFYING_ACTIONS)

    def _allow(self, role: iam.IRole, actions: Sequence[str]) -> iam.Grant:
        return iam.Grant.add_to_principal(
            grantee=role, actions=list(actions), resource_arns=[self.key.key_arn]
        )

    def _let_in(self, sid: str, roles: Sequence[iam.IRole], actions: Sequence[str]) -> None:
        if not roles:
            return
        for role in roles:
            refuse_foreign_role(self, role, self.key.env.account)
        self.key.add_to_resource_policy(
            iam.PolicyStatement(
                sid=sid,
                principals=[iam.ArnPrincipal(role.role_arn) for role in roles],
                actions=list(actions),
                resources=["*"],
                # Says to whoever reviews the template that no role of another account is let in.
                conditions={"StringEquals": {"kms:CallerAccount": self.key.env.account}},
            )
        )


class _ForeignSigningKey(CheckpointSigningKey):
    def __init__(self, scope: Construct, id: str, *, key: kms.IKey) -> None:
        Construct.__init__(self, scope, id)
        refuse(check_kind(key, KEY, (self.node.path, "key"), required=True))
        self.key = key
        Annotations.of(self).add_warning_v2(
            FOREIGN_KEY_WARNING,
            f"the policy of the imported key '{key.node.path}' cannot be changed here; make sure that it "
            "denies kms:GenerateMac to all but those who save checkpoints",
        )

    def add_signer(self, role: iam.IRole) -> None:
        refuse(check_kind(role, ROLE, (self.node.path, "role"), required=True))

    def _let_in(self, sid: str, roles: Sequence[iam.IRole], actions: Sequence[str]) -> None:
        for role in roles:
            refuse_foreign_role(self, role, self.key.env.account)
