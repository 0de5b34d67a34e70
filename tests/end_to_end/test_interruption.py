"""The CDK CLI killed in the middle of its work, and started again."""

from __future__ import annotations

import subprocess
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import life_steps
import pytest
from assemblies import spec_of, with_counts
from botocore.exceptions import ClientError
from cdk_command import CdkCommand, deployment, kill
from cluster_life import ClusterLife, expect
from inventory import difference, inventory
from published import bootstrap, settled

from aws_double import ACCOUNT
from aws_double.running import Running

pytestmark = pytest.mark.steps_of_one_story

EXAMPLES = {"slurm": "llm-train.yaml", "eks": "llm-train-eks.yaml"}
EACH = pytest.mark.parametrize("orchestrator", EXAMPLES)
PATIENCE_SECONDS = 60


@pytest.fixture(scope="module")
def pace() -> float:
    """Slow enough to be interrupted."""
    return 0.05


@pytest.fixture(scope="module")
def bootstrapped(double: Running, cdk: CdkCommand) -> Running:
    bootstrap(double.session())
    return double


@pytest.fixture(scope="module")
def lives(bootstrapped: Running, cdk: CdkCommand, folder: Path) -> dict[str, ClusterLife]:
    """For each orchestrator a cluster whose deployments are interrupted, and one that is left in peace."""
    made = {}
    for orchestrator, example in EXAMPLES.items():
        groups = with_counts(spec_of(example), workers=2)
        for manner in ("cut", "calm"):
            name = f"{orchestrator}-{manner}"
            spec = spec_of(example, name=name, instance_groups=groups)
            made[name] = ClusterLife(bootstrapped, cdk, folder, spec)
    return made


def kill_when(process: subprocess.Popen[str], moment: Callable[[], bool]) -> None:
    """Kill the CLI with everything that it started, as soon as something is so."""
    end = time.monotonic() + PATIENCE_SECONDS
    while not moment():
        assert process.poll() is None, f"over before it could be killed:\n{process.communicate()[0]}"
        assert time.monotonic() < end, "that moment never came"
        time.sleep(0.02)
    kill(process)


def publishing(life: ClusterLife) -> Callable[[], bool]:
    """The first new asset has arrived, and there is no stack."""
    bucket = f"cdk-hnb659fds-assets-{ACCOUNT}-{life.spec.region}"
    s3 = life.root.client("s3")

    def assets() -> int:
        return s3.list_objects_v2(Bucket=bucket)["KeyCount"]

    before = assets()

    def moment() -> bool:
        return assets() > before and not exists(life)

    return moment


def busy(life: ClusterLife, verb: str, *, resources: int) -> Callable[[], bool]:
    """CloudFormation is at work, and so many resources are done."""

    def moment() -> bool:
        if not exists(life) or life.stack.status != f"{verb}_IN_PROGRESS":
            return False
        done = Counter(one["ResourceStatus"] for one in life.stack.resources.values())
        return done[f"{verb}_COMPLETE"] >= resources

    return moment


def run_again(life: ClusterLife, assembly: Path) -> None:
    """Deploy once more, and wait: the CLI does not wait for a stack that is about to be what it deploys."""
    expect(life.cdk.deploy(assembly))
    settled(life.root, life.stack.name)


def exists(life: ClusterLife) -> bool:
    try:
        return life.stack.status != "DELETE_COMPLETE"
    except ClientError:
        return False


@EACH
def test_killed_while_it_publishes_and_while_it_creates(
    lives: dict[str, ClusterLife], orchestrator: str
) -> None:
    cut, calm = lives[f"{orchestrator}-cut"], lives[f"{orchestrator}-calm"]
    nothing = inventory(cut.root)
    assembly = cut.assembly()
    first = publishing(cut)
    kill_when(cut.cdk.start(*deployment(assembly)), first)
    assert not exists(cut)
    kill_when(cut.cdk.start(*deployment(assembly)), busy(cut, "CREATE", resources=20))
    assert cut.stack.status == "CREATE_IN_PROGRESS"
    run_again(cut, assembly)
    life_steps.expect_everything_told(cut)
    made = Counter(
        event["LogicalResourceId"]
        for event in cut.stack.events
        if event["ResourceStatus"] == "CREATE_COMPLETE"
    )
    assert set(made.values()) == {1}
    interrupted = inventory(cut.root)
    calm.deploy()
    left_in_peace = inventory(calm.root)
    assert _counts(difference(nothing, interrupted)) == _counts(difference(interrupted, left_in_peace))
    assert _types(cut) == _types(calm)
    assert len(cut.nodes()) == len(calm.nodes())


@EACH
def test_killed_while_it_updates(lives: dict[str, ClusterLife], orchestrator: str) -> None:
    cut, calm = lives[f"{orchestrator}-cut"], lives[f"{orchestrator}-calm"]
    before = inventory(cut.root)
    two, tags = cut.nodes("workers"), {"team": "research"}
    for life in (cut, calm):
        life.resize(workers=4)
        life.change(tags=tags)
    assembly = cut.assembly()
    kill_when(cut.cdk.start(*deployment(assembly)), busy(cut, "UPDATE", resources=5))
    assert cut.stack.status.endswith("_IN_PROGRESS")
    run_again(cut, assembly)
    life_steps.expect_everything_told(cut)
    assert cut.nodes("workers")[:2] == two
    assert len(cut.nodes("workers")) == 4
    calm.deploy()
    assert _types(cut) == _types(calm)
    assert inventory(cut.root) == before


def _counts(found: dict[str, frozenset[str]]) -> dict[str, int]:
    return {kind: len(physical_ids) for kind, physical_ids in found.items()}


def _types(life: ClusterLife) -> dict[str, str]:
    return {name: one["ResourceType"] for name, one in life.stack.resources.items()}
