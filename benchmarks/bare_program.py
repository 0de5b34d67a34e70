"""Write the CDK program that a template would be, had its author used L1 constructs only."""

from __future__ import annotations

import importlib
import json
import keyword
import typing
from pathlib import Path
from typing import Any


def bare_program(assembly: Path) -> str:
    """Return the Python program for the one stack of a cloud assembly.

    Args:
        assembly: The folder that ``app.py`` was synthesized into, with its ``validation-report.json``.
    """
    (template_file,) = assembly.glob("*.template.json")
    template = json.loads(template_file.read_text())
    resources = template["Resources"]
    modules = {"aws_cdk"}
    body = [_asset(number, path) for number, path in enumerate(sorted(assembly.glob("asset.*")))]
    for name, resource in resources.items():
        body.append(_resource(name, resource, modules))
    for name, resource in resources.items():
        body += _options(name, resource)
    for name, condition in template.get("Conditions", {}).items():
        body.append(f"aws_cdk.CfnCondition(stack, {name!r}, expression=aws_cdk.Token.as_any({condition!r}))")
    body += [_output(name, output) for name, output in template.get("Outputs", {}).items()]
    body += _acknowledgements(assembly)
    imports = "\n".join(f"import {module}" for module in sorted(modules))
    return f"""\
from hyperpod_constructs.bundled_node import prefer_bundled_node

prefer_bundled_node()
{imports}
from aws_cdk.aws_s3_assets import Asset
from cdk_nag import AwsSolutionsChecks, NIST80053R5Checks

from hyperpod_constructs import HyperPodChecks

app = aws_cdk.App()
aws_cdk.Validations.of(app).add_plugins(AwsSolutionsChecks(app), NIST80053R5Checks(app), HyperPodChecks(app))
stack = aws_cdk.Stack(app, {template_file.name.removesuffix(".template.json")!r})
r = {{}}
{chr(10).join(body)}
app.synth()
"""


def _asset(number: int, path: Path) -> str:
    return f"Asset(stack, 'Asset{number}', path={str(path.resolve())!r})"


def _resource(name: str, resource: dict[str, Any], modules: set[str]) -> str:
    properties = resource.get("Properties", {})
    kind = resource["Type"]
    found = _l1_class(kind)
    if found is None:
        call = f"aws_cdk.CfnResource(stack, {name!r}, type={kind!r}, properties={properties!r})"
    else:
        cls, spelled = found
        modules.add(cls.__module__)
        arguments = ", ".join(["stack", repr(name), *_arguments(cls, spelled, properties)])
        call = f"{spelled}({arguments})"
    return f"r[{name!r}] = {call}"


def _l1_class(kind: str) -> tuple[type, str] | None:
    provider, _, rest = kind.partition("::")
    if provider != "AWS":
        return None
    service, _, resource = rest.partition("::")
    try:
        module = importlib.import_module(f"aws_cdk.aws_{service.lower()}")
    except ModuleNotFoundError:
        return None
    cls = getattr(module, f"Cfn{resource}", None)
    return None if cls is None else (cls, f"{module.__name__}.{cls.__name__}")


def _arguments(cls: type, spelled: str, values: dict[str, Any]) -> list[str]:
    hints = typing.get_type_hints(cls.__init__)  # type: ignore[misc]
    by_name = {name.replace("_", "").lower(): name for name in hints}
    arguments = []
    for key, value in values.items():
        name = by_name[key.lower()]
        arguments.append(f"{name}={_value(value, hints[name])}")
        if keyword.iskeyword(name):
            raise ValueError(f"{spelled}: {name} is a keyword of Python")
    return arguments


def _value(value: Any, hint: Any) -> str:
    """Spell a template's value as an argument of the hinted type."""
    kinds = list(_flat(hint))
    if Any in kinds or object in kinds:
        return repr(value)
    if _is_intrinsic(value):
        return _token(value, kinds)
    if isinstance(value, list):
        (inner,) = (typing.get_args(kind)[0] for kind in kinds if _is_sequence(kind))
        return f"[{', '.join(_value(item, inner) for item in value)}]"
    if isinstance(value, dict):
        for kind in kinds:
            if hasattr(kind, "__jsii_type__") and not getattr(kind, "_is_protocol", False):
                spelled = f"{kind.__module__}.{kind.__qualname__}"
                return f"{spelled}({', '.join(_arguments(kind, spelled, value))})"
        # A mapping of texts, such as environment variables: intrinsics in it have to pass as texts.
        items = (
            f"{key!r}: {f'aws_cdk.Token.as_string({item!r})' if _is_intrinsic(item) else repr(item)}"
            for key, item in value.items()
        )
        return f"{{{', '.join(items)}}}"
    if isinstance(value, str) and str not in kinds and bool in kinds:
        return repr(value == "true")
    return repr(value)


def _flat(hint: Any) -> typing.Iterator[Any]:
    if typing.get_origin(hint) is typing.Union:
        for part in typing.get_args(hint):
            yield from _flat(part)
    else:
        yield hint


def _is_sequence(kind: Any) -> bool:
    origin = typing.get_origin(kind)
    return isinstance(origin, type) and issubclass(origin, typing.Sequence)


def _is_intrinsic(value: Any) -> bool:
    if not isinstance(value, dict) or len(value) != 1:
        return False
    (key,) = value
    return key == "Ref" or str(key).startswith("Fn::")


def _token(value: Any, kinds: list[Any]) -> str:
    if str in kinds:
        return f"aws_cdk.Token.as_string({value!r})"
    if any(_is_sequence(kind) and str in _flat(typing.get_args(kind)[0]) for kind in kinds):
        return f"aws_cdk.Token.as_list({value!r})"
    if {int, float} & set(kinds):
        return f"aws_cdk.Token.as_number({value!r})"
    return f"aws_cdk.Token.as_any({value!r})"


def _options(name: str, resource: dict[str, Any]) -> list[str]:
    lines = []
    for key in ("DependsOn", "DeletionPolicy", "UpdateReplacePolicy", "Condition", "UpdatePolicy"):
        if key in resource:
            lines.append(f"r[{name!r}].add_override({key!r}, {resource[key]!r})")
    return lines


def _output(name: str, output: dict[str, Any]) -> str:
    value = output["Value"]
    spelled = repr(value) if isinstance(value, str) else f"aws_cdk.Token.as_string({value!r})"
    return f"aws_cdk.CfnOutput(stack, {name!r}, value={spelled}, description={output.get('Description')!r})"


def _acknowledgements(assembly: Path) -> list[str]:
    """Acknowledge what the original does, as often: on the one resource concerned, else on the stack."""
    (metadata_file,) = assembly.glob("*.metadata.json")
    logical_ids = {
        path.lstrip("/"): entry["data"]
        for path, entries in json.loads(metadata_file.read_text()).items()
        for entry in entries
        if entry["type"] == "aws:cdk:logicalId"
    }
    report = json.loads((assembly / "validation-report.json").read_text())
    concerned: dict[tuple[str, str, str], set[str]] = {}
    for plugin in report["pluginReports"]:
        for violation in plugin.get("suppressedViolations", []):
            key = (violation["acknowledgedId"], violation["reason"], violation["acknowledgedAt"])
            paths = {construct["constructPath"] for construct in violation["violatingConstructs"]}
            concerned.setdefault(key, set()).update(paths)
    lines = []
    for (identifier, reason, _), paths in concerned.items():
        scope = f"r[{logical_ids[next(iter(paths))]!r}]" if len(paths) == 1 else "stack"
        acknowledgement = f"aws_cdk.Acknowledgment(id={identifier!r}, reason={reason!r})"
        lines.append(f"aws_cdk.Validations.of({scope}).acknowledge({acknowledgement})")
    return lines
