"""The CDK CLI killed in the middle of its work on a cluster on EKS, and started again."""

from __future__ import annotations

from pathlib import Path

import pytest
from cdk_command import CdkCommand
from interruption import Story

from aws_double.running import Running

pytestmark = pytest.mark.steps_of_one_story


@pytest.fixture(scope="module")
def pace() -> float:
    """Slow enough to be interrupted."""
    return 0.05


@pytest.fixture(scope="module")
def story(double: Running, cdk: CdkCommand, folder: Path) -> Story:
    return Story.of("llm-train-eks.yaml", double, cdk, folder)


def test_killed_while_it_publishes(story: Story) -> None:
    story.kill_while_publishing()


def test_killed_while_it_creates(story: Story) -> None:
    story.kill_while("CREATE", resources=20)


def test_started_again(story: Story) -> None:
    story.run_again()
    story.expect_made_once()


def test_same_as_without_interruption(story: Story) -> None:
    story.expect_same_as_in_peace()


def test_killed_while_it_updates(story: Story) -> None:
    two = story.cut.nodes("workers")
    story.change()
    story.kill_while("UPDATE", resources=5)
    story.run_again()
    assert story.cut.nodes("workers")[:2] == two
    assert len(story.cut.nodes("workers")) == 4


def test_same_change_as_without_interruption(story: Story) -> None:
    story.expect_same_change_as_in_peace()
