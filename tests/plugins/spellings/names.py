"""Templates with other names, or without."""

from __future__ import annotations

import re
from typing import Any

from spellings.walking import Template, everywhere, resources_of, statements_of


def other_logical_ids(template: Template) -> None:
    names = {name: f"R{number:03}" for number, name in enumerate(template["Resources"])}
    pattern = re.compile(r"(?<=\$\{)(" + "|".join(sorted(names, key=len, reverse=True)) + r")(?=[.}])")

    def change(value: Any) -> Any:
        if isinstance(value, str):
            return pattern.sub(lambda match: names[match[1]], value)
        if isinstance(value, dict):
            if isinstance(value.get("Ref"), str):
                return {"Ref": names.get(value["Ref"], value["Ref"])}
            if isinstance(value.get("Fn::GetAtt"), list):
                name, *rest = value["Fn::GetAtt"]
                return {"Fn::GetAtt": [names.get(name, name), *rest]}
        return value

    renamed = {names[name]: everywhere(one, change) for name, one in template["Resources"].items()}
    for resource in renamed.values():
        if isinstance(resource.get("DependsOn"), list):
            resource["DependsOn"] = [names[name] for name in resource["DependsOn"]]
    template["Resources"] = renamed
    template["Outputs"] = everywhere(template["Outputs"], change)


def no_descriptions(template: Template) -> None:
    """Neither metadata nor statement ids, descriptions or tags but those of the cluster."""
    for resource in resources_of(template):
        resource.pop("Metadata", None)
        properties = resource.get("Properties", {})
        properties.pop("Description", None)
        if resource["Type"] != "AWS::SageMaker::Cluster":
            properties.pop("Tags", None)
    for statement in statements_of(template):
        statement.pop("Sid", None)
