from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import pytest

from hyperpod_model.catalog import prerequisites
from hyperpod_model.catalog.prerequisites import mechanisms
from hyperpod_model.catalog.versions import KUBERNETES, MIN_OPERATOR_FOR_CHECKPOINTLESS

DOCS = Path(__file__).parents[3] / "docs"
NAMES = {
    "slurm",
    "eks",
    "tiered-checkpointing",
    "checkpointless",
    "training-operator",
    "task-governance",
    "deep-health-checks",
    "continuous-provisioning",
    "autoscaling",
}


def _generator():
    spec = importlib.util.spec_from_file_location(
        "prerequisites_page", DOCS / "generators" / "prerequisites.py"
    )
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _requirement(mechanism, item):
    (found,) = (each for each in mechanisms() if each.name == mechanism)
    return next(each for each in found.requirements if each.item == item)


def test_the_page_is_current():
    page = (DOCS / "prerequisites.md").read_text(encoding="utf-8")
    assert _generator().page() == page, "run: python docs/generators/prerequisites.py"


def test_every_mechanism_is_there_once():
    names = [found.name for found in mechanisms()]
    assert len(set(names)) == len(names)
    assert set(names) >= NAMES


@pytest.mark.parametrize("mechanism", mechanisms(), ids=lambda found: found.name)
def test_every_requirement_has_a_source_and_a_date(mechanism):
    for found in mechanism.requirements:
        assert found.text
        assert found.source
        assert re.fullmatch(r"20\d\d-\d\d(-\d\d)?", found.checked_on)
        assert not re.search(r"[{}]|Fact\(|\bNone\b", found.text)


def test_a_requirement_says_what_the_catalog_says():
    found = _requirement("checkpointless", "training operator")
    assert found.text == f"{MIN_OPERATOR_FOR_CHECKPOINTLESS} or later"


def test_sources_that_disagree_are_all_told():
    found = _requirement("training-operator", "Kubernetes")
    assert [claim.value for claim in found.claims] == [
        f"{claim.value[0]} to {claim.value[1]}" for claim in KUBERNETES.claims
    ]
    page = (DOCS / "prerequisites.md").read_text(encoding="utf-8")
    assert all(claim.source in page and claim.checked_on in page for claim in KUBERNETES.claims)


def test_another_reference_is_refused():
    with pytest.raises(ValueError, match="no such reference"):
        prerequisites._fact("versions:not a name")
