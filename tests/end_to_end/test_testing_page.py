"""What docs/testing.md says of the double."""

from __future__ import annotations

import re
from pathlib import Path

from cdk_command import ROOT

from aws_double import LIMITS
from aws_double.running import environment_for

PAGE = (ROOT / "docs" / "testing.md").read_text()


def test_the_environment_by_hand_is_that_of_the_tests() -> None:
    lines = [line.removeprefix("export ") for line in PAGE.splitlines() if line.startswith("export ")]
    said = dict(setting.split("=", 1) for line in lines for setting in line.split())
    folder = Path("$PWD/build")
    wanted = environment_for("http://127.0.0.1:5601", region="us-west-2", folder=folder)
    assert said == dict(wanted) | {"CDK_HOME": "$PWD/build/cdk-home"}


def test_every_limit_has_a_way_to_show_it_on_aws() -> None:
    rows = dict(re.findall(r"^\| (.+?) \| (.+?) \|$", PAGE, re.MULTILINE))
    missing = [limit for limit in LIMITS if not rows.get(limit)]
    assert not missing, missing


def test_every_file_is_explained() -> None:
    here = Path(__file__).parent
    files = {path.name for path in here.glob("test_*.py")} - {Path(__file__).name}
    assert files == set(re.findall(r"`(test_\w+\.py)`", PAGE))
