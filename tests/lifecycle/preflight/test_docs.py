"""The page on the preflight shows commands that can be given, and all checks."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from hyperpod_lifecycle.preflight.checks import CHECKS
from hyperpod_lifecycle.preflight.command.arguments import parsed
from hyperpod_model.catalog.limits import NETWORK_INTERFACES_QUOTA_CODE
from hyperpod_model.catalog.preflight import KUBERNETES_READ_POLICY
from hyperpod_model.cluster_spec import load_cluster

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "preflight.md").read_text()
COMMANDS = re.findall(r"^hyperpod-preflight .+$", PAGE, re.MULTILINE)


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_is_one_that_can_be_given(command):
    options = parsed(shlex.split(command)[1:])
    if options.file is not None:
        load_cluster(ROOT / options.file, region=options.region, availability_zone_id=options.zone_id)


def test_each_check_is_explained_in_order():
    rows = re.findall(r"^\| ([A-Za-z -]+) \| ", PAGE.partition("## What is asked")[2], re.MULTILINE)
    assert rows[1:] == [check.about.check for check in CHECKS]


def test_facts_are_those_of_the_catalog():
    assert NETWORK_INTERFACES_QUOTA_CODE in PAGE
    assert KUBERNETES_READ_POLICY in PAGE
