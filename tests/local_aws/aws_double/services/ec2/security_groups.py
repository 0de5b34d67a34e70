"""Security groups: rules all or none, of one network, and groups not to be deleted while they are in use."""

from __future__ import annotations

import re
from functools import partialmethod
from typing import Any

from moto.core.responses import ActionResult
from moto.ec2.exceptions import (
    EC2ClientError,
    InvalidPermissionDuplicateError,
    InvalidPermissionNotFoundError,
    InvalidSecurityGroupNotFoundError,
    RulesPerSecurityGroupLimitExceededError,
)
from moto.ec2.models import EC2Backend
from moto.ec2.models.security_groups import SecurityGroupBackend
from moto.ec2.responses import EC2Response

from aws_double.services.ec2.overriding import invalid, override, refuse_if_used
from aws_double.services.ec2.rules import check_prefix_list, describe

_ALLOWED = re.compile(r"[a-zA-Z0-9 ._\-:/()#,@\[\]+=&;{}!$*]{0,255}")
_CHARACTERS = "a-z, A-Z, 0-9, spaces and ._-:/()#,@[]+=&;{}!$*"
_MOST_RULES = 60


def create_security_group(
    backend: Any, name: str, description: str, vpc_id: str | None = None, **options: Any
) -> Any:
    """Create a group, with a name and a description that EC2 takes."""
    _check_text("GroupName", name)
    _check_text("GroupDescription", description)
    if name.startswith("sg-"):
        raise invalid(f"Value ({name}) for parameter GroupName is invalid. It begins with sg-.")
    if vpc_id is not None:
        backend.get_vpc(vpc_id)
    return SecurityGroupBackend.create_security_group(backend, name, description, vpc_id=vpc_id, **options)


def delete_security_group(backend: Any, name: str | None = None, group_id: str | None = None) -> None:
    """Delete a group that no interface, no rule of another group and nothing else uses."""
    group = backend.get_security_group_by_name_or_id(name if group_id is None else group_id)
    if group is None:
        raise InvalidSecurityGroupNotFoundError(name if group_id is None else group_id)
    if group.is_default:
        raise EC2ClientError(
            "CannotDelete", f'the specified group: "{group.id}" name: "default" cannot be deleted by a user'
        )
    interfaces = [
        interface.id
        for interface in backend.enis.values()
        if any(member.id == group.id for member in interface.group_set)
    ]
    referring = [
        f"a rule of {other.id}"
        for groups in backend.groups.values()
        for other in groups.values()
        if other.id != group.id
        and any(
            rule.source_group.get("GroupId") == group.id
            for rule in (*other.ingress_rules, *other.egress_rules)
        )
    ]
    refuse_if_used(f"resource {group.id} has a dependent object.", group.id, [*interfaces, *referring])
    SecurityGroupBackend.delete_security_group(backend, group_id=group.id)


def authorize_security_group_ingress(backend: Any, group_name_or_id: str, *rule: Any, **more: Any) -> Any:
    """Add rules for what comes in."""
    return _authorize(backend, group_name_or_id, False, *rule, **more)


def authorize_security_group_egress(backend: Any, group_name_or_id: str, *rule: Any, **more: Any) -> Any:
    """Add rules for what goes out."""
    return _authorize(backend, group_name_or_id, True, *rule, **more)


def revoke_security_group_ingress(backend: Any, group_name_or_id: str, *rule: Any, **more: Any) -> None:
    """Take rules for what comes in away."""
    _revoke(backend, group_name_or_id, False, *rule, **more)


def revoke_security_group_egress(backend: Any, group_name_or_id: str, *rule: Any, **more: Any) -> None:
    """Take rules for what goes out away; moto leaves those of IPv6."""
    _revoke(backend, group_name_or_id, True, *rule, **more)


def update_security_group_rule_descriptions_ingress(
    backend: Any, group_name_or_id: str, *rule: Any, **more: Any
) -> Any:
    """Describe rules for what comes in anew."""
    return _describe(backend, group_name_or_id, False, *rule, **more)


def update_security_group_rule_descriptions_egress(
    backend: Any, group_name_or_id: str, *rule: Any, **more: Any
) -> Any:
    """Describe rules for what goes out anew."""
    return _describe(backend, group_name_or_id, True, *rule, **more)


def _authorize(
    backend: Any,
    group_id: str,
    egress: bool,
    ip_protocol: str,
    from_port: Any,
    to_port: Any,
    ip_ranges: Any,
    *,
    source_groups: Any = None,
    prefix_list_ids: Any = None,
    sgrule_tags: Any = None,
    **_ignored: Any,
) -> Any:
    group = _group(backend, group_id)
    peers = (source_groups, prefix_list_ids)
    added = _read(backend, group, egress, ip_protocol, from_port, to_port, ip_ranges, *peers, sgrule_tags)
    if not added:
        raise EC2ClientError("MissingParameter", "The request must contain a source or destination.")
    rules = group.egress_rules if egress else group.ingress_rules
    for position, rule in enumerate(added):
        _check_text("description", "" if rule.description is None else rule.description)
        if rule in rules or rule in added[:position]:
            raise InvalidPermissionDuplicateError()
    if len(rules) + len(added) > _MOST_RULES:
        raise RulesPerSecurityGroupLimitExceededError()
    rules.extend(added)
    return added, group


def _revoke(
    backend: Any,
    group_id: str,
    egress: bool,
    ip_protocol: Any,
    from_port: Any,
    to_port: Any,
    ip_ranges: Any,
    *,
    source_groups: Any = None,
    prefix_list_ids: Any = None,
    security_rule_ids: Any = None,
    **_ignored: Any,
) -> None:
    group = _group(backend, group_id)
    rules = group.egress_rules if egress else group.ingress_rules
    if security_rule_ids:
        gone = [rule for rule in rules if rule.id in security_rule_ids]
        if len(gone) != len(set(security_rule_ids)):
            raise EC2ClientError(
                "InvalidSecurityGroupRuleId.NotFound",
                f"The security group rule ID '{', '.join(security_rule_ids)}' does not exist",
            )
    else:
        peers = (source_groups, prefix_list_ids)
        gone = _read(backend, group, egress, ip_protocol, from_port, to_port, ip_ranges, *peers)
        if not gone or any(rule not in rules for rule in gone):
            raise InvalidPermissionNotFoundError()
    kept = [rule for rule in rules if rule not in gone]
    rules[:] = kept


def _describe(
    backend: Any,
    group_id: str,
    egress: bool,
    ip_protocol: str,
    from_port: Any,
    to_port: Any,
    ip_ranges: Any,
    *,
    source_groups: Any = None,
    prefix_list_ids: Any = None,
    **_ignored: Any,
) -> Any:
    group = _group(backend, group_id)
    rules = group.egress_rules if egress else group.ingress_rules
    peers = (source_groups, prefix_list_ids)
    for asked in _read(backend, group, egress, ip_protocol, from_port, to_port, ip_ranges, *peers):
        if asked not in rules:
            raise InvalidPermissionNotFoundError()
        _check_text("description", "" if asked.description is None else asked.description)
        describe(rules[rules.index(asked)], asked.description)
    return group


def _read(
    backend: Any,
    group: Any,
    egress: bool,
    ip_protocol: str,
    from_port: Any,
    to_port: Any,
    ip_ranges: Any,
    source_groups: Any,
    prefix_list_ids: Any,
    tags: Any = None,
) -> list[Any]:
    """Return the rules that a request names, each with one peer."""
    sources = backend._add_source_group(
        [dict(source) for source in source_groups] if source_groups is not None else None, group.vpc_id
    )
    for source in sources:
        _check_network(backend, group, _group(backend, source["GroupId"]))
    prefix_lists = list(prefix_list_ids) if prefix_list_ids is not None else []
    for prefix_list in prefix_lists:
        check_prefix_list(backend, prefix_list["PrefixListId"])
    return list(
        backend._iterate_security_rules(
            ip_protocol,
            group.id,
            from_port,
            to_port,
            list(ip_ranges) if ip_ranges is not None else [],
            sources,
            prefix_lists,
            is_egress=egress,
            tags=tags,
        )
    )


def _group(backend: Any, group_id: str) -> Any:
    group = backend.get_security_group_by_name_or_id(group_id)
    if group is None:
        raise InvalidSecurityGroupNotFoundError(group_id)
    return group


def _check_network(backend: Any, group: Any, source: Any) -> None:
    peered = any(
        {peering.vpc.id, peering.peer_vpc.id} == {group.vpc_id, source.vpc_id}
        for peering in backend.vpc_pcxs.values()
    )
    if source.vpc_id != group.vpc_id and not peered:
        raise EC2ClientError(
            "InvalidGroup.NotFound", "You have specified two resources that belong to different networks."
        )


def _check_text(parameter: str, text: str) -> None:
    if _ALLOWED.fullmatch(text) is None:
        raise invalid(
            f"Value ({text}) for parameter {parameter} is invalid. Up to 255 characters of {_CHARACTERS}."
        )


def _answer_authorize(response: Any, name: str) -> ActionResult:
    """Add all rules of a request or none, and answer with all of them; moto answers with the last ones."""
    response.error_on_dryrun()
    requests = list(response._process_rules_from_querystring())
    before = _rules_of(response, requests)
    added: list[Any] = []
    try:
        for request in requests:
            added += getattr(response.ec2_backend, name)(**request)[0]
    except EC2ClientError:
        _restore(before)
        raise
    return ActionResult({"Return": True, "SecurityGroupRules": added})


def _answer_revoke(response: Any, name: str) -> ActionResult:
    response.error_on_dryrun()
    requests = list(response._process_rules_from_querystring())
    before = _rules_of(response, requests)
    try:
        for request in requests:
            getattr(response.ec2_backend, name)(**request)
    except EC2ClientError:
        _restore(before)
        raise
    return ActionResult({"Return": True})


def _rules_of(response: Any, requests: list[Any]) -> list[tuple[list[Any], list[Any]]]:
    names = {request["group_name_or_id"] for request in requests}
    groups = [_group(response.ec2_backend, name) for name in names]
    return [(rules, list(rules)) for group in groups for rules in (group.ingress_rules, group.egress_rules)]


def _restore(before: list[tuple[list[Any], list[Any]]]) -> None:
    for rules, earlier in before:
        rules[:] = earlier


def install() -> None:
    """Put these in the place of moto's."""
    override(
        EC2Backend,
        create_security_group,
        delete_security_group,
        authorize_security_group_ingress,
        authorize_security_group_egress,
        revoke_security_group_ingress,
        revoke_security_group_egress,
        update_security_group_rule_descriptions_ingress,
        update_security_group_rule_descriptions_egress,
    )
    for direction in ("ingress", "egress"):
        for verb, answer in (("authorize", _answer_authorize), ("revoke", _answer_revoke)):
            name = f"{verb}_security_group_{direction}"
            setattr(EC2Response, name, partialmethod(answer, name))
