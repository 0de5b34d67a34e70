"""The CDK CLI killed in the middle of its work: the moments, and what is compared afterwards."""

from __future__ import annotations

import subprocess
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import life_steps
from assemblies import spec_of, with_counts
from botocore.exceptions import ClientError
from cdk_command import CdkCommand, deployment, kill
from cluster_life import ClusterLife, expect
from inventory import difference, inventory
from published import bootstrap, settled

from aws_double import ACCOUNT
from aws_double.running import Running

PATIENCE_SECONDS = 60


@dataclass
class Story:
    """Two clusters that should end alike.

    Attributes:
        cut: Its deployments are interrupted.
        calm: Its deployments are left in peace.
        assembly: Of the cluster that is cut.
        before: What the account had before the deployment that goes on.
    """

    cut: ClusterLife
    calm: ClusterLife
    assembly: Path
    before: dict[str, frozenset[str]]

    @classmethod
    def of(cls, example: str, double: Running, cdk: CdkCommand, folder: Path) -> Story:
        """Bootstrap the account, and begin with an example that has two workers."""
        bootstrap(double.session())
        groups = with_counts(spec_of(example), workers=2)
        cut, calm = (
            ClusterLife(double, cdk, folder, spec_of(example, name=name, instance_groups=groups))
            for name in ("cut", "calm")
        )
        return cls(cut=cut, calm=calm, assembly=cut.assembly(), before=inventory(cut.root))

    def kill_while_publishing(self) -> None:
        """Kill the CLI after its first asset has arrived, when there is no stack."""
        s3 = self.cut.root.client("s3")
        bucket = f"cdk-hnb659fds-assets-{ACCOUNT}-{self.cut.root.region}"
        self._kill_when(lambda: s3.list_objects_v2(Bucket=bucket)["KeyCount"] > 0)
        assert self._status() == "none"

    def kill_while(self, verb: str, *, resources: int) -> None:
        """Kill the CLI while CloudFormation is at work, and so many resources are done.

        Args:
            verb: ``CREATE`` or ``UPDATE``.
            resources: How many.
        """
        busy = f"{verb}_IN_PROGRESS"

        def moment() -> bool:
            if self._status() != busy:
                return False
            done = Counter(one["ResourceStatus"] for one in self.cut.stack.resources.values())
            return done[f"{verb}_COMPLETE"] >= resources

        self._kill_when(moment)
        assert self._status() == busy

    def run_again(self) -> None:
        """Deploy once more, and wait: the CLI does not wait for a stack that is to be what it deploys."""
        expect(self.cut.cdk.deploy(self.assembly))
        settled(self.cut.root, self.cut.stack.name)
        life_steps.expect_everything_told(self.cut)

    def expect_made_once(self) -> None:
        """Nothing of the cluster that was cut was created twice."""
        made = Counter(
            event["LogicalResourceId"]
            for event in self.cut.stack.events
            if event["ResourceStatus"] == "CREATE_COMPLETE"
        )
        assert set(made.values()) == {1}

    def expect_same_as_in_peace(self) -> None:
        """The other cluster, left in peace, adds as much of everything to the account."""
        interrupted = inventory(self.cut.root)
        self.calm.deploy()
        in_peace = inventory(self.calm.root)
        assert _counts(self.before, interrupted) == _counts(interrupted, in_peace)
        assert self._types(self.cut) == self._types(self.calm)
        assert len(self.cut.nodes()) == len(self.calm.nodes())
        self.before = in_peace

    def change(self) -> None:
        """Ask for four workers, and for a tag on everything."""
        for life in (self.cut, self.calm):
            life.resize(workers=4)
            life.change(tags={"team": "research"})
        self.assembly = self.cut.assembly()

    def expect_same_change_as_in_peace(self) -> None:
        """The change adds nothing to the account but nodes, whether it is interrupted or not."""
        assert inventory(self.cut.root) == self.before
        self.calm.deploy()
        assert inventory(self.calm.root) == self.before
        assert self._types(self.cut) == self._types(self.calm)
        assert len(self.cut.nodes()) == len(self.calm.nodes())

    def _kill_when(self, moment: Callable[[], bool]) -> None:
        process: subprocess.Popen[str] = self.cut.cdk.start(*deployment(self.assembly))
        end = time.monotonic() + PATIENCE_SECONDS
        while not moment():
            assert process.poll() is None, f"over before it could be killed:\n{process.communicate()[0]}"
            assert time.monotonic() < end, "that moment never came"
            time.sleep(0.02)
        kill(process)

    def _status(self) -> str:
        try:
            return self.cut.stack.status
        except ClientError as error:
            if "does not exist" not in str(error):
                raise
            return "none"

    @staticmethod
    def _types(life: ClusterLife) -> dict[str, str]:
        return {name: one["ResourceType"] for name, one in life.stack.resources.items()}


def _counts(before: dict[str, frozenset[str]], after: dict[str, frozenset[str]]) -> dict[str, int]:
    return {kind: len(physical_ids) for kind, physical_ids in difference(before, after).items()}
