"""A template in one world: its resources, with intrinsic functions resolved as far as they can be."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence
from typing import Any, Final, TypeVar

from hyperpod_model.catalog.regions import regions
from hyperpod_policy.choices import World
from hyperpod_policy.documents import Document
from hyperpod_policy.values import (
    NO_VALUE,
    Dynamic,
    Expression,
    Imported,
    Parameter,
    Pseudo,
    Reference,
    Text,
    Unresolved,
    concatenated,
    frozen,
    integer,
    is_bomb,
    same,
    scalar_text,
)
from hyperpod_policy.written_json import CFN_JSON, with_policies_read, written_json

T = TypeVar("T")

SAME_AS_REF: Final[Mapping[str, frozenset[str]]] = {
    "AWS::EC2::SecurityGroup": frozenset({"GroupId", "Id"}),
    "AWS::EC2::Subnet": frozenset({"SubnetId"}),
    "AWS::EC2::VPC": frozenset({"VpcId"}),
    "AWS::EC2::RouteTable": frozenset({"RouteTableId"}),
    "AWS::EC2::NetworkAcl": frozenset({"Id"}),
    "AWS::EC2::InternetGateway": frozenset({"InternetGatewayId"}),
    "AWS::KMS::Key": frozenset({"KeyId"}),
    "AWS::SageMaker::Cluster": frozenset({"ClusterArn"}),
    "AWS::IAM::ManagedPolicy": frozenset({"PolicyArn"}),
}
"""Attributes that return what ``Ref`` returns (CloudFormation resource reference, "Return values")."""

ECHOES: Final[Mapping[str, frozenset[str]]] = {
    "AWS::EC2::VPC": frozenset({"CidrBlock"}),
    "AWS::EC2::Subnet": frozenset({"AvailabilityZone", "AvailabilityZoneId", "CidrBlock", "VpcId"}),
}
"""Attributes that return the property of the same name, if it is set."""

_LISTS: Final = (list, tuple)
_SCALARS: Final = frozenset({bool, int, float, type(None)})
_SPELLED: Final = (Text, Reference)

_SUB_PART: Final = re.compile(r"\$\{(!?)([^}]*)\}")
_DYNAMIC: Final = re.compile(r"\{\{(resolve:[^}]*)\}\}")
_SEPARATORS_IN_NO_NAME: Final = frozenset({":", "/", ",", ";", "|"})


class Resource:
    """One resource of a template.

    Attributes:
        key: Unique among all templates under review.
        logical_id: As the template has it.
        type: CloudFormation type.
        document: The template it stands in.
        ref: What ``Ref`` of it resolves to.
    """

    __slots__ = (
        "_dependencies",
        "_exists",
        "_properties",
        "_scope",
        "document",
        "key",
        "logical_id",
        "raw",
        "ref",
        "template",
        "type",
    )

    def __init__(self, template: Template, scope: _Scope, logical_id: str, raw: Mapping[str, Any]) -> None:
        self.template = template
        self._scope = scope
        self.document = scope.document
        self.logical_id = logical_id
        self.key = scope.key + logical_id
        self.ref = Reference(self.key, "Ref")
        self.raw = raw
        self.type: str = raw["Type"]
        self._properties: dict[str, Any] | None = None
        self._exists: bool | None = None
        self._dependencies: tuple[Resource, ...] | None = None

    def __repr__(self) -> str:
        return f"{self.logical_id} ({self.type})"

    @property
    def properties(self) -> dict[str, Any]:
        """Its properties in this world; a property that is ``AWS::NoValue`` is absent."""
        if self._properties is None:
            found = self.template.resolve(self.raw.get("Properties", {}), self._scope)
            self._properties = with_policies_read(found) if isinstance(found, dict) else {}
        return self._properties

    def get(self, *path: str | int, default: Any = None) -> Any:
        """Return the property at a path, an unresolved value on the way to it, or the default."""
        value: Any = self.properties
        for step in path:
            if isinstance(value, Unresolved):
                return value
            if isinstance(value, dict):
                value = value.get(step, NO_VALUE)
            elif isinstance(value, list) and isinstance(step, int) and step < len(value):
                value = value[step]
            else:
                return default
            if value is NO_VALUE:
                return default
        return value

    @property
    def root(self) -> str:
        """Key of the template without parent that it belongs to, itself or through nested stacks."""
        return self._scope.root

    @property
    def deletion_policy(self) -> Any:
        """``DeletionPolicy``, by default ``Delete``; unresolved if a language extension computes it."""
        return self.template.resolve(self.raw.get("DeletionPolicy", "Delete"), self._scope)

    @property
    def update_replace_policy(self) -> Any:
        """``UpdateReplacePolicy``, by default ``Delete``; unresolved if a language extension computes it."""
        return self.template.resolve(self.raw.get("UpdateReplacePolicy", "Delete"), self._scope)

    @property
    def metadata(self) -> Mapping[str, Any]:
        """Its ``Metadata``, as written."""
        found = self.raw.get("Metadata", {})
        return found if isinstance(found, Mapping) else {}

    @property
    def exists(self) -> bool:
        """Whether its own ``Condition``, and that of the nested stacks around it, hold in this world."""
        if self._exists is None:
            self._exists = self.template.holds(self._scope) and (
                "Condition" not in self.raw
                or self.template.condition(str(self.raw["Condition"]), self._scope)
            )
        return self._exists

    def dependencies(self) -> Iterator[Resource]:
        """Yield what exists before it: ``DependsOn``, ``Ref``, ``Fn::GetAtt`` and ``Fn::Sub``."""
        if self._dependencies is None:
            named = map(self.template.by_key, self.template.named_by(self._scope, self.raw))
            self._dependencies = tuple(found for found in named if found is not None)
        yield from self._dependencies


class _Scope:
    """One document, where its names are looked up."""

    __slots__ = ("document", "key", "parent", "stack", "values")

    def __init__(
        self,
        document: Document,
        key: str,
        parent: _Scope | None = None,
        stack: Mapping[str, Any] | None = None,
    ) -> None:
        self.document = document
        self.key = key
        self.parent = parent
        self.stack = stack
        self.values: dict[str, Any] = {}

    @property
    def root(self) -> str:
        return self.key if self.parent is None else self.parent.root

    def section(self, name: str) -> Mapping[str, Any]:
        found = self.document.body.get(name)
        return found if isinstance(found, Mapping) else {}


class Template:
    """Templates under review, in one world.

    Resources of nested stacks stand beside those of their parents: a parameter of a nested stack resolves to
    what the parent passes, ``Fn::GetAtt`` of a nested stack's output to what the output says, and
    ``Fn::ImportValue`` to an export of another template under review.
    """

    def __init__(
        self,
        documents: Sequence[Document],
        *,
        world: World | None = None,
        checkpoint_buckets: Collection[str] = (),
    ) -> None:
        """Index the resources; nothing is resolved before it is asked for.

        Args:
            documents: Templates without parent; their nested stacks come with them.
            world: Values of what the templates leave open. By default each choice's first option.
            checkpoint_buckets: Names or logical ids of checkpoint buckets, beside those that their use tells.
        """
        self.world = World() if world is None else world
        self.checkpoint_buckets = frozenset(checkpoint_buckets)
        self._scopes: list[_Scope] = []
        self._by_scope: dict[str, _Scope] = {}
        self._resources: dict[str, Resource] = {}
        self._by_type: dict[str, list[Resource]] = {}
        self._memo: dict[Callable[[Template], Any], Any] = {}
        self._values: dict[Hashable, Any] = {}
        self._conditions: dict[tuple[str, str], bool | None] = {}
        self._named: dict[str, frozenset[str]] = {}
        self._spelled: dict[Text | Reference, Any] = {}
        self._kept: dict[Hashable, Any] = {}
        for number, document in enumerate(documents):
            self._enter(document, "" if len(documents) == 1 else f"{number}/", None, None)
        self._exports: dict[str, list[tuple[_Scope, Any]]] = {}
        for scope in self._scopes:
            for output in scope.section("Outputs").values():
                if isinstance(output, Mapping) and isinstance(output.get("Export"), Mapping):
                    name = self.resolve(output["Export"].get("Name"), scope)
                    if isinstance(name, str):
                        self._exports.setdefault(name, []).append((scope, output.get("Value")))

    def _enter(
        self, document: Document, key: str, parent: _Scope | None, stack: Mapping[str, Any] | None
    ) -> None:
        scope = _Scope(document, key, parent, stack)
        self._scopes.append(scope)
        self._by_scope[key] = scope
        for logical_id, raw in scope.section("Resources").items():
            if not isinstance(raw, Mapping) or not isinstance(raw.get("Type"), str):
                continue
            resource = Resource(self, scope, logical_id, raw)
            self._resources[resource.key] = resource
            self._by_type.setdefault(resource.type, []).append(resource)
            nested = document.nested.get(logical_id)
            if nested is not None:
                self._enter(nested, f"{resource.key}/", scope, raw)

    def of_type(self, *types: str) -> Iterator[Resource]:
        """Yield the resources of some types that exist in this world."""
        for type_name in types:
            for resource in self._by_type.get(type_name, ()):
                if resource.exists:
                    yield resource

    def custom_resources(self) -> Iterator[Resource]:
        """Yield the custom resources that exist in this world."""
        for type_name in self._by_type:
            if type_name.startswith("Custom::") or type_name == "AWS::CloudFormation::CustomResource":
                yield from self.of_type(type_name)

    def by_key(self, key: str) -> Resource | None:
        """Return a resource that exists in this world."""
        resource = self._resources.get(key)
        return resource if resource is not None and resource.exists else None

    def resource(self, value: Any, *types: str) -> Resource | None:
        """Return the resource of the template that a value refers to, if it has one of the types."""
        if not isinstance(value, Reference):
            return None
        found = self.by_key(value.resource)
        return found if found is not None and (not types or found.type in types) else None

    def spelled(self, value: Any) -> Any:
        """Write a reference to a bucket or role that has a physical name as others would, with the name."""
        if not isinstance(value, _SPELLED):
            return value
        if value not in self._spelled:
            self._spelled[value] = self._spell(value)
        return self._spelled[value]

    def _spell(self, value: Text | Reference) -> Any:
        if isinstance(value, Text):
            return concatenated(map(self.spelled, value.parts))
        found = self._resources.get(value.resource)
        if found is None:
            return value
        if found.type == "AWS::S3::Bucket" and value.attribute == "Ref":
            return found.get("BucketName", default=value)
        if found.type == "AWS::IAM::Role" and value.attribute == "Ref":
            return found.get("RoleName", default=value)
        if found.type == "AWS::IAM::Role" and value.attribute == "Arn" and "RoleName" in found.properties:
            account = found.document.account
            return concatenated(
                (
                    "arn:",
                    Pseudo("AWS::Partition"),
                    ":iam::",
                    Pseudo("AWS::AccountId") if account is None else account,
                    ":role",
                    found.get("Path", default="/"),
                    found.get("RoleName"),
                )
            )
        return value

    def exported_names(self) -> Iterator[str]:
        """Yield the names of the exports that are known."""
        yield from self._exports

    def imported_names(self) -> Iterator[str]:
        """Yield the names that ``Fn::ImportValue`` asks for, as far as they are known."""
        for scope in self._scopes:
            for argument in _arguments_of("Fn::ImportValue", scope.document.body):
                name = self.resolve(argument, scope)
                if isinstance(name, str):
                    yield name

    def once(self, compute: Callable[[Template], T]) -> T:
        """Return what a function says about this template, computed once."""
        if compute not in self._memo:
            self._memo[compute] = compute(self)
        found: T = self._memo[compute]
        return found

    def kept(self, key: Hashable, compute: Callable[[], T]) -> T:
        """Return what a function says about a part of this template, computed once for a key."""
        if key not in self._kept:
            self._kept[key] = compute()
        found: T = self._kept[key]
        return found

    def holds(self, scope: _Scope) -> bool:
        """Tell whether the nested stack that a scope is, and those around it, exist."""
        while scope.parent is not None and scope.stack is not None:
            if "Condition" in scope.stack and not self.condition(str(scope.stack["Condition"]), scope.parent):
                return False
            scope = scope.parent
        return True

    # Values

    def resolve(self, value: Any, scope: _Scope) -> Any:
        """Resolve the intrinsic functions in a value as far as this world allows."""
        if isinstance(value, str):
            return _with_dynamic_references(value) if "{{" in value else value
        resolve = self.resolve
        if isinstance(value, _LISTS):
            return [
                found
                for item in value
                if (found := item if type(item) in _SCALARS else resolve(item, scope)) is not NO_VALUE
            ]
        if isinstance(value, (dict, Mapping)):  # plain ones first: asking for a Mapping takes longer
            if len(value) == 1:
                (name, argument), *_ = value.items()
                if name == "Ref":
                    return self._ref(argument, scope)
                if isinstance(name, str) and name.startswith("Fn::"):
                    return self._call(name[4:], argument, scope)
            return {
                key: found
                for key, item in value.items()
                if (found := item if type(item) in _SCALARS else resolve(item, scope)) is not NO_VALUE
            }
        return value

    def _call(self, name: str, argument: Any, scope: _Scope) -> Any:
        function = _FUNCTIONS.get(name)
        if function is None:
            return Expression(f"Fn::{name}", frozen(self.resolve(argument, scope)))
        return function(self, argument, scope)

    def _ref(self, name: Any, scope: _Scope) -> Any:
        if name == "AWS::NoValue":
            return NO_VALUE
        if not isinstance(name, str):
            return Expression("Ref", frozen(name))
        if name.startswith("AWS::"):
            return self._pseudo(name, scope)
        if name in scope.section("Parameters"):
            return self._parameter(name, scope)
        key = scope.key + name
        resource = self._resources.get(key)
        if resource is not None:
            return resource.ref
        return Reference(key, "Ref") if name in scope.section("Resources") else Expression("Ref", key)

    def _pseudo(self, name: str, scope: _Scope) -> Any:
        document = scope.document
        if name == "AWS::Region" and document.region is not None:
            return document.region
        if name == "AWS::AccountId" and document.account is not None:
            return document.account
        if name in ("AWS::StackName", "AWS::StackId", "AWS::NotificationARNs"):
            return Pseudo(f"{name} {scope.key}".strip())
        return Pseudo(name)

    def _parameter(self, name: str, scope: _Scope) -> Any:
        if name not in scope.values:
            scope.values[name] = Parameter(scope.key + name)  # a parameter that is passed itself
            scope.values[name] = self._parameter_value(name, scope)
        found = scope.values[name]
        if isinstance(found, _Options):
            return self.world.choose(("parameter", scope.key + name), f"parameter {name}", found.values)
        return found

    def _parameter_value(self, name: str, scope: _Scope) -> Any:
        declared = scope.section("Parameters")[name]
        if not isinstance(declared, Mapping):
            return Parameter(scope.key + name)
        kind = str(declared.get("Type", "String"))
        unknown = Parameter(scope.key + name, many=kind == "CommaDelimitedList" or "List<" in kind)
        if name in scope.document.parameters:
            return _typed(scope.document.parameters[name], kind)
        if scope.parent is not None and scope.stack is not None:
            passed = _passed(scope.stack)
            if name in passed:
                given = self.resolve(passed[name], scope.parent)
                return unknown if is_bomb(given) else _typed(given, kind)
        if kind.startswith("AWS::SSM::Parameter::Value"):
            return unknown
        default = declared.get("Default")
        allowed = declared.get("AllowedValues")
        if isinstance(allowed, list) and allowed:
            first = [default] if default is not None else []
            values = [*first, *(value for value in allowed if value != default)]
            if len(values) > 1:
                return _Options([_typed(value, kind) for value in values])
            return _typed(values[0], kind)
        return unknown if default is None else _typed(default, kind)

    def _get_att(self, argument: Any, scope: _Scope) -> Any:
        if isinstance(argument, str):
            argument = argument.split(".", 1)
        if not isinstance(argument, list) or len(argument) < 2:
            return Expression("Fn::GetAtt", frozen(argument))
        name, attribute = argument[0], argument[1]
        if not isinstance(attribute, str):
            return Expression("Fn::GetAtt", (scope.key + str(name), frozen(self.resolve(attribute, scope))))
        key = f"{scope.key}{name}"
        inner = self._by_scope.get(f"{key}/")
        if inner is not None and attribute.startswith("Outputs."):
            return self._output(attribute[len("Outputs.") :], inner)
        resource = self._resources.get(key)
        if resource is not None:
            if attribute in SAME_AS_REF.get(resource.type, ()):
                attribute = "Ref"
            elif attribute == "Arn" and resource.type == "AWS::S3::Bucket":
                return Text(("arn:", Pseudo("AWS::Partition"), ":s3:::", Reference(key, "Ref")))
            elif attribute in ECHOES.get(resource.type, ()):
                return self._worked_out(
                    (key, attribute), Reference(key, attribute), lambda: resource.get(attribute)
                )
            elif attribute == "Value" and resource.type == CFN_JSON:
                return self._worked_out(
                    (key, attribute), Reference(key, attribute), lambda: written_json(resource.get("Value"))
                )
        return Reference(key, attribute)

    def _worked_out(self, key: Hashable, unknown: Unresolved, compute: Callable[[], Any]) -> Any:
        """Return what is computed, once.

        It is the unknown value where there is nothing, where it needs itself, and where it goes through more
        steps, or grows larger, than anybody can follow.
        """
        if key not in self._values:
            self._values[key] = unknown
            try:
                found = compute()
            except RecursionError:
                return unknown
            if found is not None and not is_bomb(found):
                self._values[key] = found
        return self._values[key]

    def _output(self, name: str, scope: _Scope) -> Any:
        memo = f"Outputs.{name}"
        output = scope.section("Outputs").get(name)
        unknown = Expression("Fn::GetAtt", (scope.key, memo))
        if not isinstance(output, Mapping) or "Value" not in output:
            return unknown
        return self._worked_out((scope.key, memo), unknown, lambda: self.resolve(output["Value"], scope))

    def _sub(self, argument: Any, scope: _Scope) -> Any:
        names: Mapping[str, Any] = {}
        if isinstance(argument, list) and len(argument) == 2 and isinstance(argument[1], Mapping):
            argument, names = argument
        if not isinstance(argument, str):
            return Expression("Fn::Sub", frozen(self.resolve(argument, scope)))
        parts: list[Any] = []
        end = 0
        given: dict[str, Any] = {}
        for match in _SUB_PART.finditer(argument):
            parts.append(_with_dynamic_references(argument[end : match.start()]))
            end = match.end()
            literal, name = match.group(1), match.group(2).strip()
            if literal:
                parts.append(f"${{{name}}}")
            elif name in names:
                if name not in given:
                    given[name] = self.resolve(names[name], scope)
                parts.append(given[name])
            elif "." in name and not name.startswith("AWS::"):
                parts.append(self._get_att(name, scope))
            else:
                parts.append(self._ref(name, scope))
        parts.append(_with_dynamic_references(argument[end:]))
        return concatenated(parts)

    def _join(self, argument: Any, scope: _Scope) -> Any:
        if not isinstance(argument, list) or len(argument) != 2 or not isinstance(argument[0], str):
            return Expression("Fn::Join", frozen(self.resolve(argument, scope)))
        delimiter, items = argument[0], self.resolve(argument[1], scope)
        if not isinstance(items, list):
            return Expression("Fn::Join", (delimiter, frozen(items)))
        parts: list[Any] = []
        for position, item in enumerate(items):
            if position:
                parts.append(delimiter)
            parts.append(item)
        return concatenated(parts)

    def _split(self, argument: Any, scope: _Scope) -> Any:
        if not isinstance(argument, list) or len(argument) != 2 or not isinstance(argument[0], str):
            return Expression("Fn::Split", frozen(self.resolve(argument, scope)))
        return _split(argument[0], self.resolve(argument[1], scope))

    def _select(self, argument: Any, scope: _Scope) -> Any:
        if not isinstance(argument, list) or len(argument) != 2:
            return Expression("Fn::Select", frozen(self.resolve(argument, scope)))
        index, items = self.resolve(argument[0], scope), self.resolve(argument[1], scope)
        if isinstance(items, list) and str(index).isdigit() and int(str(index)) < len(items):
            return items[int(str(index))]
        return Expression("Fn::Select", (frozen(index), frozen(items)))

    def _find_in_map(self, argument: Any, scope: _Scope) -> Any:
        if isinstance(argument, list) and len(argument) >= 3:
            keys = [self.resolve(item, scope) for item in argument[:3]]
            found: Any = scope.section("Mappings")
            for key in keys:
                found = found.get(scalar_text(key)) if isinstance(found, Mapping) else None
            if found is not None:
                place = (scope.key, *(scalar_text(key) for key in keys))
                unknown = Expression("Fn::FindInMap", place)
                return self._worked_out(place, unknown, lambda: self.resolve(found, scope))
            options = argument[3] if len(argument) > 3 else None
            if isinstance(options, Mapping) and not any(isinstance(key, Unresolved) for key in keys):
                return self.resolve(options.get("DefaultValue"), scope)
        return Expression("Fn::FindInMap", frozen(self.resolve(argument, scope)))

    def _if(self, argument: Any, scope: _Scope) -> Any:
        if not isinstance(argument, list) or len(argument) != 3:
            return Expression("Fn::If", frozen(self.resolve(argument, scope)))
        return self.resolve(argument[1 if self.condition(str(argument[0]), scope) else 2], scope)

    def _import_value(self, argument: Any, scope: _Scope) -> Any:
        name = self.resolve(argument, scope)
        exports = self._exports.get(name, ()) if isinstance(name, str) else ()
        if len(exports) == 1:
            exporter, value = exports[0]
            unknown = Imported(frozen(name))
            return self._worked_out(("export", name), unknown, lambda: self.resolve(value, exporter))
        return Imported(frozen(name))

    # Conditions

    def condition(self, name: str, scope: _Scope) -> bool:
        """Tell whether a condition holds in this world."""
        key = (scope.key, name)
        if key not in self._conditions:
            self._conditions[key] = None
            expression = scope.section("Conditions").get(name)
            try:
                self._conditions[key] = self._decide(expression, scope, name)
            except RecursionError:
                self._conditions[key] = None  # through more conditions than anybody can follow
        found = self._conditions[key]
        if found is None:  # a condition that needs itself
            return bool(self.world.choose(("condition", *key), f"condition {name}", (True, False)))
        return found

    def _decide(self, expression: Any, scope: _Scope, name: str) -> bool:
        if isinstance(expression, Mapping) and len(expression) == 1:
            (function, argument), *_ = expression.items()
            if function == "Condition":
                return self.condition(str(argument), scope)
            if isinstance(argument, list):
                if function == "Fn::And":
                    return all(self._decide(item, scope, name) for item in argument)
                if function == "Fn::Or":
                    return any(self._decide(item, scope, name) for item in argument)
                if function == "Fn::Not" and len(argument) == 1:
                    return not self._decide(argument[0], scope, name)
                if function == "Fn::Equals" and len(argument) == 2:
                    return self._equal(argument, scope, name)
        key = ("condition", scope.key, frozen(expression) if expression is not None else name)
        return bool(self.world.choose(key, f"condition {name}", (True, False)))

    def _equal(self, argument: Sequence[Any], scope: _Scope, name: str) -> bool:
        one, other = (_placed(self.resolve(item, scope), scope.document.region) for item in argument)
        equal = same(one, other)
        if equal is not None:
            return equal
        if isinstance(other, Unresolved) and not isinstance(one, Unresolved):
            one, other = other, one
        if not isinstance(other, Unresolved):
            for key, decided in self.world.decided.items():
                if (
                    decided is True
                    and isinstance(key, tuple)
                    and key[:2] == ("equals", one)
                    and key[2] != other
                ):
                    return False
        key = ("equals", frozen(one), frozen(other))
        return bool(self.world.choose(key, f"condition {name}", (False, True)))

    # Dependencies

    def named_by(self, scope: _Scope, raw: Mapping[str, Any]) -> frozenset[str]:
        """Return the keys of what a resource depends on, both branches of ``Fn::If`` included.

        A nested stack begins when all is there that the stack's own resource names, whole stacks included.
        """
        memo = f"{scope.key} {id(raw)}"
        if memo not in self._named:
            names: set[str] = set(_depends_on(raw))
            _collect_names(raw.get("Properties"), names)
            keys: set[str] = set()
            for name in names:
                key = scope.key + name
                if key in self._resources:
                    keys.add(key)
                    keys.update(self._inside(key))
            if scope.parent is not None and scope.stack is not None:
                keys.update(self.named_by(scope.parent, scope.stack))
            self._named[memo] = frozenset(keys)
        return self._named[memo]

    def _inside(self, key: str) -> Iterator[str]:
        if f"{key}/" in self._by_scope:
            yield from (other for other in self._resources if other.startswith(f"{key}/"))


class _Options:
    """Values that a parameter allows."""

    __slots__ = ("values",)

    def __init__(self, values: Sequence[Any]) -> None:
        self.values = values


_Function = Callable[[Template, Any, _Scope], Any]
_FUNCTIONS: Final[Mapping[str, _Function]] = {
    "GetAtt": Template._get_att,
    "Sub": Template._sub,
    "Join": Template._join,
    "Split": Template._split,
    "Select": Template._select,
    "FindInMap": Template._find_in_map,
    "If": Template._if,
    "ImportValue": Template._import_value,
}


def _typed(value: Any, kind: str) -> Any:
    if isinstance(value, str):
        value = _with_dynamic_references(value)
    if kind == "CommaDelimitedList" or kind.startswith("List<"):
        if isinstance(value, list):
            return value
        pieces = _split(",", value if isinstance(value, Unresolved) else scalar_text(value))
        if isinstance(pieces, list):
            return [piece.strip() if isinstance(piece, str) else piece for piece in pieces]
        return pieces
    if isinstance(value, Unresolved | list):
        return value
    number = integer(value) if kind == "Number" else None
    return scalar_text(value) if number is None else number


def _split(delimiter: str, value: Any) -> Any:
    if isinstance(value, str) and delimiter:
        return value.split(delimiter)
    if isinstance(value, Reference) and delimiter == "," and value.attribute == "Ref":
        return [value]
    if isinstance(value, Text) and delimiter in _SEPARATORS_IN_NO_NAME:
        names = (Pseudo, Reference)
        if all(
            isinstance(part, str)
            or (isinstance(part, Pseudo) and not part.name.startswith("AWS::StackId"))
            or (isinstance(part, names) and getattr(part, "attribute", "") == "Ref")
            for part in value.parts
        ):
            pieces: list[list[Any]] = [[]]
            for part in value.parts:
                if isinstance(part, str):
                    first, *rest = part.split(delimiter)
                    pieces[-1].append(first)
                    pieces.extend([piece] for piece in rest)
                else:
                    pieces[-1].append(part)
            return [concatenated(piece) for piece in pieces]
    return Expression("Fn::Split", (delimiter, frozen(value)))


def _placed(value: Any, region: str | None) -> Any:
    """Return the partition where a value stands for it and a region tells it; other values as they are."""
    if region is not None and value == Pseudo("AWS::Partition") and region in regions():
        return regions()[region].partition
    return value


def _with_dynamic_references(text: str) -> Any:
    if "{{resolve:" not in text:
        return text
    parts: list[Any] = []
    end = 0
    for match in _DYNAMIC.finditer(text):
        parts += [text[end : match.start()], Dynamic(match.group(1))]
        end = match.end()
    parts.append(text[end:])
    return concatenated(parts)


def _passed(stack: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the parameters that a nested stack is given."""
    properties = stack.get("Properties")
    found = properties.get("Parameters") if isinstance(properties, Mapping) else None
    return found if isinstance(found, Mapping) else {}


def _depends_on(raw: Mapping[str, Any]) -> list[str]:
    depends = raw.get("DependsOn")
    names = depends if isinstance(depends, list) else [depends]
    return [name for name in names if isinstance(name, str)]


def _arguments_of(function: str, value: Any) -> Iterator[Any]:
    """Yield what an intrinsic function is given, wherever a value holds it."""
    waiting = [value]
    while waiting:
        current = waiting.pop()
        if isinstance(current, dict):
            if function in current:
                yield current[function]
            waiting += current.values()
        elif isinstance(current, list):
            waiting += current


def _collect_names(value: Any, names: set[str]) -> None:
    """Add the logical ids that an unresolved value names."""
    if isinstance(value, str):
        return
    if isinstance(value, list):
        for item in value:
            _collect_names(item, names)
    elif isinstance(value, (dict, Mapping)):
        for key, item in value.items():
            if key == "Ref" and isinstance(item, str):
                names.add(item)
            elif key == "Fn::GetAtt":
                if isinstance(item, str):
                    names.add(item.split(".", 1)[0])
                elif isinstance(item, list) and item and isinstance(item[0], str):
                    names.add(item[0])
            elif key == "Fn::Sub":
                text = item[0] if isinstance(item, list) and item else item
                if isinstance(text, str):
                    names.update(
                        match.group(2).strip().split(".", 1)[0]
                        for match in _SUB_PART.finditer(text)
                        if not match.group(1)
                    )
                if isinstance(item, list):
                    _collect_names(item[1:], names)
            else:
                _collect_names(item, names)
