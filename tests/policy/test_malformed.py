from __future__ import annotations

import pytest
from broken_templates import ODD, broken

from hyperpod_policy import compare, review


@pytest.mark.parametrize("number", range(len(ODD)), ids=lambda number: str(ODD[number]))
def test_no_malformed_value_crashes_a_review(template, eks_template, number):
    """Each odd value at every 67th place of a template, from another start for each."""
    for whole in (template, eks_template):
        for changed in broken(whole, number):
            review(changed, region="us-west-2").text()


@pytest.mark.parametrize("number", range(len(ODD)), ids=lambda number: str(ODD[number]))
def test_no_malformed_value_crashes_a_comparison(template, number):
    for changed in broken(template, number):
        compare(changed, template).text()
        compare(template, changed).text()
