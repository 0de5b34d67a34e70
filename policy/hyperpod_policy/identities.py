"""Roles and what their policies say."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from hyperpod_model.catalog.iam import CLUSTER_INSTANCE_MANAGED_POLICY
from hyperpod_model.faults import FaultPath
from hyperpod_policy.iam.evaluation import Request, permitted
from hyperpod_policy.iam.statements import Statement, statements_of
from hyperpod_policy.template import Resource, Template
from hyperpod_policy.values import (
    Anything,
    Expression,
    Pseudo,
    Reference,
    Text,
    Unresolved,
    concatenated,
    elements,
    resources_in,
    same,
)

ROLE: Final = "AWS::IAM::Role"
MANAGED_POLICY: Final = "AWS::IAM::ManagedPolicy"

_INLINE_POLICIES: Final = ("AWS::IAM::Policy", "AWS::IAM::RolePolicy")


@dataclass(slots=True)
class Permissions:
    """What the policies of a role say.

    Attributes:
        statements: Statements of inline and managed policies in the template.
        aws_managed: Names of AWS managed policies, each with where it is attached.
        unknown: Policies that the template does not show, each with where it is attached.
        boundary: Statements of the permissions boundary; ``None`` if the role has none.
        boundary_is_known: Whether the template shows all of it.
    """

    statements: list[Statement] = field(default_factory=list)
    aws_managed: list[tuple[str, Resource, FaultPath]] = field(default_factory=list)
    unknown: list[tuple[Any, Resource, FaultPath]] = field(default_factory=list)
    boundary: list[Statement] | None = None
    boundary_is_known: bool = True

    def permit(self, request: Request, resource_policy: Sequence[Statement] = ()) -> bool | None:
        """Tell whether the statements in the template permit some of a request of the role.

        Args:
            request: What the role tries to do.
            resource_policy: Statements of the policy of what it acts on, in the same account.
        """
        statements = [*self.statements, *resource_policy]
        if self.boundary_is_known:
            return permitted(statements, request, boundary=self.boundary)
        answer = permitted(statements, request)
        return None if answer else answer

    @property
    def complete(self) -> bool:
        """Whether nothing is left that the template does not show; the nodes' own managed policy is known."""
        return not self.unknown and all(
            name == CLUSTER_INSTANCE_MANAGED_POLICY for name, _, _ in self.aws_managed
        )


def role_of(template: Template, value: Any) -> Resource | None:
    """Return the role whose ARN a value is, written out or not, if the template makes it."""
    if isinstance(value, Reference) and value.attribute == "Arn":
        return template.resource(value, ROLE)
    spelled = template.spelled(value)
    if isinstance(spelled, str | Text):
        rest = _without_partition(spelled)
        for role in template.of_type(ROLE):
            if same(_without_partition(_written_arn(role)), rest):
                return role
    return None


def managed_policy_of(template: Template, arn: Any) -> Resource | None:
    """Return the managed policy whose ARN a value is, written out or not, if the template makes it."""
    found = template.resource(arn, MANAGED_POLICY)
    if found is not None or not isinstance(arn, str | Text):
        return found
    rest = _without_partition(arn)
    for policy in template.of_type(MANAGED_POLICY):
        name = policy.get("ManagedPolicyName")
        if name is not None and same(_without_partition(_arn_written_out(policy, "policy", name)), rest):
            return policy
    return None


def _written_arn(role: Resource) -> Any:
    return _arn_written_out(role, "role", role.get("RoleName", default=role.ref))


def _arn_written_out(resource: Resource, kind: str, name: Any) -> Any:
    """Return an ARN of IAM as one puts it together of account, path and name."""
    account = resource.document.account
    return concatenated(
        (
            "arn:",
            Pseudo("AWS::Partition"),
            ":iam::",
            Pseudo("AWS::AccountId") if account is None else account,
            f":{kind}",
            resource.get("Path", default="/"),
            name,
        )
    )


def _without_partition(arn: Any) -> Any:
    """Return an ARN without its partition, which is written out here and left to deployment there."""
    parts = arn.parts if isinstance(arn, Text) else (arn,)
    if parts[:2] == ("arn:", Pseudo("AWS::Partition")):
        return concatenated(parts[2:])
    if isinstance(parts[0], str) and parts[0].startswith("arn:"):
        return concatenated((parts[0][parts[0].find(":", len("arn:")) :], *parts[1:]))
    return arn


def arn_of(role: Resource) -> Reference:
    """Return the ARN of a role of the template."""
    return Reference(role.key, "Arn")


def session_id(role: Resource) -> Any:
    """Return what ``aws:userid`` is for sessions of a role of the template."""
    return concatenated((Reference(role.key, "RoleId"), ":", Anything("session name")))


def permissions(template: Template, role: Resource) -> Permissions:
    """Gather what the policies of a role say."""
    return template.once(_all_permissions)[role.key]


def _all_permissions(template: Template) -> dict[str, Permissions]:
    return {
        role.key: gathered(template, role, attached_policies(template, role))
        for role in template.of_type(ROLE)
    }


def attached_policies(template: Template, role: Resource) -> list[Resource]:
    """Return the policies that are resources of their own and attach themselves to a role."""
    found = []
    for policy in template.of_type(*_INLINE_POLICIES, MANAGED_POLICY):
        names = elements(policy.get("Roles"))[0] or elements(policy.get("RoleName"))[0]
        if any(_is_name_of(template, name, role) for name in names):
            found.append(policy)
    return found


def _is_name_of(template: Template, name: Any, role: Resource) -> bool:
    if name == role.ref or ("RoleName" in role.properties and same(name, role.get("RoleName")) is True):
        return True
    return isinstance(name, Expression) and role.key in resources_in(name)  # such as the end of its ARN


def gathered(template: Template, holder: Resource, attached: Iterable[Resource]) -> Permissions:
    """Gather the policies of a role, user or group.

    Args:
        template: Template under review.
        holder: The role, user or group.
        attached: Policies that name it, rather than being named by it.
    """
    found = Permissions()

    def add(source: Resource, *path: str | int) -> None:
        for statement in statements_of(source, *path):
            if isinstance(statement, Unresolved):
                found.unknown.append((statement, source, path))
            else:
                found.statements.append(statement)

    inline, complete = elements(holder.get("Policies"))
    if not complete:
        found.unknown.append((holder.get("Policies"), holder, ("Policies",)))
    for position in range(len(inline)):
        add(holder, "Policies", position, "PolicyDocument")
    for policy in attached:
        add(policy, "PolicyDocument")
    _read_boundary(template, holder, found)
    arns, complete = elements(holder.get("ManagedPolicyArns"))
    if not complete:
        found.unknown.append((holder.get("ManagedPolicyArns"), holder, ("ManagedPolicyArns",)))
    for position, arn in enumerate(arns):
        path: FaultPath = ("ManagedPolicyArns", position)
        policy_resource = managed_policy_of(template, arn)
        name = aws_managed_name(arn)
        if policy_resource is not None:
            add(policy_resource, "PolicyDocument")
        elif name is not None:
            found.aws_managed.append((name, holder, path))
        else:
            found.unknown.append((arn, holder, path))
    return found


def _read_boundary(template: Template, role: Resource, found: Permissions) -> None:
    arn = role.get("PermissionsBoundary")
    if arn is None or aws_managed_name(arn) == "AdministratorAccess":
        return
    found.boundary = []
    policy = managed_policy_of(template, arn)
    found.boundary_is_known = policy is not None
    for statement in () if policy is None else statements_of(policy, "PolicyDocument"):
        if isinstance(statement, Unresolved):
            found.boundary_is_known = False
        else:
            found.boundary.append(statement)


def aws_managed_name(arn: Any) -> str | None:
    """Return the name of an AWS managed policy, without its path, or ``None`` if the ARN is another's."""
    rest = _without_partition(arn)
    if not isinstance(rest, str) or not rest.startswith(":iam::aws:policy/"):
        return None
    return rest.rpartition("/")[2]
