"""The page of all properties: complete, current, and true of props and fields."""

from __future__ import annotations

import inspect
import typing
from importlib import import_module, util
from pathlib import Path
from typing import Any

import pydantic
import pytest

from hyperpod_model.cluster_spec import ClusterSpec

ROOT = Path(__file__).parents[2]
_MODULES = {
    "AccountingDatabase": "accounting_database",
    "AutoPatching": "software_updates",
    "AutoScaling": "auto_scaling",
    "BatchSize": "software_updates",
    "Deployment": "software_updates",
    "HyperPodCluster": "hyperpod_cluster",
    "InstanceGroup": "instance_group",
    "KubernetesTaint": "kubernetes_taint",
    "LifecycleScripts": "lifecycle_scripts",
    "LustreMount": "lustre_mount",
    "OpenZfsMount": "openzfs_mount",
    "Orchestrator": "orchestrator",
    "ResiliencePolicy": "resilience_policy",
    "RestrictedEnvironment": "restricted_instance_group",
    "RestrictedFileSystem": "restricted_instance_group",
    "RestrictedInstanceGroup": "restricted_instance_group",
    "ScheduledUpdate": "software_updates",
    "TieredCheckpointing": "tiered_checkpointing",
}
CANNOT_BE_SAID = {
    "InstanceGroups[].AutoPatchConfig.PatchSchedule",
    "RestrictedInstanceGroups[].InstanceStorageConfigs[].EbsVolumeConfig.RootVolume",
    "RestrictedInstanceGroups[].InstanceStorageConfigs[].EbsVolumeConfig.VolumeKmsKeyId",
}


def _page() -> Any:
    spec = util.spec_from_file_location("properties", ROOT / "docs" / "generators" / "cluster_properties.py")
    assert spec is not None
    assert spec.loader is not None
    module = util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


PAGE = _page()
SCHEMA = PAGE.schema()


def prop_exists(prop: str) -> bool:
    owner, *steps = prop.split(".")
    found: Any = getattr(import_module(f"hyperpod_constructs.{_MODULES[owner]}"), owner)
    for step in steps[:-1]:
        found = getattr(found, step)
    # A class made by jsii hides its own signature behind that of its metaclass.
    called = found.__init__ if inspect.isclass(found) else found
    return steps[-1] in inspect.signature(called).parameters


def _model_in(annotation: Any) -> Any:
    if inspect.isclass(annotation) and issubclass(annotation, pydantic.BaseModel):
        return annotation
    return next((found for part in typing.get_args(annotation) if (found := _model_in(part))), None)


def field_exists(field: str) -> bool:
    model: Any = ClusterSpec
    for step in field.split("."):
        name = step.removesuffix("[]")
        if model is None or name not in model.model_fields:
            return False
        model = _model_in(model.model_fields[name].annotation)
    return True


def missing(schema: Any) -> set[str]:
    return {path for path, is_read_only in PAGE.property_paths(schema).items() if not is_read_only} - set(
        PAGE.SAID
    )


def test_every_property_is_said() -> None:
    assert missing(SCHEMA) == set()


def test_a_new_property_is_noticed_at_any_depth() -> None:
    definitions = SCHEMA["definitions"]
    taint = definitions["ClusterKubernetesTaint"]
    grown = {
        **SCHEMA,
        "properties": {**SCHEMA["properties"], "New": {"type": "string"}},
        "definitions": {
            **definitions,
            "ClusterKubernetesTaint": {
                **taint,
                "properties": {**taint["properties"], "Newer": {"type": "string"}},
            },
        },
    }
    assert missing(grown) == {"New", "InstanceGroups[].KubernetesConfig.Taints[].Newer"}


def test_no_property_is_said_that_is_gone_or_read_only() -> None:
    paths = PAGE.property_paths(SCHEMA)
    assert {path for path in PAGE.SAID if paths.get(path, True)} == set()


def test_every_property_has_prop_and_field_or_a_reason() -> None:
    for path, said in PAGE.SAID.items():
        if path in CANNOT_BE_SAID:
            assert not said.props
            assert said.note.startswith("cannot be said: ")
        else:
            assert said.props, path
            assert said.fields, path


def test_the_props_exist() -> None:
    props = {prop for said in PAGE.SAID.values() for prop in said.props}
    assert {prop for prop in props if not prop_exists(prop)} == set()


def test_the_fields_exist() -> None:
    fields = {field for said in PAGE.SAID.values() for field in said.fields}
    assert {field for field in fields if not field_exists(field)} == set()


@pytest.mark.parametrize(
    "prop", ["InstanceGroup.instance_kind", "Orchestrator.eks.cluster", "BatchSize.size"]
)
def test_a_prop_that_does_not_exist_is_noticed(prop: str) -> None:
    assert not prop_exists(prop)


@pytest.mark.parametrize("field", ["names", "instance_groups[].kind", "name.first", "auto_scaling.kind"])
def test_a_field_that_does_not_exist_is_noticed(field: str) -> None:
    assert not field_exists(field)


def test_read_only_properties_are_marked() -> None:
    assert "| `InstanceGroups[].CurrentCount` | | | read-only |" in PAGE.page_of(SCHEMA).splitlines()


def test_the_page_is_current() -> None:
    assert PAGE.PAGE.read_text() == PAGE.page_of(SCHEMA)
