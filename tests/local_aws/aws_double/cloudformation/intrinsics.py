"""Resolves the intrinsic functions, pseudo parameters and dynamic references of a template."""

from __future__ import annotations

import base64
import ipaddress
import json
import re
from collections.abc import Callable, Mapping, Sequence
from itertools import islice
from typing import Any, Final, Protocol

from aws_double.cloudformation.errors import Refused, not_covered
from aws_double.cloudformation.syntax import (
    VARIABLE,
    arguments_of,
    attribute_of,
    function_of,
    text_and_variables,
    variables_in,
)


class _NoValue:
    def __repr__(self) -> str:
        return "AWS::NoValue"


NO_VALUE: Final = _NoValue()
"""What ``AWS::NoValue`` resolves to; it drops out of the list or mapping that holds it."""

LANGUAGE_EXTENSIONS: Final = "AWS::LanguageExtensions"

_DYNAMIC = re.compile(r"\{\{resolve:([^:}]+):([^}]*)\}\}")


class World(Protocol):
    """What values come from outside of the template."""

    def pseudo(self, name: str) -> Any:
        """Return a pseudo parameter.

        Raises:
            KeyError: If there is none of that name.
        """

    def reference(self, logical_id: str) -> Any:
        """Return what ``Ref`` of a resource is."""

    def attribute(self, logical_id: str, name: str) -> Any:
        """Return an attribute of a resource."""

    def imported(self, name: str) -> str:
        """Return an exported value."""

    def zones(self, region: str) -> list[str]:
        """Return the names of a region's availability zones."""

    def parameter(self, name: str, version: str | None) -> str:
        """Return a value of the Parameter Store."""


class Resolver:
    """Resolves values of one template.

    Args:
        template: The template's body.
        parameters: Resolved values of its parameters.
        world: Where everything else comes from.
    """

    def __init__(self, template: Mapping[str, Any], parameters: Mapping[str, Any], world: World) -> None:
        self._template = template
        self._parameters = parameters
        self._world = world
        self._conditions: dict[str, bool] = {}
        self._deciding: list[str] = []
        transforms = template.get("Transform", [])
        self._extended = LANGUAGE_EXTENSIONS in ([transforms] if isinstance(transforms, str) else transforms)
        self._functions: dict[str, Callable[[Any], Any]] = {
            "Ref": self._ref,
            "Condition": self.condition,
            "Fn::And": lambda given: all(self._truths(given, "Fn::And")),
            "Fn::Base64": lambda given: base64.b64encode(self._text(given, "Fn::Base64").encode()).decode(),
            "Fn::Cidr": self._cidr,
            "Fn::Contains": self._contains,
            "Fn::EachMemberEquals": self._each_member_equals,
            "Fn::EachMemberIn": self._each_member_in,
            "Fn::Equals": self._equals,
            "Fn::FindInMap": self._find_in_map,
            "Fn::GetAtt": self._get_att,
            "Fn::GetAZs": self._zones,
            "Fn::If": self._if,
            "Fn::ImportValue": lambda given: self._world.imported(self._text(given, "Fn::ImportValue")),
            "Fn::Join": self._join,
            "Fn::Length": self._length,
            "Fn::Not": lambda given: not self._truths(given, "Fn::Not", number=1)[0],
            "Fn::Or": lambda given: any(self._truths(given, "Fn::Or")),
            "Fn::Select": self._select,
            "Fn::Split": self._split,
            "Fn::Sub": self._sub,
            "Fn::ToJsonString": self._to_json_string,
        }

    def value(self, given: Any) -> Any:
        """Return a value with everything in it resolved.

        Raises:
            Refused: If it cannot be.
        """
        if isinstance(given, str):
            return self._dynamic(given)
        if isinstance(given, Mapping):
            function = function_of(given)
            if function is None:
                resolved = {key: self.value(item) for key, item in given.items()}
                return {key: item for key, item in resolved.items() if item is not NO_VALUE}
            name, argument = function
            if name not in self._functions:
                raise not_covered(f"intrinsic function {name}")
            result = self._functions[name](argument)
            return self._dynamic(result) if isinstance(result, str) else result
        if isinstance(given, Sequence):
            return [item for item in map(self.value, given) if item is not NO_VALUE]
        return given

    def condition(self, name: str) -> bool:
        """Tell whether a named condition holds."""
        if name not in self._conditions:
            conditions = self._template.get("Conditions", {})
            if name not in conditions:
                raise Refused(f"Template error: unresolved condition dependency {name}")
            if name in self._deciding:
                raise Refused(f"Template error: circular conditions {', '.join([*self._deciding, name])}")
            self._deciding.append(name)
            self._conditions[name] = self._truth(conditions[name], f"condition {name}")
            self._deciding.pop()
        return self._conditions[name]

    def references(self, given: Any) -> set[str]:
        """Return the logical ids of the resources, and the names of parameters, that a value refers to.

        Only the branch of ``Fn::If`` that counts is looked at, as CloudFormation does.
        """
        if isinstance(given, str) or not isinstance(given, Mapping | Sequence):
            return set()
        if not isinstance(given, Mapping):
            return set().union(*map(self.references, given))
        function = function_of(given)
        if function is None:
            return set().union(*map(self.references, given.values()))
        name, argument = function
        if name == "Ref":
            return {argument}
        if name == "Fn::GetAtt":
            target, attribute = attribute_of(argument)
            return {target} | self.references(attribute)
        if name == "Fn::If":
            condition, yes, no = arguments_of(argument, "Fn::If", 3)
            return self.references(yes if self.condition(condition) else no)
        if name == "Fn::Sub":
            text, variables = text_and_variables(argument)
            named = {found.split(".")[0] for found in variables_in(text) if found not in variables}
            return named | self.references(variables)
        return self.references(argument)

    def _dynamic(self, text: str) -> str:
        def one(found: re.Match[str]) -> str:
            service, reference = found.groups()
            if service != "ssm":
                raise not_covered(f"dynamic reference to {service}")
            name, _, version = reference.partition(":")
            return self._world.parameter(name, version if version else None)

        return _DYNAMIC.sub(one, text)

    def _ref(self, name: Any) -> Any:
        if not isinstance(name, str):
            raise Refused(f"Template error: Ref takes a name, got {name!r}")
        if name == "AWS::NoValue":
            return NO_VALUE
        if name.startswith("AWS::"):
            try:
                return self._world.pseudo(name)
            except KeyError:
                raise not_covered(f"pseudo parameter {name}") from None
        if name in self._parameters:
            return self._parameters[name]
        return self._world.reference(name)

    def _get_att(self, given: Any) -> Any:
        target, attribute = attribute_of(given)
        return self._world.attribute(target, self._text(attribute, "Fn::GetAtt"))

    def _sub(self, given: Any) -> str:
        text, variables = text_and_variables(given)

        def one(found: re.Match[str]) -> str:
            name = found[1].strip()
            if name.startswith("!"):
                return "${" + name[1:] + "}"
            if name in variables:
                return self._text(variables[name], f"Fn::Sub variable {name}")
            source = {"Fn::GetAtt": name.split(".", 1)} if "." in name else {"Ref": name}
            return self._text(source, f"Fn::Sub variable {name}")

        return VARIABLE.sub(one, text)

    def _join(self, given: Any) -> str:
        separator, items = arguments_of(given, "Fn::Join", 2)
        return str(separator).join(_text(item, "Fn::Join") for item in self._list(items, "Fn::Join"))

    def _split(self, given: Any) -> list[str]:
        separator, text = arguments_of(given, "Fn::Split", 2)
        return self._text(text, "Fn::Split").split(separator)

    def _select(self, given: Any) -> Any:
        position, items = arguments_of(given, "Fn::Select", 2)
        found, wanted = self._list(items, "Fn::Select"), int(self.value(position))
        if not 0 <= wanted < len(found):
            raise Refused(f"Template error: Fn::Select cannot select nonexistent value at index {wanted}")
        return found[wanted]

    def _zones(self, given: Any) -> list[str]:
        region = self._text(given, "Fn::GetAZs")
        return self._world.zones(region if region else self._world.pseudo("AWS::Region"))

    def _cidr(self, given: Any) -> list[str]:
        arguments = self.value(given)
        if not isinstance(arguments, list) or len(arguments) not in {2, 3}:
            raise Refused("Template error: Fn::Cidr takes a block, a count and the bits of the subnets")
        block, count = ipaddress.ip_network(arguments[0]), int(arguments[1])
        bits = int(arguments[2]) if len(arguments) == 3 else 8
        new_prefix = block.max_prefixlen - bits
        blocks = (
            list(islice(block.subnets(new_prefix=new_prefix), count)) if new_prefix >= block.prefixlen else []
        )
        if len(blocks) < count:
            raise Refused(f"Template error: Fn::Cidr cannot make {count} blocks of {bits} bits of {block}")
        return [str(one) for one in blocks]

    def _find_in_map(self, given: Any) -> Any:
        default: Any = None
        if isinstance(given, list) and len(given) == 4 and self._extended:
            *given, options = given
            default = options["DefaultValue"]
        keys = [self._text(key, "Fn::FindInMap") for key in arguments_of(given, "Fn::FindInMap", 3)]
        found: Any = self._template.get("Mappings", {})
        for key in keys:
            if key not in found:
                if default is not None:
                    return self.value(default)
                raise Refused(f"Template error: Unable to get mapping for {'::'.join(keys)}")
            found = found[key]
        return found

    def _if(self, given: Any) -> Any:
        condition, yes, no = arguments_of(given, "Fn::If", 3)
        return self.value(yes if self.condition(condition) else no)

    def _equals(self, given: Any) -> bool:
        one, other = (self.value(item) for item in arguments_of(given, "Fn::Equals", 2))
        return bool(_comparable(one) == _comparable(other))

    def _contains(self, given: Any) -> bool:
        items, wanted = arguments_of(given, "Fn::Contains", 2)
        return self._text(wanted, "Fn::Contains") in self._texts(items, "Fn::Contains")

    def _each_member_equals(self, given: Any) -> bool:
        items, wanted = arguments_of(given, "Fn::EachMemberEquals", 2)
        text = self._text(wanted, "Fn::EachMemberEquals")
        return all(item == text for item in self._texts(items, "Fn::EachMemberEquals"))

    def _each_member_in(self, given: Any) -> bool:
        items, among = (
            self._texts(part, "Fn::EachMemberIn") for part in arguments_of(given, "Fn::EachMemberIn", 2)
        )
        return all(item in among for item in items)

    def _length(self, given: Any) -> int:
        self._needs_extensions("Fn::Length")
        return len(self._list(given, "Fn::Length"))

    def _to_json_string(self, given: Any) -> str:
        self._needs_extensions("Fn::ToJsonString")
        return json.dumps(self.value(given), separators=(",", ":"))

    def _needs_extensions(self, function: str) -> None:
        if not self._extended:
            raise Refused(f"Template error: {function} needs the transform {LANGUAGE_EXTENSIONS}")

    def _list(self, given: Any, function: str) -> list[Any]:
        found = self.value(given)
        if not isinstance(found, list):
            raise Refused(f"Template error: {function} takes a list, got {found!r}")
        return found

    def _texts(self, given: Any, function: str) -> list[str]:
        return [_text(item, function) for item in self._list(given, function)]

    def _text(self, given: Any, function: str) -> str:
        return _text(self.value(given), function)

    def _truths(self, given: Any, function: str, number: int | None = None) -> list[bool]:
        return [self._truth(item, function) for item in arguments_of(given, function, number)]

    def _truth(self, given: Any, function: str) -> bool:
        found = self.value(given)
        if not isinstance(found, bool):
            raise Refused(f"Template error: {function} takes conditions, got {found!r}")
        return found


def _text(found: Any, function: str) -> str:
    if isinstance(found, bool):
        return "true" if found else "false"
    if isinstance(found, int | float):
        return str(found)
    if not isinstance(found, str):
        raise Refused(f"Template error: {function} takes text, got {found!r}")
    return found


def _comparable(found: Any) -> Any:
    return found if isinstance(found, list | dict) else _text(found, "Fn::Equals")
