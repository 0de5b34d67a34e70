"""Health of nodes and their marking, by a real Slurm. What HyperPod does with a marked node is a stand-in."""

from __future__ import annotations

from datetime import UTC, datetime
from types import SimpleNamespace

import pytest
from local_slurm import LocalSlurm, needs_slurm
from local_slurm.hyperpod_stand_in import repair

from hyperpod_lifecycle.operations.clusters import Cluster, Group, Node
from hyperpod_lifecycle.operations.drills import mark
from hyperpod_lifecycle.operations.node_health import HealthView
from hyperpod_lifecycle.operations.repairs import plan_repair
from hyperpod_lifecycle.operations.slurm_health import slurm_health

pytestmark = needs_slurm


def group_of(count: int) -> Group:
    return Group(
        name="workers", instance_type="ml.p5.48xlarge", current=count, target=count, status="InService",
        software_status=None, image_version=None, image_status=None, slurm_node_type="Compute",
        own_image=None, deep_health_checks=(), scripts=None,
    )  # fmt: skip


class Seen:
    """The nodes of a real Slurm, as the API of a HyperPod cluster would tell them."""

    def __init__(self, slurm: LocalSlurm) -> None:
        self.slurm = slurm
        self.cluster = Cluster(
            name="llm-train", arn="arn:aws:sagemaker:us-west-2:111122223333:cluster/abcdefgh1234",
            region="us-west-2", status="InService", failure=None, orchestrator="slurm", eks_cluster_arn=None,
            continuous=True, replaces_nodes=True, groups=(group_of(len(slurm.nodes)),),
        )  # fmt: skip
        self.nodes = [
            Node(
                group="workers", number=number, id=f"i-{number:017x}", logical_id=None,
                instance_type="ml.p5.48xlarge", status="Running", message="",
                launched=datetime(2026, 11, 30, tzinfo=UTC), host=f"{name}.us-west-2.compute.internal",
                image_version=None, image_status=None,
            )
            for number, name in enumerate(slurm.nodes, 1)
        ]  # fmt: skip

    def health(self) -> HealthView:
        return slurm_health(self.cluster, self.nodes)


@pytest.fixture
def seen(plain: LocalSlurm, monkeypatch: pytest.MonkeyPatch) -> Seen:
    for name, value in plain.environment.items():
        monkeypatch.setenv(name, value)
    return Seen(plain)


def test_idle_nodes(seen: Seen) -> None:
    view = seen.health()
    assert view.unreachable is None
    assert set(view.nodes) == {node.id for node in seen.nodes}
    assert {health.state for health in view.nodes.values()} == {"IDLE"}
    assert all(not health.faults and health.under_repair is None for health in view.nodes.values())


def test_a_reason_is_told_as_it_was_given(seen: Seen) -> None:
    node = seen.nodes[1]
    reason = "NVRM: Xid=79 State=gone [maybe]"
    update = ("scontrol", "update", f"nodename={node.slurm_name}")
    seen.slurm.run(*update, "state=drain", f"reason={reason}")
    try:
        health = seen.health().nodes[node.id]
    finally:
        seen.slurm.run(*update, "state=resume")
    assert "DRAIN" in health.state
    assert [fault.text for fault in health.faults] == [reason]


def test_a_marked_node_is_under_repair_until_it_is_replaced(seen: Seen) -> None:
    node = seen.nodes[2]
    plan = plan_repair("replace", cluster=seen.cluster, nodes=[node], health=seen.health())
    assert plan.refusals == ()
    mark(SimpleNamespace(), plan, by="slurm")  # type: ignore[arg-type]
    marked = seen.health()
    assert marked.nodes[node.id].under_repair == "replace"
    again = plan_repair("reboot", cluster=seen.cluster, nodes=[node], health=marked)
    assert "HyperPod's own replacement is in progress" in again.refusals[0]
    assert repair(seen.slurm) == {node.slurm_name: "replace"}
    assert seen.health().nodes[node.id].under_repair is None


def test_a_controller_that_is_away(seen: Seen, monkeypatch: pytest.MonkeyPatch, tmp_path) -> None:
    nowhere = tmp_path / "slurm.conf"
    nowhere.write_text("ClusterName=x\nSlurmctldHost=localhost\nSlurmctldPort=1\nNodeName=n1\n")
    monkeypatch.setenv("SLURM_CONF", str(nowhere))
    monkeypatch.setattr("hyperpod_lifecycle.operations.slurm_health._SECONDS", 2)
    assert (seen.health().unreachable or "").startswith("Slurm's controller does not answer (")
