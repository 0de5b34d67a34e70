"""What a template asks of a stack, resource by resource."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from aws_double.cloudformation.errors import Refused
from aws_double.cloudformation.intrinsics import NO_VALUE, Resolver
from aws_double.cloudformation.order import Node, creation
from aws_double.cloudformation.stack import Deployed, Goal, Output, Stack
from aws_double.cloudformation.template import depends_on
from aws_double.cloudformation.world import StackWorld
from aws_double.resource import Resource


@dataclass(frozen=True, slots=True)
class Plan:
    """A goal with its conditions decided.

    Attributes:
        goal: The goal.
        resolver: Resolves the values of its template.
        order: Logical ids of the resources that it has, in the order to work on them.
        nodes: The same, with what they depend on.
    """

    goal: Goal
    resolver: Resolver
    order: tuple[str, ...]
    nodes: Mapping[str, Node]

    @classmethod
    def of(cls, goal: Goal, world: StackWorld) -> Plan:
        """Decide conditions and order.

        Raises:
            Refused: If the template refers to what it has not, or in a circle, or breaks one of its rules.
        """
        template = goal.template
        resolver = Resolver(template.body, goal.parameters, world)
        _check_rules(template.section("Rules"), resolver)
        present = {
            logical_id: declared
            for logical_id, declared in template.resources.items()
            if "Condition" not in declared or resolver.condition(declared["Condition"])
        }
        nodes = {}
        for logical_id, declared in present.items():
            references = {
                name
                for name in resolver.references(declared.get("Properties", {}))
                if name not in goal.parameters and not name.startswith("AWS::")
            }
            missing = sorted(references - present.keys())
            if missing:
                raise Refused(
                    "Template format error: Unresolved resource dependencies "
                    f"[{', '.join(missing)}] in the Resources block of the template"
                )
            needs = references | {name for name in depends_on(declared) if name in present}
            nodes[logical_id] = Node(type=declared["Type"], depends_on=frozenset(needs))
        return cls(goal=goal, resolver=resolver, order=tuple(creation(nodes)), nodes=nodes)

    def resource(self, logical_id: str, stack: Stack) -> Deployed:
        """Return a resource as the template wants it, with its properties resolved."""
        return self.with_properties(
            logical_id, stack, self.resolver.value(self._declared(logical_id).get("Properties", {}))
        )

    def with_properties(self, logical_id: str, stack: Stack, properties: dict[str, Any]) -> Deployed:
        """Return a resource as the template wants it, with these properties."""
        declared = self._declared(logical_id)
        return Deployed(
            resource=Resource(
                logical_id=logical_id,
                type=declared["Type"],
                properties=properties,
                stack_name=stack.name,
                stack_id=stack.id,
                deletion_policy=declared.get("DeletionPolicy", "Delete"),
            ),
            depends_on=self.nodes[logical_id].depends_on,
            replace_policy=declared.get("UpdateReplacePolicy", "Delete"),
            metadata=declared.get("Metadata"),
        )

    def properties(self, logical_id: str) -> dict[str, Any]:
        """Return the properties of a resource as the template has them, unresolved."""
        found: dict[str, Any] = self._declared(logical_id).get("Properties", {})
        return found

    def outputs(self) -> dict[str, Output]:
        """Return the resolved outputs."""
        found = {}
        for name, declared in self.goal.template.section("Outputs").items():
            if "Condition" in declared and not self.resolver.condition(declared["Condition"]):
                continue
            value = self.resolver.value(declared["Value"])
            if value is NO_VALUE or isinstance(value, list | dict):
                raise Refused(f"Template format error: The Value field of output {name} must be text")
            export = declared.get("Export")
            found[name] = Output(
                value=value,
                description=declared.get("Description"),
                export=None if export is None else self.resolver.value(export["Name"]),
            )
        return found

    def _declared(self, logical_id: str) -> dict[str, Any]:
        return self.goal.template.resources[logical_id]


def refuse_other_types(stack: Stack, goal: Goal) -> None:
    """Refuse to make a resource into one of another type.

    Raises:
        Refused: With the logical ids.
    """
    changed = [
        logical_id
        for logical_id, declared in goal.template.resources.items()
        if logical_id in stack.resources and stack.resources[logical_id].resource.type != declared["Type"]
    ]
    if changed:
        raise Refused(
            "Update of resource type is not permitted. The new template modifies resource type of the "
            f"following resources: [{', '.join(changed)}]"
        )


def _check_rules(rules: Mapping[str, Any], resolver: Resolver) -> None:
    for name, rule in rules.items():
        applies = "RuleCondition" not in rule or resolver.value(rule["RuleCondition"])
        for assertion in rule["Assertions"] if applies else []:
            if not resolver.value(assertion["Assert"]):
                raise Refused(
                    f"Template validation error: rule {name}: {assertion.get('AssertDescription', 'not met')}"
                )
