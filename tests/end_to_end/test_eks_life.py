"""A cluster on EKS, from ``cdk bootstrap`` to ``cdk destroy``."""

from __future__ import annotations

import json
import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path

import life_steps
import pytest
from assemblies import spec_of
from cdk_command import CdkCommand
from cluster_life import ClusterLife, expect
from container_insights import events_of
from inventory import inventory
from live_requests import CONFIGURATION, DEPLOYING_ROLE, Caller, LiveRequests, outsiders
from notices import write_line

from aws_double.running import Running
from hyperpod_lifecycle.scripts_folder import scripts_folder
from hyperpod_model.catalog.logs import container_log_group_name
from hyperpod_model.catalog.recovery import RECOVERY_STAGES

GOVERNANCE = {
    "teams": [{"team": "research", "instances": {"ml.p5.48xlarge": 2}}],
    "priority_classes": {"inference": 100, "training": 50},
}

METRICS = {"prometheus": True, "grafana_authentication": ["AWS_SSO"], "container_insights": True}

pytestmark = pytest.mark.steps_of_one_story


@pytest.fixture(scope="module")
def life(double: Running, cdk: CdkCommand, folder: Path) -> ClusterLife:
    made = ClusterLife(double, cdk, folder, spec_of("llm-train-eks.yaml"))
    made.resize(workers=2)
    made.change(metrics={"container_insights": True})
    return made


@pytest.fixture(scope="module")
def others(life: ClusterLife) -> dict[str, str]:
    """ARNs of roles that have nothing to do with the cluster."""
    return outsiders(life.root)


@pytest.fixture(scope="module")
def before_the_stack(life: ClusterLife, others: dict[str, str]) -> dict[str, frozenset[str]]:
    """What the account has when the stack is created that lives."""
    return inventory(life.root)


def test_bootstrap(life: ClusterLife) -> None:
    life.bootstrap()


def test_illegal_instance_type_at_first_is_undone(life: ClusterLife) -> None:
    before = inventory(life.root)
    life_steps.expect_illegal_type_undone(life, first=True)
    kept = set(life_steps.skipped(life).values())
    assert kept
    life_steps.expect_left(life, before, kept, backups=1)


@pytest.mark.usefixtures("before_the_stack")
def test_first_deployment_after_a_failed_one(life: ClusterLife) -> None:
    """As docs/deployment.md says: the CLI protected the stack before it failed."""
    assembly = life.assembly()
    ran = life.cdk.deploy(assembly)
    assert not ran.succeeded
    assert "TerminationProtection is enabled" in ran.output
    life.stack.unprotect()
    expect(life.cdk.deploy(assembly))
    assert life.description["ClusterStatus"] == "InService"
    assert life.stack.description["EnableTerminationProtection"]
    assert len(life.nodes()) == 4


def test_every_resource_is_as_the_template_asks(life: ClusterLife) -> None:
    read = life_steps.expect_everything_told(life)
    assert read >= {
        *life_steps.MINIMUM_READ,
        "AWS::EKS::AccessEntry",
        "AWS::EKS::Addon",
        "AWS::EKS::Cluster",
        "AWS::EKS::PodIdentityAssociation",
    }


def test_the_comparison_sees_a_change_by_hand(life: ClusterLife) -> None:
    life_steps.expect_change_by_hand_seen(life)


def test_nodes_talk_freely_among_themselves(life: ClusterLife) -> None:
    life_steps.expect_nodes_talk_freely_among_themselves(life)


def test_keys_rotate(life: ClusterLife) -> None:
    life_steps.expect_keys_rotate(life)


def test_people_hear_of_what_befalls_the_cluster(life: ClusterLife, others: dict[str, str]) -> None:
    """Jobs tell of their own end as the role of their pods."""
    life_steps.expect_people_hear(life, jobs=life.role_arn("TrainingPodRole"), stranger=others["another pod"])


def test_what_a_pod_prints_of_a_recovery_is_on_the_dashboard(life: ClusterLife) -> None:
    group = container_log_group_name(life.stack.only("AWS::EKS::Cluster"))
    record = {
        "version": 1,
        "kind": "recovery",
        "complete": True,
        "steps_lost": 17,
        "seconds": {stage.name: 2.5 for stage in RECOVERY_STAGES},
    }
    for number, event in enumerate(events_of(f"step 100\n{json.dumps(record)}\nstep 101\n")):
        write_line(life.root, log_group=group, stream=f"pod-{number}", line=event)
    cloudwatch, namespace = life.root.client("cloudwatch"), f"HyperPod/{life.spec.name}"
    now = datetime.now(UTC)
    counted = {}
    for metric in cloudwatch.list_metrics(Namespace=namespace)["Metrics"]:
        (point,) = cloudwatch.get_metric_statistics(
            Namespace=namespace,
            MetricName=metric["MetricName"],
            StartTime=now - timedelta(hours=1),
            EndTime=now + timedelta(minutes=1),
            Period=7200,
            Statistics=["Sum"],
        )["Datapoints"]
        counted[metric["MetricName"]] = point["Sum"]
    assert counted["StepsLost"] == 17
    figures = {name: value for name, value in counted.items() if name.startswith("Recovery")}
    assert list(figures.values()) == [2.5] * len(RECOVERY_STAGES)
    dashboard = life.stack.physical_id(*life.stack.logical_ids("AWS::CloudWatch::Dashboard"))
    body = cloudwatch.get_dashboard(DashboardName=dashboard)["DashboardBody"]
    assert all(f'"{name}"' in body for name in ("StepsLost", *figures))


def test_deploying_again_changes_nothing(life: ClusterLife) -> None:
    life_steps.expect_nothing_changes(life)


def test_who_may_do_what(life: ClusterLife, others: dict[str, str]) -> None:
    """Pods have roles of their own on EKS: the trainer's is the listed writer, and the nodes' is not."""
    trainer, upload = life.role_arn("TrainingPodRole"), life.role_arn("CustomCDKBucketDeployment")
    callers = {
        "trainer": Caller(trainer),
        "nodes": Caller(life.role_arn("ExecutionRole")),
        "another pod": Caller(others["another pod"]),
        "upload handler": Caller(upload),
        "CloudFormation": Caller(DEPLOYING_ROLE),
        "administrator outside the list": Caller(others["administrator outside the list"]),
        "anonymous": Caller(None),
        "trainer over plain HTTP": Caller(trainer, plain_http=True),
        "upload handler over plain HTTP": Caller(upload, plain_http=True),
    }
    expected = {
        "trainer": {"write checkpoint", "read checkpoint", "delete checkpoint"},
        "nodes": {"read script"},
        "another pod": {"read script"},
        "upload handler": {"write script", "read script", "delete script"},
        "CloudFormation": {"read script", *CONFIGURATION},
        "administrator outside the list": {"read script"},
        "anonymous": set(),
        "trainer over plain HTTP": set(),
        "upload handler over plain HTTP": set(),
    }
    requests = LiveRequests(life, writer=trainer)
    assert requests.allowed_live(callers) == expected
    assert requests.allowed_by_policies(callers) == expected


def test_workers_come_and_go(life: ClusterLife) -> None:
    life_steps.expect_survivors_keep_ids(life)


def test_changed_script(life: ClusterLife, folder: Path) -> None:
    own = folder / "scripts"
    shutil.copytree(scripts_folder(), own)
    script = own / "on_init_complete.sh"
    script.write_bytes(script.read_bytes() + b"\necho changed\n")
    life.change(lifecycle_scripts={"folder": str(own), "entry_point": script.name})
    life_steps.expect_scripts_under_new_prefix(life, file=script.name, content=script.read_bytes())


def test_policy_of_a_locked_bucket_changes(life: ClusterLife, others: dict[str, str]) -> None:
    life_steps.expect_policy_of_locked_bucket_changes(
        life, writer=life.role_arn("TrainingPodRole"), reader=others["evaluation"]
    )


def test_tokens_of_the_service_account_in_place_of_pod_identity(life: ClusterLife) -> None:
    """The trust has the issuer in the keys of its conditions, and the account trusts that issuer."""
    role = life.role_arn("TrainingPodRole")
    pods = {"namespace": "kubeflow", "service_account": "trainer", "identity": "irsa"}
    life.change(
        training_pods=pods, task_governance=GOVERNANCE, budget={"limit_usd": 100_000}, metrics=METRICS
    )
    life.deploy()
    read = life_steps.expect_everything_told(life)
    assert read >= {
        "AWS::APS::RuleGroupsNamespace",
        "AWS::APS::Workspace",
        "AWS::Budgets::Budget",
        "AWS::Grafana::Workspace",
        "AWS::SageMaker::ClusterSchedulerConfig",
        "AWS::SageMaker::ComputeQuota",
    }
    assert "AWS::IAM::OIDCProvider" in read
    assert life.role_arn("TrainingPodRole") == role
    url = life.root.client("eks").describe_cluster(name=life.stack.only("AWS::EKS::Cluster"))["cluster"][
        "identity"
    ]["oidc"]["issuer"]
    issuer = url.removeprefix("https://")
    iam = life.root.client("iam")
    (statement,) = iam.get_role(RoleName=role.rpartition("/")[2])["Role"]["AssumeRolePolicyDocument"][
        "Statement"
    ]
    assert statement["Principal"] == {"Federated": life.stack.only("AWS::IAM::OIDCProvider")}
    assert statement["Condition"] == {
        "StringEquals": {
            f"{issuer}:aud": "sts.amazonaws.com",
            f"{issuer}:sub": "system:serviceaccount:kubeflow:trainer",
        }
    }


def test_destruction_leaves_what_is_retained(
    life: ClusterLife, before_the_stack: dict[str, frozenset[str]]
) -> None:
    containers = container_log_group_name(life.stack.only("AWS::EKS::Cluster"))
    life_steps.expect_only_retained_left(life, before_the_stack, backups=1, log_groups={containers})
