"""Reads the ingress rules of a whole app, whoever declared them and however."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from aws_cdk import CfnOutput, CfnResource, Reference, Stack, Token, Tokenization
from aws_cdk import aws_ec2 as ec2
from constructs import IConstruct

from hyperpod_model.catalog.ports import PortRange
from hyperpod_model.faults import UNKNOWN, Unknown

_RULE_TYPE = "AWS::EC2::SecurityGroupIngress"
_GROUP_TYPE = "AWS::EC2::SecurityGroup"
_GROUP_SOURCE = "sourceSecurityGroupId"
_OTHER_SOURCES = ("cidrIp", "cidrIpv6", "sourcePrefixListId", "sourceSecurityGroupName")
_PLACEHOLDER = re.compile(r"\$\{([^!}][^}]*)\}")


class IngressRule(NamedTuple):
    """One ingress rule as its resource says it.

    Attributes:
        path: Construct path of the resource that holds the rule.
        stack: Stack of that resource.
        group_id: The group that the rule opens, as written: a token, an intrinsic function or a text.
        source_group_id: The group that is let in, as written. None if the source is not a group, or not a
            group alone.
        source: The source in words.
        protocol: ``tcp``, ``udp``, ``-1`` for all, another protocol, or ``UNKNOWN``.
        first: First port; None for all.
        last: Last port; None for all.
    """

    path: str
    stack: Stack
    group_id: Any
    source_group_id: Any
    source: str
    protocol: str | Unknown
    first: int | Unknown | None
    last: int | Unknown | None

    def reaches(self, port_ranges: Sequence[PortRange]) -> bool | Unknown:
        """Whether the rule opens any of the ports; ``UNKNOWN`` if only deployment can tell."""
        return reaches(port_ranges, protocol=self.protocol, first=self.first, last=self.last)


def reaches(
    port_ranges: Sequence[PortRange],
    *,
    protocol: str | Unknown,
    first: int | Unknown | None,
    last: int | Unknown | None,
) -> bool | Unknown:
    """Whether a rule opens any of the ports; ``UNKNOWN`` if only deployment can tell.

    Args:
        port_ranges: The ports to look for.
        protocol: As EC2 has it, ``-1`` for all traffic.
        first: First port. All ports if None or -1.
        last: Last port. All ports if None or -1.
    """
    if isinstance(protocol, Unknown):
        return UNKNOWN
    if not any(ports.overlaps(protocol) for ports in port_ranges):
        return False
    low = 0 if first is None or first == -1 else first
    high = 65535 if last is None or last == -1 else last
    known_low = 0 if isinstance(low, Unknown) else low
    known_high = 65535 if isinstance(high, Unknown) else high
    if not any(ports.overlaps(protocol, known_low, known_high) for ports in port_ranges):
        return False
    return UNKNOWN if isinstance(low, Unknown) or isinstance(high, Unknown) else True


_Test = Callable[[Any, Stack], bool]


class _Output(NamedTuple):
    stack: Stack
    logical_id: str
    export_name: Any
    value: Any


class GroupIdentity:
    """Recognizes one security group behind every way to write its id within an app.

    Covers references from the same stack, from other stacks, from nested stacks and through their parameters,
    imported aliases, raw intrinsic functions and explicit exports. A literal id is only recognized if the
    group itself was given by the same literal id.

    Args:
        group: The group to recognize.
    """

    def __init__(self, group: ec2.ISecurityGroup) -> None:
        self._id = group.security_group_id
        self._target = reference_target(self._id)
        self._found_outputs: tuple[_Output, ...] | None = None

    @property
    def is_resource(self) -> bool:
        """Whether the group is a resource of this app, all of whose rules can be seen here.

        It is none if imported, and none if another resource makes it, as an EKS cluster does.
        """
        return isinstance(self._target, CfnResource) and _type_of(self._target) == _GROUP_TYPE

    @property
    def resource(self) -> CfnResource | None:
        """The resource of the group, if this app has it."""
        return self._target if isinstance(self._target, CfnResource) else None

    def matches(self, group_id: Any, stack: Stack) -> bool:
        """Whether an id, as written in a resource of a stack, is the id of this group.

        Args:
            group_id: A text, a token or an intrinsic function.
            stack: The stack that holds the resource.
        """
        if group_id is None:
            return False
        if self._target is None:
            return bool(stack.resolve(group_id) == stack.resolve(self._id))
        target = reference_target(group_id)
        if target is not None and target.node.path == self._target.node.path:
            return True
        return self._is_written_as(stack.resolve(group_id), stack, self.matches)

    def may_match(self, group_id: Any, stack: Stack) -> bool:
        """Whether an id can turn out to be that of this group, as one branch of ``Fn::If`` can.

        True wherever this group's id stands within intrinsic functions, since what they make of it is known
        at deployment only.

        Args:
            group_id: A text, a token or an intrinsic function.
            stack: The stack that holds the resource.
        """
        return self.matches(group_id, stack) or self._occurs_in(stack.resolve(group_id), stack)

    def _occurs_in(self, written: Any, stack: Stack) -> bool:
        if isinstance(written, list):
            return any(self._occurs_in(item, stack) for item in written)
        if not isinstance(written, dict):
            return self._target is None and bool(written == self._id)
        if self._target is not None and self._is_written_as(written, stack, self.may_match):
            return True
        return any(self._occurs_in(item, stack) for item in _arguments(written))

    def _is_passed(self, name: Any, nested: Stack, is_this: _Test) -> bool:
        """Whether a nested stack gets the id as the value of its parameter."""
        resource = nested.nested_stack_resource
        parent = nested.nested_stack_parent
        if resource is None or parent is None:
            return False
        values = parent.resolve(resource._cfn_properties.get("parameters")) or {}
        return name in values and is_this(values[name], parent)

    def _is_written_as(self, written: Any, stack: Stack, is_this: _Test) -> bool:
        match written:
            case {"Fn::GetAtt": str(attribute)}:
                return self._is_written_as({"Fn::GetAtt": attribute.split(".", 1)}, stack, is_this)
            case {"Fn::GetAtt": [str(resource), str(attribute)]} if attribute.startswith("Outputs."):
                return self._is_output(attribute.removeprefix("Outputs."), resource, stack, is_this)
            case {"Fn::GetAtt": [str(logical_id), _]}:
                return self._is_logical_id(logical_id, stack)
            case {"Ref": str(logical_id)}:
                return self._is_logical_id(logical_id, stack) or self._is_passed(logical_id, stack, is_this)
            case {"Fn::ImportValue": {"Fn::Sub": str(name)}}:
                return self._is_written_as({"Fn::ImportValue": name}, stack, is_this)
            case {"Fn::ImportValue": name}:
                return any(
                    output.export_name == name and is_this(output.value, output.stack)
                    for output in self._outputs()
                )
        return False

    def _is_logical_id(self, logical_id: str, stack: Stack) -> bool:
        resource = self.resource
        if resource is None:
            return False
        owner = Stack.of(resource)
        return owner.node.path == stack.node.path and owner.resolve(resource.logical_id) == logical_id

    def _is_output(self, name: str, of: str, in_stack: Stack, is_this: _Test) -> bool:
        """Whether the id is an output of a nested stack, given by logical id in its parent."""
        for output in self._outputs():
            nested = output.stack.nested_stack_resource
            if nested is None or output.logical_id != name:
                continue
            parent = Stack.of(nested)
            if (
                parent.node.path == in_stack.node.path
                and parent.resolve(nested.logical_id) == of
                and is_this(output.value, output.stack)
            ):
                return True
        return False

    def _outputs(self) -> tuple[_Output, ...]:
        if self._found_outputs is None:
            assert self._target is not None
            self._found_outputs = tuple(
                _Output(stack, stack.resolve(node.logical_id), stack.resolve(node.export_name), node.value)
                for node in self._target.node.root.node.find_all()
                if isinstance(node, CfnOutput) and (stack := Stack.of(node))
            )
        return self._found_outputs


def _arguments(written: Mapping[str, Any]) -> Iterator[Any]:
    """What intrinsic functions work on, with the placeholders of ``Fn::Sub`` as references."""
    for function, argument in written.items():
        yield argument
        if function == "Fn::Sub":
            text = argument[0] if isinstance(argument, list) else argument
            for name in _PLACEHOLDER.findall(text):
                yield {"Fn::GetAtt": name} if "." in name else {"Ref": name}


def ingress_rules(root: IConstruct) -> Iterator[IngressRule]:
    """Every ingress rule below a construct: resources of their own and those inside security groups.

    Property overrides (``add_property_override``) are applied after synthesis has looked at the tree and are
    not seen here.

    Args:
        root: Usually the root of the app.
    """
    for node in root.node.find_all():
        if not isinstance(node, CfnResource):
            continue
        kind = _type_of(node)
        if kind == _RULE_TYPE:
            yield _rule(node, _plain(node._cfn_properties))
        elif kind == _GROUP_TYPE:
            yield from _inline_rules(node)


def _type_of(node: CfnResource) -> str | None:
    # The class of an L1 says its type without a call into the CDK, which hundreds of resources would add up.
    if isinstance(node, ec2.CfnSecurityGroupIngress):
        return _RULE_TYPE
    if isinstance(node, ec2.CfnSecurityGroup):
        return _GROUP_TYPE
    return node.cfn_resource_type if type(node) is CfnResource else None


def _inline_rules(group: CfnResource) -> Iterator[IngressRule]:
    stack = Stack.of(group)
    for entry in _branches(_plain(group._cfn_properties).get("securityGroupIngress"), stack):
        yield _rule(group, {**_plain(entry), "groupId": {"Ref": stack.resolve(group.logical_id)}})


def _branches(entries: Any, stack: Stack) -> Iterator[Any]:
    """The entries of a list of rules, those of both branches where ``Fn::If`` chooses."""
    if isinstance(entries, list):
        for entry in entries:
            yield from _branches(entry, stack)
        return
    written = stack.resolve(entries) if Token.is_unresolved(entries) else entries
    if isinstance(written, list):
        yield from _branches(written, stack)
    elif isinstance(written, Mapping) and "Fn::If" in written:
        yield from _branches(written["Fn::If"][1:], stack)
    elif written is not None and written != {"Ref": "AWS::NoValue"}:
        yield written


def _rule(resource: CfnResource, properties: Mapping[str, Any]) -> IngressRule:
    stack = Stack.of(resource)
    alone = all(properties.get(name) is None for name in _OTHER_SOURCES)
    return IngressRule(
        path=resource.node.path,
        stack=stack,
        group_id=properties.get("groupId"),
        source_group_id=properties.get(_GROUP_SOURCE) if alone else None,
        source=_source_in_words(properties, stack),
        protocol=_text(stack.resolve(properties.get("ipProtocol"))),
        first=_port(stack.resolve(properties.get("fromPort"))),
        last=_port(stack.resolve(properties.get("toPort"))),
    )


def _plain(properties: Any) -> dict[str, Any]:
    """Properties with the L1 spelling of their names, whatever the door they came through."""
    if not isinstance(properties, Mapping):
        values = getattr(properties, "_values", {})
        return {_camel(name): value for name, value in values.items()}
    return {name[:1].lower() + name[1:]: value for name, value in properties.items()}


def _camel(snake: str) -> str:
    first, *rest = snake.split("_")
    return first + "".join(part.capitalize() for part in rest)


def _source_in_words(properties: Mapping[str, Any], stack: Stack) -> str:
    for name in _OTHER_SOURCES:
        if properties.get(name) is not None:
            return f"{stack.resolve(properties[name])}"
    if properties.get(_GROUP_SOURCE) is None:
        return "an unnamed source"
    target = reference_target(properties[_GROUP_SOURCE])
    if target is not None:
        return f"security group '{target.node.path}'"
    return f"security group {stack.resolve(properties[_GROUP_SOURCE])}"


def _text(value: Any) -> str | Unknown:
    return str(value) if isinstance(value, str | int) else UNKNOWN


def _port(value: Any) -> int | Unknown | None:
    if value is None:
        return None
    if isinstance(value, str) and value.lstrip("-").isdigit():
        return int(value)
    return int(value) if isinstance(value, int | float) else UNKNOWN


def reference_target(value: Any) -> IConstruct | None:
    """The construct that a token refers to, if it is a plain reference.

    Args:
        value: A token, or anything else, which refers to nothing.
    """
    if not Token.is_unresolved(value):
        return None
    token = Tokenization.reverse_string(value).first_token if isinstance(value, str) else value
    return token.target if isinstance(token, Reference) else None
