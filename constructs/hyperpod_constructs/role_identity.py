"""What a policy elsewhere may say of a role without tying two stacks in a circle."""

from __future__ import annotations

from aws_cdk import ArnFormat, Aws, Stack, Token
from aws_cdk import aws_iam as iam
from constructs import IConstruct

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
