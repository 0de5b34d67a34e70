"""The table of types that regions lack says what the registry's schemas say."""

from __future__ import annotations

from typing import Any

import pytest

from hyperpod_model.catalog.regions import regions_with_hyperpod
from hyperpod_model.catalog.resource_types import NOT_LISTED

LISTED_EVERYWHERE = ("AWS::APS::Workspace", "AWS::APS::RuleGroupsNamespace", "AWS::SageMaker::Cluster")


@pytest.fixture(scope="module")
def lacking() -> dict[str, list[str]]:
    """Regions with HyperPod that lack a type, by type."""
    from cfnlint.schema import PROVIDER_SCHEMA_MANAGER as schemas  # takes a third of a second to import

    listed: dict[str, Any] = {name: set(schemas.get_resource_types(name)) for name in regions_with_hyperpod()}
    kinds = (*NOT_LISTED, *LISTED_EVERYWHERE)
    return {kind: sorted(name for name, types in listed.items() if kind not in types) for kind in kinds}


@pytest.mark.parametrize("kind", NOT_LISTED)
def test_what_the_table_says_is_in_the_schemas(lacking: dict[str, list[str]], kind: str) -> None:
    said = NOT_LISTED[kind].assuming(because="this test compares it with the schemas")
    assert list(said) == lacking[kind]
    assert said


@pytest.mark.parametrize("kind", LISTED_EVERYWHERE)
def test_what_is_listed_everywhere_needs_no_row(lacking: dict[str, list[str]], kind: str) -> None:
    assert lacking[kind] == []
    assert kind not in NOT_LISTED
