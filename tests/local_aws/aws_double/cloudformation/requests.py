"""Makes the goal of a request: template, parameters, tags and the principal to work as."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import unquote, urlsplit

from aws_double.cloudformation.errors import Refused
from aws_double.cloudformation.parameters import given_values, resolved_values
from aws_double.cloudformation.stack import Goal, Stack
from aws_double.cloudformation.stacks import Stacks
from aws_double.cloudformation.template import Template
from aws_double.cloudformation.world import StackWorld
from aws_double.session import Session


def goal_of(
    request: Mapping[str, Any], stack: Stack, stacks: Stacks, caller: Session
) -> tuple[Goal, Session]:
    """Return what a request wants a stack to be, and the principal to work as.

    Args:
        request: Of ``CreateStack``, ``UpdateStack`` or ``CreateChangeSet``.
        stack: The stack; its role, tags and parameters count where the request says nothing.
        stacks: The region's.
        caller: Who asks.

    Raises:
        Refused: If the request is not valid.
    """
    template = template_of(request, stack, caller)
    template.check_capabilities(request.get("Capabilities", []))
    previous = stack.goal
    given = given_values(
        template.section("Parameters"),
        request.get("Parameters", []),
        {} if previous is None else previous.given,
    )
    role_arn = request.get("RoleARN", stack.role_arn)
    session = stacks.session(role_arn, caller)
    world = StackWorld(stack, stack.resources, session, stacks.exports)
    if "Tags" in request or previous is None:
        tags = {tag["Key"]: tag["Value"] for tag in request.get("Tags", [])}
    else:
        tags = dict(previous.tags)
    goal = Goal(
        template=template,
        given=given,
        parameters=resolved_values(template.section("Parameters"), given, world.parameter),
        tags=tags,
        capabilities=tuple(request.get("Capabilities", [])),
        role_arn=role_arn,
        notification_arns=tuple(request.get("NotificationARNs", [])),
    )
    return goal, session


def template_of(request: Mapping[str, Any], stack: Stack | None, caller: Session) -> Template:
    """Return the template of a request.

    Raises:
        Refused: If it has none, or what it has is not valid.
    """
    if request.get("UsePreviousTemplate"):
        if stack is None or stack.goal is None:
            raise Refused("UsePreviousTemplate is for a stack that has a template")
        return stack.goal.template
    if "TemplateBody" in request:
        return Template(request["TemplateBody"])
    if "TemplateURL" in request:
        return Template(_fetched(request["TemplateURL"], caller))
    raise Refused("Either Template URL or Template Body must be specified.")


def _fetched(url: str, caller: Session) -> str:
    """Read a template from S3 as the caller, as CloudFormation does."""
    parts = urlsplit(url)
    host, path = parts.netloc, unquote(parts.path.lstrip("/"))
    bucket, _, rest = host.partition(".s3")
    if rest and not host.startswith("s3."):
        key = path
    else:
        bucket, _, key = path.partition("/")
    try:
        body: bytes = caller.client("s3").get_object(Bucket=bucket, Key=key)["Body"].read()
    except Exception as error:
        raise Refused(f"S3 error: {error}") from error
    return body.decode()
