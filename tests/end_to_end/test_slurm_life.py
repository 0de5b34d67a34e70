"""A cluster with Slurm, from ``cdk bootstrap`` to ``cdk destroy``."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import life_steps
import pytest
import yaml
from assemblies import CLUSTERS, spec_of
from cdk_command import STACK, CdkCommand
from cluster_life import ClusterLife, expect
from hyperpod_demo.showing import notice_of_a_fault, watch_table
from inventory import inventory
from live_requests import CONFIGURATION, DEPLOYING_ROLE, Caller, LiveRequests, outsiders

from aws_double.running import Running
from hyperpod_lifecycle.scripts_folder import scripts_folder

pytestmark = pytest.mark.steps_of_one_story


@pytest.fixture(scope="module")
def life(double: Running, cdk: CdkCommand, folder: Path) -> ClusterLife:
    made = ClusterLife(double, cdk, folder, spec_of("llm-train.yaml"))
    made.resize(workers=2)
    return made


@pytest.fixture(scope="module")
def others(life: ClusterLife) -> dict[str, str]:
    """ARNs of roles that have nothing to do with the cluster."""
    return outsiders(life.root)


@pytest.fixture(scope="module")
def at_first(life: ClusterLife, others: dict[str, str]) -> dict[str, frozenset[str]]:
    """What the account has once it is bootstrapped."""
    return inventory(life.root)


def test_bootstrap(life: ClusterLife) -> None:
    life.bootstrap()


@pytest.mark.usefixtures("at_first")
def test_first_deployment_as_in_the_readme(life: ClusterLife, folder: Path) -> None:
    """The app of this repository, run by the CLI for a cluster of one's own: the example with two workers."""
    cluster = yaml.safe_load((CLUSTERS / "llm-train.yaml").read_text())
    for group in cluster["instance_groups"]:
        if group["name"] == "workers":
            group["instance_count"] = 2
    file = folder / "cluster.yaml"
    file.write_text(yaml.safe_dump(cluster))
    ran = expect(
        life.cdk.run(
            *("deploy", STACK, "-c", f"cluster={file}", "--require-approval", "never"),
            *("--output", str(folder / "cdk.out")),
        )
    )
    assert f"HyperPodStack.ClusterName = {life.spec.name}" in ran.output
    assert life.description["ClusterStatus"] == "InService"
    assert len(life.nodes()) == 4


def test_every_resource_is_as_the_template_asks(life: ClusterLife) -> None:
    assert life_steps.expect_everything_told(life) >= life_steps.MINIMUM_READ


def test_the_comparison_sees_a_change_by_hand(life: ClusterLife) -> None:
    life_steps.expect_change_by_hand_seen(life)


def test_nodes_talk_freely_among_themselves(life: ClusterLife) -> None:
    life_steps.expect_nodes_talk_freely_among_themselves(life)


def test_keys_rotate(life: ClusterLife) -> None:
    life_steps.expect_keys_rotate(life)


def test_people_hear_of_what_befalls_the_cluster(life: ClusterLife, others: dict[str, str]) -> None:
    """Jobs tell of their own end as the nodes' role."""
    life_steps.expect_people_hear(life, jobs=life.role_arn("ExecutionRole"), stranger=others["evaluation"])


def test_the_demo_shows_what_is_watched(life: ClusterLife) -> None:
    shown = "\n".join(watch_table(life.root, life.stack.name))
    assert re.search(
        rf"^events +Nodes of {life.spec.name} that turn unhealthy or recover +ENABLED$", shown, re.M
    )
    assert re.search(rf"^alarm +hyperpod-{life.spec.name}-health-detections +ALARM$", shown, re.M)
    assert re.search(r"^told +\S+@example\.com +not confirmed$", shown, re.M)
    topic = life.stack.outputs["NoticeTopicArn"]
    notice = notice_of_a_fault(life.root, cluster_name=life.spec.name, topic_arn=topic)
    assert "a fault of this demonstration" in notice


def test_deploying_again_changes_nothing(life: ClusterLife) -> None:
    """Nor does it matter that the assembly is made in this process now, without the checks of the app."""
    life_steps.expect_nothing_changes(life)


def test_diff_tells_what_would_change(life: ClusterLife) -> None:
    life.resize(workers=4)
    ran = expect(life.cdk.run("diff", STACK, "--app", str(life.assembly())))
    life.resize(workers=2)
    assert "Number of stacks with differences: 1" in ran.output
    assert "InstanceCount" in ran.output
    assert len(life.nodes("workers")) == 2


def test_who_may_do_what(life: ClusterLife, others: dict[str, str]) -> None:
    """Jobs share the nodes' role on Slurm: that role is the listed writer."""
    nodes, upload = life.role_arn("ExecutionRole"), life.role_arn("CustomCDKBucketDeployment")
    callers = {
        "jobs, as the nodes": Caller(nodes),
        "upload handler": Caller(upload),
        "CloudFormation": Caller(DEPLOYING_ROLE),
        "administrator outside the list": Caller(others["administrator outside the list"]),
        "anonymous": Caller(None),
        "jobs over plain HTTP": Caller(nodes, plain_http=True),
        "upload handler over plain HTTP": Caller(upload, plain_http=True),
    }
    expected = {
        "jobs, as the nodes": {"write checkpoint", "read checkpoint", "delete checkpoint", "read script"},
        "upload handler": {"write script", "read script", "delete script"},
        "CloudFormation": {"read script", *CONFIGURATION},
        "administrator outside the list": {"read script"},
        "anonymous": set(),
        "jobs over plain HTTP": set(),
        "upload handler over plain HTTP": set(),
    }
    requests = LiveRequests(life, writer=nodes)
    assert requests.allowed_live(callers) == expected
    assert requests.allowed_by_policies(callers) == expected


def test_workers_come_and_go(life: ClusterLife) -> None:
    life_steps.expect_survivors_keep_ids(life)


def test_changed_script(life: ClusterLife, folder: Path) -> None:
    own = folder / "scripts"
    shutil.copytree(scripts_folder(), own)
    script = own / "on_init_complete.sh"
    script.write_bytes(script.read_bytes() + b"\necho changed\n")
    life.change(lifecycle_scripts={"folder": str(own)})
    life_steps.expect_scripts_under_new_prefix(life, file=script.name, content=script.read_bytes())


def test_policy_of_a_locked_bucket_changes(life: ClusterLife, others: dict[str, str]) -> None:
    life_steps.expect_policy_of_locked_bucket_changes(
        life, writer=life.role_arn("ExecutionRole"), reader=others["evaluation"]
    )


def test_illegal_instance_type_is_undone(life: ClusterLife) -> None:
    life_steps.expect_illegal_type_undone(life)


def test_good_deployment_after_a_failed_one(life: ClusterLife) -> None:
    life.resize(workers=3)
    life.deploy()
    assert len(life.nodes("workers")) == 3
    life_steps.expect_everything_told(life)


def test_destruction_leaves_what_is_retained(life: ClusterLife, at_first: dict[str, frozenset[str]]) -> None:
    life_steps.expect_only_retained_left(life, at_first, backups=1)
