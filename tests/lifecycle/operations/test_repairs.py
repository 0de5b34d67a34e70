"""Replacements and reboots: what is refused, and what becomes of each node."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from hyperpod_lifecycle.operations.clusters import Cluster, Group, Node, RepairAnswer
from hyperpod_lifecycle.operations.errors import OperationError
from hyperpod_lifecycle.operations.node_health import HealthView, NodeHealth
from hyperpod_lifecycle.operations.repairs import carry_out, plan_repair

KNOWN = HealthView(source="Slurm")


def group(name, **members):
    return Group(
        **{
            "name": name, "instance_type": "ml.p5.48xlarge", "current": 1, "target": 1, "status": "InService",
            "software_status": None, "image_version": None, "image_status": None, "slurm_node_type": None,
            "own_image": None, "deep_health_checks": (), "scripts": None, **members,
        }
    )  # fmt: skip


def cluster(**members):
    return Cluster(
        **{
            "name": "llm-train", "arn": "arn:aws:sagemaker:us-west-2:111122223333:cluster/abcdefgh1234",
            "region": "us-west-2", "status": "InService", "failure": None, "orchestrator": "slurm",
            "eks_cluster_arn": None, "continuous": True, "replaces_nodes": True,
            "groups": (group("controller", slurm_node_type="Controller"), group("workers")), **members,
        }
    )  # fmt: skip


def node(number=1, group="workers", status="Running", instance_type="ml.p5.48xlarge"):
    return Node(
        group=group, number=number, id=f"i-{number:017x}", logical_id=None, instance_type=instance_type,
        status=status, message="", launched=datetime(2026, 11, 30, tzinfo=UTC), host=f"ip-10-0-0-{number}.x",
        image_version=None, image_status=None,
    )  # fmt: skip


def planned(action="replace", *, nodes=None, health=KNOWN, **members):
    return plan_repair(
        action, cluster=cluster(**members), nodes=[node()] if nodes is None else nodes, health=health
    )


class Api:
    """Answers repairs; the stand-in for HyperPod's API that these tests need."""

    def __init__(self, *answers):
        self.asked = []
        self.answers = list(answers)

    def repair(self, cluster, ids, *, action):
        self.asked.append((action, list(ids)))
        answer = self.answers.pop(0) if self.answers else {}
        if isinstance(answer, Exception):
            raise answer
        return [RepairAnswer(id=id, code=answer.get(id), message="said the test") for id in ids]


@pytest.mark.parametrize("action", ["replace", "reboot"])
def test_a_healthy_cluster_refuses_nothing(action):
    assert planned(action).refusals == ()


@pytest.mark.parametrize("status", ["Creating", "Updating", "SystemUpdating", "Failed", "Deleting"])
@pytest.mark.parametrize("action", ["replace", "reboot"])
def test_a_cluster_that_is_not_in_service(action, status):
    (refusal,) = planned(action, status=status).refusals
    assert refusal.startswith(f"cluster llm-train is {status}, not InService")


@pytest.mark.parametrize(
    "status", ["Pending", "ShuttingDown", "SystemUpdating", "DeepHealthCheckInProgress", "AttachInProgress"]
)
def test_a_node_that_something_is_done_with(status):
    (refusal,) = planned(nodes=[node(1), node(2, status=status)]).refusals
    assert refusal.startswith(f"workers-2 (i-00000000000000002) is {status}: something is being done with it")


def test_a_node_that_failed_may_be_repaired():
    assert planned(nodes=[node(status="Failure")]).refusals == ()


@pytest.mark.parametrize("repair", ["replace", "reboot"])
def test_a_node_that_hyperpod_repairs_already(repair):
    state = NodeHealth(state="UnschedulablePendingReplacement", under_repair=repair)
    health = HealthView(source="Kubernetes", nodes={node().id: state})
    (refusal,) = planned("reboot", health=health).refusals
    word = {"replace": "replacement", "reboot": "reboot"}[repair]
    assert f"HyperPod's own {word} is in progress; wait for it" in refusal
    assert planned("reboot", health=health, replaces_nodes=False).refusals == ()


def test_a_slurm_controller_is_rebooted_but_not_replaced():
    (refusal,) = planned("replace", nodes=[node(group="controller")]).refusals
    assert "is a Slurm controller, which HyperPod does not replace" in refusal
    plan = planned("reboot", nodes=[node(group="controller")])
    assert plan.refusals == ()
    assert any("Slurm's controller is away" in words for words in plan.consequences)


def test_what_may_be_a_controller_that_the_api_does_not_tell_is_not_replaced():
    head = node(group="head", instance_type="ml.m5.4xlarge")
    groups = (group("head", instance_type="ml.m5.4xlarge"), group("workers"))
    (refusal,) = planned(nodes=[head], groups=groups).refusals
    assert "may be Slurm's controller, whose state would be lost" in refusal
    assert planned("reboot", nodes=[head], groups=groups).refusals == ()
    assert planned(nodes=[node()], groups=groups).refusals == ()
    assert planned(nodes=[head], groups=groups, orchestrator="eks").refusals == ()
    told = (group("head", slurm_node_type="Login"), group("controller", slurm_node_type="Controller"))
    assert planned(nodes=[head], groups=told).refusals == ()


def test_a_node_without_a_known_fault_is_asked_about():
    question = "no fault of workers-1 (i-00000000000000001) is known: is it the one that you mean?"
    ill = HealthView(source="Slurm", nodes={node().id: NodeHealth(state="DOWN")})
    unseen = HealthView(source="Slurm", unreachable="no scontrol")
    assert question in planned("reboot").consequences
    assert question not in planned(health=ill).consequences
    assert question not in planned(health=unseen).consequences
    assert question not in planned(nodes=[node(status="Failure")]).consequences


def test_all_nodes_of_a_group_are_pointed_out():
    both = [node(1), node(2)]
    words = "these are all nodes of group workers: nothing is left to train on there meanwhile"
    assert words in planned(nodes=both, groups=(group("workers", current=2),)).consequences
    assert words not in planned(nodes=both, groups=(group("workers", current=3),)).consequences


@pytest.mark.parametrize("action", ["replace", "reboot"])
def test_the_only_login_node_is_pointed_out(action):
    words = "group login has no other login node: sessions on it end, and nobody can log in there meanwhile"
    one = group("login", slurm_node_type="Login")
    two = group("login", slurm_node_type="Login", current=2)
    login = [node(group="login")]
    assert any(words in told for told in planned(action, nodes=login, groups=(one,)).consequences)
    assert not any(words in told for told in planned(action, nodes=login, groups=(two,)).consequences)
    assert not any(words in told for told in planned(action, groups=(one, group("workers"))).consequences)


@pytest.mark.parametrize(
    ("profile", "options"),
    [
        (None, "--region us-west-2"),
        ("prod", "--region us-west-2 --profile prod"),
        ("night shift", "--region us-west-2 --profile 'night shift'"),
    ],
)
def test_a_printed_command_finds_the_cluster_again(profile, options):
    plan = planned(status="Updating", profile=profile)
    assert f"look with 'hyperpod-nodes watch llm-train {options}'" in plan.refusals[0]


@pytest.mark.parametrize(("told", "first", "last"), [(0, 1, 25), (10, 11, 25), (25, 26, 50), (50, 51, 60)])
def test_nodes_in_doubt_after_an_interrupt_are_of_one_request(told, first, last):
    plan = planned(nodes=[node(number) for number in range(1, 61)])
    assert [one.number for one in plan.in_doubt(told)] == list(range(first, last + 1))


def test_consequences():
    replaced = " ".join(planned("replace").consequences)
    assert "all volumes of the nodes are destroyed" in replaced
    assert "two hours" not in replaced
    assert "deep health checks run first, which takes about 2 hours" in " ".join(
        planned(groups=(group("workers", deep_health_checks=("InstanceStress",)),)).consequences
    )
    rebooted = " ".join(planned("reboot").consequences)
    assert "destroyed" not in rebooted
    assert "lifecycle scripts do not run again" in rebooted
    unseen = planned(health=HealthView(source="Slurm", unreachable="no scontrol"))
    assert unseen.consequences[-1] == "whether HyperPod repairs them already is not known: Slurm: no scontrol"


def test_a_refused_plan_is_not_carried_out():
    api = Api()
    with pytest.raises(ValueError, match="a refused plan is not carried out: cluster llm-train is Updating"):
        list(carry_out(api, planned(status="Updating")))
    assert api.asked == []


def test_batches_of_25():
    api = Api()
    nodes = [node(number) for number in range(1, 61)]
    outcomes = list(carry_out(api, planned("reboot", nodes=nodes)))
    assert [len(ids) for _, ids in api.asked] == [25, 25, 10]
    assert {action for action, _ in api.asked} == {"reboot"}
    assert [id for _, ids in api.asked for id in ids] == [one.id for one in nodes]
    assert [outcome.node for outcome in outcomes] == nodes
    assert all(outcome.taken for outcome in outcomes)


def test_each_node_has_an_outcome_of_its_own():
    nodes = [node(number) for number in range(1, 4)]
    api = Api({nodes[1].id: "InstanceIdInUse", nodes[2].id: "SomethingNew"})
    first, second, third = carry_out(api, planned(nodes=nodes))
    assert (first.taken, first.why_not) == (True, None)
    assert not second.taken
    assert second.why_not == (
        "InstanceIdInUse: said the test (something is being done with the instance already; wait until that "
        "is over)"
    )
    assert third.why_not == "SomethingNew: said the test"


def test_after_a_request_that_failed_no_other_is_sent():
    nodes = [node(number) for number in range(1, 61)]
    api = Api({}, OperationError("throttled", "AWS throttles"))
    outcomes = list(carry_out(api, planned(nodes=nodes)))
    assert len(api.asked) == 2
    assert [outcome.taken for outcome in outcomes] == [True] * 25 + [False] * 35
    assert {outcome.why_not for outcome in outcomes[25:50]} == {"AWS throttles"}
    assert {outcome.why_not for outcome in outcomes[50:]} == {"not asked, since the request before failed"}
