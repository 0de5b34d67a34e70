"""Access for roles that exist already and are not to be changed: through the policies of bucket and key."""

from __future__ import annotations

from collections.abc import Sequence

from aws_cdk import Annotations
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_s3 as s3
from constructs import Construct

from hyperpod_constructs.locked_bucket import refuse_foreign_role
from hyperpod_constructs.object_access import ObjectAccess
from hyperpod_model.catalog.iam import bucket_key_via_service

FOREIGN_KEY_WARNING = "hyperpod:ExistingRoleAccess.foreignKey"


def let_existing_roles_in(
    scope: Construct,
    roles: Sequence[iam.IRole],
    *,
    bucket: s3.IBucket,
    key: kms.IKey,
    access: ObjectAccess,
    objects: str = "*",
    sid: str = "ExistingRoles",
) -> None:
    """Allow roles to work with a bucket's objects, without a change of the roles.

    A role that exists before the stack cannot name the stack's bucket and key in policies of its own, whose
    names are not known yet. Within one account, an allowance in the policy of bucket and key suffices. S3 and
    KMS refuse a policy that names a role that does not exist.

    An imported key is left as it is, with the warning ``hyperpod:ExistingRoleAccess.foreignKey``.

    Args:
        scope: The construct that grants; errors and warnings name it.
        roles: Roles of the bucket's account, none of them made by this app. Nothing happens without any.
        bucket: The bucket, made by this app.
        key: Its key.
        access: Actions on bucket, objects and key.
        objects: Pattern of object keys.
        sid: What the ids of the statements begin with. They are unique in a policy, so a second call for a
            bucket needs another.

    Raises:
        InvalidInputError: If a role is known to belong to another account.
    """
    if not roles:
        return
    for role in roles:
        refuse_foreign_role(scope, role, bucket.env.account)
    principals = [iam.ArnPrincipal(role.role_arn) for role in roles]
    for statement_id, actions, resource in (
        (f"{sid}OnBucket", access.bucket, bucket.bucket_arn),
        (f"{sid}OnObjects", access.objects, bucket.arn_for_objects(objects)),
    ):
        bucket.add_to_resource_policy(
            iam.PolicyStatement(
                sid=statement_id, principals=principals, actions=list(actions), resources=[resource]
            )
        )
    on_key = key.add_to_resource_policy(
        iam.PolicyStatement(
            sid=f"{sid}ThroughS3",
            principals=principals,
            actions=list(access.key),
            resources=["*"],
            conditions={"StringLike": {"kms:ViaService": bucket_key_via_service(bucket.env.region)}},
        )
    )
    if not on_key.statement_added:
        Annotations.of(scope).add_warning_v2(
            FOREIGN_KEY_WARNING,
            f"the policy of the imported key '{key.node.path}' cannot be changed here; make sure that "
            f"{', '.join(role.node.path for role in roles)} may use it ({', '.join(access.key)})",
        )
