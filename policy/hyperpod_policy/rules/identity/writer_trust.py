"""The roles that a bucket's lock leaves out are for few to take."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from hyperpod_policy.accounts import belonging
from hyperpod_policy.bucket_locks import exempted
from hyperpod_policy.buckets import guarded_buckets, log_buckets, policy_statements
from hyperpod_policy.clusters import execution_roles
from hyperpod_policy.iam.conditions import Condition
from hyperpod_policy.iam.evaluation import account_of
from hyperpod_policy.iam.patterns import wildcard
from hyperpod_policy.iam.statements import Statement, statements_of
from hyperpod_policy.identities import role_of
from hyperpod_policy.pod_roles import TRUST, pod_roles
from hyperpod_policy.privileges import covers
from hyperpod_policy.rule import Rule, Verdict, failed, passed, undetermined
from hyperpod_policy.template import Resource, Template
from hyperpod_policy.values import Text, Unresolved

_ALLOWED: Final = "named services, roles or identities"
_ON_OBJECTS: Final = ("s3:PutObject", "s3:GetObject")
_ASSUMING: Final = ("sts:AssumeRole", "sts:AssumeRoleWithWebIdentity", "sts:AssumeRoleWithSAML")
_NARROWING: Final = frozenset(
    {"aws:principalarn", "aws:userid", "aws:principalaccount", "aws:principalorgid"}
)


def check(template: Template) -> Iterator[Verdict]:
    """Judge the trust of each role of the template that a lock names, and no other rule judges."""
    judged = {role.key for role in pod_roles(template)}
    for used in execution_roles(template):
        nodes = role_of(template, used.value)
        if nodes is not None:
            judged.add(nodes.key)
    for guarded in (*guarded_buckets(template), *log_buckets(template)):
        for value, statement in exempted(policy_statements(template, guarded.bucket)[0]):
            role = role_of(template, value)
            if role is None:
                yield from _elsewhere(guarded.words, statement, value)
            elif role.key not in judged:
                judged.add(role.key)
                verdicts = [*_judge(role, guarded.words)]
                yield from verdicts if verdicts else [passed(role, TRUST)]


def _elsewhere(words: str, statement: Statement, value: Any) -> Iterator[Verdict]:
    """Judge a principal of the own account that the lock of objects names and the template does not make.

    Who administers a bucket's configuration is in no template of the cluster, as a rule; who writes its
    objects is. Patterns and other accounts have rules of their own.
    """
    if not any(covers(statement, action) for action in _ON_OBJECTS) or wildcard(value):
        return
    holder, path = statement.holder, statement.path
    if account_of(value) is not None:
        found = f"leaves {value}, the root user, out of the lock of {words}"
        yield failed(holder, *path, found=found, allowed=_ALLOWED, severity="warning")
    elif belonging(value, holder) == "own":
        found = f"leaves {value} out of the lock of {words}: who may take it is not in this template"
        yield undetermined(holder, *path, found=found, allowed="roles whose trust the template shows")


def _judge(role: Resource, words: str) -> Iterator[Verdict]:
    for statement in statements_of(role, TRUST):
        if isinstance(statement, Unresolved):
            yield undetermined(role, TRUST, found=f"is {statement}", allowed=_ALLOWED)
        elif statement.effect == "Allow" and any(covers(statement, action) for action in _ASSUMING):
            if statement.not_principal:
                found = f"writes {words}, and trusts everybody but those in NotPrincipal"
                yield failed(role, *statement.path, found=found, allowed=_ALLOWED)
            for kind, value in () if statement.not_principal else statement.principals:
                yield from _principal(role, statement, kind, value, words)


def _principal(role: Resource, statement: Statement, kind: str, value: Any, words: str) -> Iterator[Verdict]:
    found = f"is left out of the lock of {words}, and trusts {kind} {value}"
    if kind == "Federated":
        if not any(_names_subject(condition) for condition in statement.conditions):
            more = "whatever the subject of its tokens is"
            yield failed(
                role, *statement.path, found=f"{found}, {more}", allowed="a condition on the subject"
            )
        return
    if kind not in ("AWS", "*") or any(_narrows(condition) for condition in statement.conditions):
        return
    if value == "*":
        found = f"is left out of the lock of {words}, and trusts everybody"
        yield failed(role, *statement.path, found=found, allowed=_ALLOWED)
        return
    where = belonging(value, role)
    if where == "other":
        yield failed(role, *statement.path, found=f"{found}, of another account", allowed=_ALLOWED)
    elif where == "unknown":
        yield undetermined(role, *statement.path, found=found, allowed=_ALLOWED)
    elif account_of(value) is not None:
        found = f"{found}: whoever has sts:AssumeRole in the account"
        yield failed(role, *statement.path, found=found, allowed=_ALLOWED, severity="warning")


def _names_subject(condition: Condition) -> bool:
    """Whether a condition demands a subject (OpenID Connect or SAML) that does not begin with a wildcard."""
    return (
        condition.key.lower().endswith(":sub")
        and not condition.negated
        and not condition.operator.endswith("IfExists")
        and not condition.operator.startswith("ForAllValues")
        and all(_is_narrow(value) for value in condition.values)
    )


def _is_narrow(value: Any) -> bool:
    start = value.parts[0] if isinstance(value, Text) else value
    if not isinstance(start, str):
        return True
    # the subjects of other organisations of the same issuer begin alike: repo:ORGANISATION/REPOSITORY:...
    return not start.partition(":")[2].startswith(("*", "?")) and not start.startswith(("*", "?"))


def _narrows(condition: Condition) -> bool:
    return (
        condition.key.lower() in _NARROWING
        and not condition.negated
        and not condition.operator.endswith("IfExists")
        and "*" not in condition.values
    )


RULE = Rule(
    id="WriterTrust",
    title="the roles that may write or administer guarded buckets are for few to take",
    severity="error",
    why=(
        "A lock that lists a role is as strong as that role's trust. Whoever may take the role writes what "
        "runs on the training nodes, and the bucket policy cannot tell them apart."
    ),
    fix=(
        "let the trust policy name the service, role or identity provider that needs the role; for tokens "
        "demand their subject"
    ),
    source=(
        "IAM user guide, role trust policies, the confused deputy problem and roles for OpenID Connect "
        "identity providers"
    ),
    check=check,
)
