"""Lists, scalars and intrinsic functions written in other ways."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

from spellings.walking import Template, documents_of, everywhere, resources_of, rewrite, statements_of


def lists_of_one_as_scalars(template: Template) -> None:
    for statement in statements_of(template):
        for member in ("Action", "Resource"):
            if isinstance(statement.get(member), list) and len(statement[member]) == 1:
                (statement[member],) = statement[member]
        _conditions(
            statement, lambda value: value[0] if isinstance(value, list) and len(value) == 1 else value
        )


def scalars_as_lists_of_one(template: Template) -> None:
    for statement in statements_of(template):
        for member in ("Action", "Resource"):
            if member in statement and not isinstance(statement[member], list):
                statement[member] = [statement[member]]
        _conditions(statement, lambda value: value if isinstance(value, list) else [value])
    for resource in resources_of(template):
        if isinstance(resource.get("DependsOn"), str):
            resource["DependsOn"] = [resource["DependsOn"]]


def _conditions(statement: dict[str, Any], change: Callable[[Any], Any]) -> None:
    for pairs in statement.get("Condition", {}).values():
        for key in pairs:
            pairs[key] = change(pairs[key])


def one_statement_without_list(template: Template) -> None:
    for document in documents_of(template["Resources"]):
        if len(document["Statement"]) == 1:
            (document["Statement"],) = document["Statement"]


def joins_as_subs(template: Template) -> None:
    def change(value: Any) -> Any:
        if not isinstance(value, dict) or list(value) != ["Fn::Join"]:
            return value
        delimiter, parts = value["Fn::Join"]
        if delimiter or not isinstance(parts, list):
            return value
        text, names = "", {}
        for number, part in enumerate(parts):
            if isinstance(part, str):
                text += part.replace("${", "${!")
            elif "Ref" in part:
                text += f"${{{part['Ref']}}}"
            elif "Fn::GetAtt" in part:
                text += f"${{{'.'.join(part['Fn::GetAtt'])}}}"
            else:
                names[f"Part{number}"] = part
                text += f"${{Part{number}}}"
        return {"Fn::Sub": [text, names] if names else text}

    rewrite(template, change)


def attributes_as_text(template: Template) -> None:
    def change(value: Any) -> Any:
        if isinstance(value, dict) and isinstance(value.get("Fn::GetAtt"), list):
            return {"Fn::GetAtt": ".".join(value["Fn::GetAtt"])}
        return value

    rewrite(template, change)


def group_ids_by_ref(template: Template) -> None:
    def change(value: Any) -> Any:
        if isinstance(value, dict) and isinstance(value.get("Fn::GetAtt"), list):
            name, attribute = value["Fn::GetAtt"]
            if attribute == "GroupId":
                return {"Ref": name}
        return value

    rewrite(template, change)


def references_through_subs(template: Template) -> None:
    def change(value: Any) -> Any:
        return (
            {"Fn::Sub": f"${{{value['Ref']}}}"}
            if isinstance(value, dict) and list(value) == ["Ref"]
            else value
        )

    for resource in resources_of(template):
        if "Properties" in resource:
            resource["Properties"] = everywhere(resource["Properties"], _unless_no_value(change))


def _unless_no_value(change: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda value: value if value == {"Ref": "AWS::NoValue"} else change(value)


def what_is_under_a_condition_that_holds(template: Template) -> None:
    template.setdefault("Conditions", {})["Always"] = {"Fn::Equals": ["a", "a"]}
    for resource in resources_of(template):
        resource.setdefault("Condition", "Always")


def what_is_either_way_in_an_if(template: Template) -> None:
    template.setdefault("Conditions", {})["Either"] = {"Fn::Equals": [{"Ref": "AWS::StackName"}, "x"]}
    for statement in statements_of(template):
        statement["Action"] = {"Fn::If": ["Either", statement["Action"], copy.deepcopy(statement["Action"])]}


def numbers_and_booleans_as_text(template: Template) -> None:
    def change(value: Any) -> Any:
        if isinstance(value, bool):
            return str(value).lower()
        return str(value) if isinstance(value, int) else value

    for resource in resources_of(template):
        if "Properties" in resource:
            resource["Properties"] = everywhere(resource["Properties"], change)


def values_in_parameters(template: Template) -> None:
    template["Parameters"]["Mode"] = {"Type": "String", "Default": "Automatic"}
    template["Parameters"]["Port"] = {"Type": "Number", "Default": 443}
    (cluster,) = resources_of(template, "AWS::SageMaker::Cluster")
    cluster["Properties"]["NodeRecovery"] = {"Ref": "Mode"}
    for rule in resources_of(template, "AWS::EC2::SecurityGroupEgress"):
        if rule["Properties"].get("FromPort") == 443:
            rule["Properties"].update(FromPort={"Ref": "Port"}, ToPort={"Ref": "Port"})
