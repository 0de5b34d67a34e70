"""What a policy elsewhere may say of a role without tying two stacks in a circle."""

from __future__ import annotations

from aws_cdk import ArnFormat, Aws, Stack, Token
from aws_cdk import aws_iam as iam
from constructs import IConstruct

from hyperpod_constructs.security_group_rules import reference_target
from hyperpod_model.faults import Fault, InvalidInputError


def deployed_stack(construct: IConstruct) -> Stack:
    """The stack that is deployed with a construct: its own, or the outermost parent of a nested one."""
    stack = Stack.of(construct)
    while stack.nested_stack_parent is not None:
        stack = stack.nested_stack_parent
    return stack


def role_arn_for(scope: IConstruct, role: iam.IRole, *, what: str) -> str:
    """ARN of a role as a policy in ``scope`` may name it.

    Within one deployment that is the role's own attribute. The ARN of a role in another stack is written out
    from its physical name: the attribute would make ``scope``'s stack import from the role's stack, whose
    permissions import from ``scope``'s, and CloudFormation accepts no such circle.

    Args:
        scope: The construct whose policy names the role.
        role: Any role, imported ones included.
        what: What the role is to the policy, for the error, such as ``writers``.

    Raises:
        InvalidInputError: If the role lives in another stack and has no physical name.
    """
    arn = role.role_arn
    if not Token.is_unresolved(arn) or deployed_stack(scope).node.path == deployed_stack(role).node.path:
        return arn
    resource = role.node.default_child
    if not isinstance(resource, iam.CfnRole):
        # Imported: the token is the user's own, such as a parameter, and no resource stands behind it.
        return arn
    if resource.role_name is None or Token.is_unresolved(resource.role_name):
        raise InvalidInputError(
            [
                Fault(
                    (scope.node.path, what),
                    f"role '{role.node.path}' lives in another stack and has no physical name, so that "
                    "naming it here would make the two stacks depend on each other; give it a role_name, or "
                    "create it in this stack",
                )
            ]
        )
    path = "/" if resource.path is None else resource.path
    owner = Stack.of(role)
    return owner.format_arn(
        service="iam",
        # Stack.partition is a literal or a token depending on a feature flag.
        partition=Aws.PARTITION,
        region="",
        resource="role",
        resource_name=f"{path}{resource.role_name}".lstrip("/"),
        arn_format=ArnFormat.SLASH_RESOURCE_NAME,
    )


def may_be_same_role(one: iam.IRole, other: iam.IRole) -> bool:
    """Whether two roles can turn out to be one: an import, a wrapper or a namesake of the other.

    Names of roles are unique within an account, whatever their paths. Where an account is known at
    deployment only, the same name is taken for the same role.

    Args:
        one: Any role, imported ones included.
        other: Another one.
    """
    target, other_target = reference_target(one.role_arn), reference_target(other.role_arn)
    if target is not None and other_target is not None and target.node.path == other_target.node.path:
        return True
    if one.role_arn == other.role_arn:
        return True
    name, other_name = _physical_name(one), _physical_name(other)
    if name is None or name != other_name:
        return False
    accounts = (one.env.account, other.env.account)
    return any(Token.is_unresolved(account) for account in accounts) or accounts[0] == accounts[1]


def _physical_name(role: iam.IRole) -> str | None:
    resource = reference_target(role.role_arn)
    if isinstance(resource, iam.CfnRole):
        name = resource.role_name
    elif resource is None:
        name = role.role_arn.rpartition("/")[2]
    else:
        name = None
    return None if name is None or Token.is_unresolved(name) else name
