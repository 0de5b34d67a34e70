from __future__ import annotations

import json

import pytest
from broken_templates import ODD, broken

from hyperpod_policy.trust_map import svg, trust_map


@pytest.mark.parametrize("number", range(len(ODD)), ids=lambda number: str(ODD[number]))
def test_no_malformed_value_crashes_a_map(template, eks_template, number):
    for whole in (template, eks_template):
        for changed in broken(whole, number):
            found = trust_map(changed, region="us-west-2")
            assert found.text()
            assert json.dumps(found.to_json())
            assert svg(found)
