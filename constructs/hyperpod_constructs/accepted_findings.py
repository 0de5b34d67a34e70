"""How findings of cdk-nag are accepted, one by one.

An acknowledgement is as narrow as its finding: one rule on one resource, and where the rule tells findings
apart (``AwsSolutions-IAM5[Resource::...]``) one finding.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from aws_cdk import Stack
from aws_cdk import aws_iam as iam
from constructs import IConstruct

SOLUTIONS = "AwsSolutions::AwsSolutions-"
NIST = "NIST.800.53.R5::NIST.800.53.R5-"
BASIC_EXECUTION = "service-role/AWSLambdaBasicExecutionRole"


class Accepted(NamedTuple):
    """A finding that is accepted.

    Attributes:
        construct: The resource it is found on.
        id: Full id of the finding, with its pack, such as ``AwsSolutions::AwsSolutions-L1``.
        reason: Why it is right to accept it.
    """

    construct: IConstruct
    id: str
    reason: str


Findings = Callable[[IConstruct], Iterator[tuple[str, str]]]


def of_resource(resource: IConstruct, findings: Mapping[type, Findings]) -> Iterator[Accepted]:
    """Yield what is accepted on a resource.

    Args:
        resource: The resource.
        findings: What is accepted by class of L1.
    """
    find = findings.get(type(resource))
    if find is not None:
        for id, reason in find(resource):
            yield Accepted(resource, id, reason)


def always(findings: Mapping[str, str]) -> Findings:
    """Accept findings on every resource.

    Args:
        findings: Reason by full id.
    """

    def find(_resource: IConstruct) -> Iterator[tuple[str, str]]:
        yield from findings.items()

    return find


def managed_policies(reasons: Mapping[str, str]) -> Findings:
    """Accept managed policies of AWS on a role.

    Args:
        reasons: Reason by name of the policy, with its path.
    """
    prefix = f"{SOLUTIONS}IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/"
    return always({f"{prefix}{name}]": reason for name, reason in reasons.items()})


def wildcards(reason_for: Callable[[Mapping[str, Any], str], str | None]) -> Findings:
    """Accept wildcards in a policy's statements, one by one.

    Args:
        reason_for: Given a statement and the action or resource with the wildcard, the reason, or None to let
            the finding stand.
    """

    def find(resource: IConstruct) -> Iterator[tuple[str, str]]:
        seen = set()
        for statement in _statements(resource):
            for kind in ("Action", "Resource"):
                for value in _listed(statement.get(kind)):
                    text = _flat(value)
                    finding = f"{kind}::{text}"
                    if "*" not in text or finding in seen:
                        continue
                    reason = reason_for(statement, text)
                    if reason is not None:
                        seen.add(finding)
                        yield f"{SOLUTIONS}IAM5[{finding}]", reason

    return find


def together(*all_findings: Findings) -> Findings:
    """Accept what any of several accept."""

    def find(resource: IConstruct) -> Iterator[tuple[str, str]]:
        for findings in all_findings:
            yield from findings(resource)

    return find


def _statements(resource: IConstruct) -> list[dict[str, Any]]:
    assert isinstance(resource, iam.CfnPolicy | iam.CfnManagedPolicy)
    document = Stack.of(resource).resolve(resource.policy_document)
    return _listed(document["Statement"])


def _listed(value: Any) -> list[Any]:
    if value is None:
        return []
    return value if isinstance(value, list) else [value]


def _flat(value: Any) -> str:
    """Write a resolved value as cdk-nag writes it in a finding's id: ``<LogicalId.Arn>/*``."""
    match value:
        case {"Ref": str(name)}:
            return f"<{name}>"
        case {"Fn::GetAtt": [str(name), str(attribute)]}:
            return f"<{name}.{attribute}>"
        case {"Fn::Join": [str(delimiter), list(parts)]}:
            return delimiter.join(_flat(part) for part in parts)
        case {"Fn::Sub": str(text)}:
            return text.replace("${", "<").replace("}", ">")
        case {**members} if members:
            return json.dumps(value, separators=(",", ":"))
    return str(value)


def by_sid(reasons: Mapping[str, str]) -> Findings:
    """Accept wildcards of the statements with some ids.

    Args:
        reasons: Reason by statement id.
    """
    return wildcards(lambda statement, _: reasons.get(statement.get("Sid", "")))


def pinned_objects(statement: Mapping[str, Any], wildcard: str) -> str | None:
    """Accept a wildcard over the objects of one bucket, if the statement pins the bucket's account."""
    pinned = "s3:ResourceAccount" in statement.get("Condition", {}).get("StringEquals", {})
    return PINNED_OBJECTS if pinned and wildcard.endswith("/*") else None


PINNED_OBJECTS = (
    "objects get names at run time, so a grant on the objects of one named bucket ends in a wildcard; it is "
    "pinned to the expected account by s3:ResourceAccount"
)
SHORT_LIVED_FUNCTION = {
    f"{NIST}LambdaConcurrency": (
        "CloudFormation alone calls it, a few times in the stack's life; reserved concurrency would take "
        "from the account's pool for good"
    ),
    f"{NIST}LambdaDLQ": "CloudFormation alone calls it and waits for the answer; a failure fails the "
    "deployment",
    f"{NIST}LambdaInsideVPC": (
        "it calls AWS APIs only and serves no network; inside the VPC it would need the way out that the "
        "same stack is making"
    ),
}
