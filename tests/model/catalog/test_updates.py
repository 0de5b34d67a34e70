from __future__ import annotations

import pytest

from hyperpod_model.catalog.updates import (
    CREATE_ONLY,
    FIXED_GROUP_SETTINGS,
    NEW_GROUP_INSTANCE_COUNT,
    PHYSICAL_NAMES,
)


@pytest.mark.parametrize("resource_type", CREATE_ONLY)
def test_the_registry_schema_says_the_same(resource_type):
    from cfnlint.schema.manager import PROVIDER_SCHEMA_MANAGER

    schema = PROVIDER_SCHEMA_MANAGER.get_resource_schema("us-east-1", resource_type).schema
    paths = {
        tuple(path.removeprefix("/properties/").split("/")) for path in schema.get("createOnlyProperties", ())
    }
    assert set(CREATE_ONLY[resource_type]) == paths


def test_names_are_create_only():
    assert all((member,) in CREATE_ONLY[name] for name, member in PHYSICAL_NAMES.items())


def test_settings_of_groups_are_not_marked_in_the_schema():
    marked = {path[0] for path in CREATE_ONLY["AWS::SageMaker::Cluster"]}
    assert not marked & {"InstanceGroups", "RestrictedInstanceGroups"}
    assert ("InstanceType",) in {setting.path for setting in FIXED_GROUP_SETTINGS}


def test_the_count_of_a_new_group_is_in_doubt():
    assert not NEW_GROUP_INSTANCE_COUNT.certain
