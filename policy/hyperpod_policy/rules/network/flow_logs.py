"""The traffic of the nodes' VPC is recorded, and the records arrive."""

from __future__ import annotations

from collections.abc import Iterator

from hyperpod_model.catalog.logs import (
    FLOW_LOG_ACTIONS,
    FLOW_LOG_BUCKET_SERVICE,
    FLOW_LOG_SERVICE,
    LOG_GROUP_KEY_SERVICE,
)
from hyperpod_policy.buckets import BUCKET, key_of
from hyperpod_policy.clusters import distinct, subnets
from hyperpod_policy.iam.patterns import every
from hyperpod_policy.iam.statements import Statement, statements_of
from hyperpod_policy.identities import permissions, role_of
from hyperpod_policy.keys import KEY_POLICY, admits_service, key_named
from hyperpod_policy.networks import SUBNET, vpc_of
from hyperpod_policy.rule import Rule, Verdict, failed, passed, undetermined
from hyperpod_policy.template import Resource, Template
from hyperpod_policy.values import Unresolved, resources_in, same

_FLOW_LOG = "AWS::EC2::FlowLog"
_TO_LOG_GROUP = "cloud-watch-logs"
_KEEPING = ("Retain", "RetainExceptOnCreate")
_RECORDED = "ALL"
_LOG_GROUP = "AWS::Logs::LogGroup"
_ADMIT = "allow the service to use the key in the key's policy, or take the key away"
_ALLOWED = "a flow log of all traffic that is delivered, and stays"


def check(template: Template) -> Iterator[Verdict]:
    """Judge the flow logs of each VPC of nodes that the template makes."""
    seen: set[str] = set()
    for used, _ in distinct(subnets(template)):
        subnet = template.resource(used.value, SUBNET)
        vpc = None if subnet is None else vpc_of(template, subnet)
        if subnet is None or vpc is None or vpc.key in seen:
            continue
        seen.add(vpc.key)
        logs = [
            log
            for log in template.of_type(_FLOW_LOG)
            if same(log.get("ResourceId"), vpc.ref) or same(log.get("ResourceId"), subnet.ref)
        ]
        if not logs:
            yield failed(vpc, found="has no flow log", allowed=_ALLOWED)
        for log in logs:
            yield from _judge(template, log)


def _judge(template: Template, log: Resource) -> Iterator[Verdict]:
    verdicts: list[Verdict] = []
    traffic = log.get("TrafficType", default="ALL")
    if isinstance(traffic, Unresolved):
        verdicts.append(undetermined(log, "TrafficType", found=f"is {traffic}", allowed=_ALLOWED))
    elif traffic != _RECORDED:
        verdicts.append(failed(log, "TrafficType", found=f"records {traffic} only", allowed=_ALLOWED))
    kind = log.get("LogDestinationType", default=_TO_LOG_GROUP)
    if log.get("LogGroupName") is None and log.get("LogDestination") is None:
        verdicts.append(failed(log, found="names neither log group nor destination", allowed=_ALLOWED))
    elif kind == _TO_LOG_GROUP:
        verdicts += _delivery(template, log)
        verdicts += _group_key(template, log)
    elif kind == "s3":
        verdicts += _bucket_key(template, log)
    elif isinstance(kind, Unresolved):
        verdicts.append(undetermined(log, "LogDestinationType", found=f"is {kind}", allowed=_ALLOWED))
    yield from verdicts if verdicts else [passed(log)]


def _delivery(template: Template, log: Resource) -> Iterator[Verdict]:
    member = "DeliverLogsPermissionArn"
    arn = log.get(member)
    role = role_of(template, arn)
    if arn is None:
        yield failed(log, found=f"names no role that writes the records ({member})", allowed=_ALLOWED)
    elif role is None:
        yield undetermined(log, member, found=f"role {arn} is not in this template", allowed=_ALLOWED)
    else:
        if not _trusts(role):
            yield failed(
                role,
                "AssumeRolePolicyDocument",
                found=f"does not trust {FLOW_LOG_SERVICE}, so no flow log arrives",
                allowed=_ALLOWED,
            )
        held = permissions(template, role)
        about = [statement for statement in held.statements if not _is_elsewhere(template, statement, log)]
        missing = [action for action in FLOW_LOG_ACTIONS if not _allows(about, action)]
        if missing and not held.unknown and not held.aws_managed:
            yield failed(
                role, found=f"may not {' or '.join(missing)}, so no flow log arrives", allowed=_ALLOWED
            )
        elif missing:
            yield undetermined(
                role,
                found=f"whether it may {' and '.join(missing)} is not in this template",
                allowed=_ALLOWED,
            )
        if isinstance(log.get("LogGroupName"), str) and not _creates(held.statements, log, template):
            yield failed(
                log,
                "LogGroupName",
                found=f"names log group {log.get('LogGroupName')}, which nothing in the template makes",
                allowed=_ALLOWED,
            )


def _group_key(template: Template, log: Resource) -> Iterator[Verdict]:
    group = template.resource(log.get("LogGroupName"), _LOG_GROUP)
    if group is None:
        return
    named = group.get("KmsKeyId")
    key = key_named(template, named)
    if key is None and named is not None:
        found = f"whether its key {named} admits CloudWatch Logs is not in this template"
        yield undetermined(group, "KmsKeyId", found=found, allowed=_ALLOWED)
    elif key is not None and admits_service(key, LOG_GROUP_KEY_SERVICE) is False:
        found = f"does not admit CloudWatch Logs, which encrypts {group.logical_id} with it"
        yield failed(key, KEY_POLICY, found=found, allowed=_ALLOWED, fix=_ADMIT)
    yield from _stays(group, "deleted with the stack, and what it recorded with it")
    if key is not None and _is_kept(group):
        yield from _stays(key, f"deleted with the stack, and {group.logical_id} is unreadable without it")


def _stays(resource: Resource, words: str) -> Iterator[Verdict]:
    if not _is_kept(resource):
        yield failed(
            resource,
            found=f"is {words}",
            allowed="DeletionPolicy and UpdateReplacePolicy are Retain",
            fix="retain the log group and its key: whoever deletes a stack to cover tracks leaves these",
        )


def _is_kept(resource: Resource) -> bool:
    policies = (resource.deletion_policy, resource.update_replace_policy)
    return all(isinstance(value, Unresolved) or value in _KEEPING for value in policies)


def _bucket_key(template: Template, log: Resource) -> Iterator[Verdict]:
    keys = resources_in(log.get("LogDestination"))
    bucket = next((found for found in map(template.by_key, keys) if found and found.type == BUCKET), None)
    key = None if bucket is None else key_of(template, bucket)
    if bucket is not None and key is not None and admits_service(key, FLOW_LOG_BUCKET_SERVICE) is False:
        found = (
            f"does not admit {FLOW_LOG_BUCKET_SERVICE}, so that no flow log arrives in {bucket.logical_id}"
        )
        yield failed(key, KEY_POLICY, found=found, allowed=_ALLOWED, fix=_ADMIT)


def _is_elsewhere(template: Template, statement: Statement, log: Resource) -> bool:
    """Whether a statement is about log groups of the template only, and not about the one of the flow log."""
    meant = template.resource(log.get("LogGroupName"), _LOG_GROUP)
    named = [set(resources_in(resource)) for resource in statement.resources]
    if meant is None or statement.not_resource or not named:
        return False
    groups = {group.key for group in template.of_type(_LOG_GROUP)}
    return all(keys & groups and meant.key not in keys for keys in named)


def _trusts(role: Resource) -> bool:
    return any(
        not isinstance(statement, Statement)
        or (statement.effect == "Allow" and ("Service", FLOW_LOG_SERVICE) in statement.principals)
        for statement in statements_of(role, "AssumeRolePolicyDocument")
    )


def _allows(statements: list[Statement], action: str) -> bool:
    """Whether some statement allows the action on something; on what is left to deployment."""
    return any(
        statement.effect == "Allow"
        and any(every(pattern, action, ignore_case=True) is not False for pattern in statement.actions)
        != statement.not_action
        for statement in statements
    )


def _creates(statements: list[Statement], log: Resource, template: Template) -> bool:
    """Whether the template makes the log group that a literal name means, or lets the role make it."""
    name = log.get("LogGroupName")
    made = any(same(group.get("LogGroupName"), name) for group in template.of_type(_LOG_GROUP))
    return made or _allows(statements, "logs:CreateLogGroup")


RULE = Rule(
    id="FlowLogs",
    title="the traffic of the nodes' VPC is recorded, and the records arrive",
    severity="warning",
    why=(
        "After an incident flow logs tell who talked to the nodes. With a wrong role or a log group that "
        "nobody made, EC2 accepts the flow log and delivers nothing, which shows when the logs are needed."
    ),
    fix=(
        "add an AWS::EC2::FlowLog for the VPC, with a log group of the template by reference and a role "
        f"that trusts {FLOW_LOG_SERVICE} and may {' and '.join(FLOW_LOG_ACTIONS)}; ClusterNetwork does"
    ),
    source="VPC user guide, publish flow logs to CloudWatch Logs",
    check=check,
)
