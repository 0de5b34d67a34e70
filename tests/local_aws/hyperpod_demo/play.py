"""What the demo does, step by step."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from botocore.exceptions import ConnectionError as NoConnectionError
from botocore.exceptions import HTTPClientError
from cdk_command import STACK, CdkCommand, deployment
from deployed_stack import DeployedStack

from aws_double import ACCOUNT, LIMITS
from aws_double.running import environment_for, outside_environment, running
from aws_double.session import Session
from hyperpod_demo.clusters import ADAPTED, READ_FROM_CONTEXT, DemoCluster
from hyperpod_demo.command_line import CommandLine, DemoError, deployment_stage, shown
from hyperpod_demo.findings import findings, warnings
from hyperpod_demo.instructions import instructions
from hyperpod_demo.interrupts import Interrupts
from hyperpod_demo.keeping import SETTINGS, kept
from hyperpod_demo.progress import Progress
from hyperpod_demo.showing import description, node_table, notice_of_a_fault, watch_table
from hyperpod_demo.stand_ins import StandIns, with_stand_ins
from hyperpod_model.cluster_spec import stack_name_of

WITHOUT_ACCOUNT: Final[Mapping[str, str]] = {
    "AWS_CONFIG_FILE": os.devnull,
    "AWS_EC2_METADATA_DISABLED": "true",
    "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
    "CDK_DISABLE_CLI_TELEMETRY": "true",
}
"""Environment variables with which nothing finds credentials of a real account."""

_WHAT_IT_IS = """\
A double of AWS plays AWS here. It is not AWS: it listens on this machine only, knows no account of yours and
creates nothing that costs anything.
"""


@dataclass(frozen=True, kw_only=True)
class Demo:
    """One run of the demo.

    Attributes:
        folder: Where everything goes.
        progress: Tells the steps.
        interrupts: What may stop it.
    """

    folder: Path
    progress: Progress
    interrupts: Interrupts
    _bootstrapped: set[str] = field(default_factory=set)

    def synthesize(self, clusters: Sequence[DemoCluster]) -> None:
        """Synthesize clusters and no more, without any AWS.

        Args:
            clusters: All of them.
        """
        for cluster in clusters:
            self._begin(cluster)
            self._synthesize(cluster, WITHOUT_ACCOUNT)

    def play(self, clusters: Sequence[DemoCluster], *, keep: bool) -> None:
        """Synthesize and deploy clusters to a double, and show them.

        Args:
            clusters: All of them.
            keep: Whether the double stays.
        """
        self.progress.tell(_WHAT_IT_IS)
        with self._double(clusters[0].region, keep=keep) as endpoint:
            try:
                for cluster in clusters:
                    self._play_one(cluster, endpoint)
                self.progress.tell("\nWhat this double of AWS does not show:")
                for limit in LIMITS:
                    self.progress.tell(f"- {limit}")
            except (NoConnectionError, HTTPClientError) as error:
                raise DemoError(f"the double of AWS answers no more; was it stopped? {error}") from error
            finally:
                if self._goes_on(keep=keep):
                    self.progress.tell(f"\n{instructions(self.folder, endpoint, clusters[0])}")
        end = "The double goes on." if keep else "The double is stopped."
        self.progress.tell(f"\nDone in {self.progress.total}. {end}")

    def _goes_on(self, *, keep: bool) -> bool:
        # Without its settings it was stopped meanwhile, by `make demo-stop`.
        return keep and self.interrupts.number is None and (self.folder / SETTINGS).exists()

    def _play_one(self, cluster: DemoCluster, endpoint: str) -> None:
        self._begin(cluster)
        settings = environment_for(endpoint, region=cluster.region, folder=self.folder)
        clients = Session(endpoint=endpoint, region=cluster.region)
        stand_ins = StandIns(cluster.spec, region=cluster.region)
        if stand_ins.uncovered:
            self._synthesize(cluster, settings)
            self.progress.tell(
                "        not deployed: the double is empty, and nothing there stands in for what the cluster "
                f"names: {', '.join(stand_ins.uncovered)}"
            )
            return
        if stand_ins:
            cluster = self._with_stand_ins(cluster, stand_ins, clients)
        assembly = self._synthesize(cluster, settings)
        self._bootstrap(cluster, assembly, settings)
        self._deploy(cluster, assembly, settings)
        self._show(cluster, clients)

    def _begin(self, cluster: DemoCluster) -> None:
        self.progress.tell(f"\n{cluster.spec.name}, from {cluster.file}:")

    def _with_stand_ins(self, cluster: DemoCluster, stand_ins: StandIns, clients: Session) -> DemoCluster:
        with self.progress.step("make stand-ins for what the cluster names, since the double is empty"):
            made = stand_ins.make(clients)
        file = self.folder / cluster.folder / ADAPTED
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(with_stand_ins(cluster.spec, made))
        for named, one in made.items():
            self.progress.tell(f"        {named} -> {one}" if named != one else f"        {named}")
        self.progress.tell(f"        the cluster with these names: {shown(file)}")
        # What the file says itself now.
        beside = {key: value for key, value in cluster.context.items() if key not in READ_FROM_CONTEXT}
        return replace(cluster, file=file, context=beside)

    def _synthesize(self, cluster: DemoCluster, settings: Mapping[str, str]) -> Path:
        assembly = self.folder / cluster.folder
        with self.progress.step(f"synthesize {STACK} and validate it") as step:
            self._cdk(settings).run(
                *("synth", STACK, "--quiet", "--output", str(assembly), *cluster.arguments()),
                log=assembly / "synth.log",
            )
            step.at = findings(assembly)
        for warning in warnings(assembly):
            self.progress.tell(f"        warning: {warning}")
        for note in cluster.notes:
            self.progress.tell(f"        note: {note}")
        self.progress.tell(f"        cloud assembly: {shown(assembly)}, with its validation-report.json")
        return assembly

    def _bootstrap(self, cluster: DemoCluster, assembly: Path, settings: Mapping[str, str]) -> None:
        if cluster.region in self._bootstrapped:
            return
        with self.progress.step(f"bootstrap {cluster.region}") as step:
            # With an assembly the CLI does not run the app for it.
            self._cdk(settings).run(
                *("bootstrap", f"aws://{ACCOUNT}/{cluster.region}", "--app", str(assembly)),
                log=self.folder / f"bootstrap-{cluster.region}.log",
                step=step,
            )
        self._bootstrapped.add(cluster.region)

    def _deploy(self, cluster: DemoCluster, assembly: Path, settings: Mapping[str, str]) -> None:
        with self.progress.step(f"deploy {STACK}") as step:
            self._cdk(settings).run(
                *deployment(assembly), log=assembly / "deploy.log", step=step, stage=deployment_stage
            )

    def _show(self, cluster: DemoCluster, clients: Session) -> None:
        name = cluster.spec.name
        self.progress.tell(f"\n$ aws sagemaker describe-cluster --cluster-name {name}")
        self.progress.tell(description(clients, name))
        self.progress.tell(f"\n$ aws sagemaker list-cluster-nodes --cluster-name {name}    (shortened)")
        for line in node_table(clients, name):
            self.progress.tell(line)
        stack = DeployedStack(clients, stack_name_of(name))
        watched = list(watch_table(clients, stack.name))
        if watched:
            self.progress.tell("\nWhat is watched, and who is told:")
            for line in watched:
                self.progress.tell(line)
        topic = stack.outputs.get("NoticeTopicArn")
        if topic is not None:
            notice = notice_of_a_fault(clients, cluster_name=name, topic_arn=topic)
            self.progress.tell("\nWhat they get when a node fails, here by an event that the demo made up:")
            self.progress.tell(
                notice if notice else "nothing: the topic or its key does not admit EventBridge"
            )

    def _cdk(self, settings: Mapping[str, str]) -> CommandLine:
        # Users validate with what the CDK has built in; the tests leave it out for speed.
        environment = {**outside_environment(), **settings, "CDK_VALIDATION": "true"}
        return CommandLine(CdkCommand(environment=environment), self.interrupts)

    @contextmanager
    def _double(self, region: str, *, keep: bool) -> Iterator[str]:
        with ExitStack() as over:
            with self.progress.step("start the double of AWS") as step:
                started = (
                    kept(folder=self.folder, region=region, interrupts=self.interrupts)
                    if keep
                    else self._running(region)
                )
                endpoint = over.enter_context(started)
                step.at = f"it listens at {endpoint}"
            yield endpoint

    @contextmanager
    def _running(self, region: str) -> Iterator[str]:
        with ExitStack() as over:
            try:
                double = over.enter_context(running(folder=self.folder, region=region))
            except RuntimeError as error:
                raise DemoError(str(error)) from error
            yield double.endpoint
