"""What the EKS constructs make keeps every promise, and every weakening of it is found."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from aws_cdk import App, Aws, Environment, Stack
from aws_cdk import aws_iam as iam

from hyperpod_constructs.checkpoint_bucket import CheckpointBucket
from hyperpod_constructs.cluster_network import ClusterNetwork
from hyperpod_constructs.dependency_chart import DependencyChart
from hyperpod_constructs.efa_security_group import EfaSecurityGroup
from hyperpod_constructs.eks_control_plane import EksControlPlane
from hyperpod_constructs.execution_role import ExecutionRole
from hyperpod_constructs.hyperpod_cluster import HyperPodCluster
from hyperpod_constructs.instance_group import InstanceGroup
from hyperpod_constructs.orchestrator import Orchestrator
from hyperpod_constructs.resilience_policy import ResiliencePolicy
from hyperpod_constructs.tiered_checkpointing import TieredCheckpointing
from hyperpod_constructs.training_pod_role import TrainingPodRole
from hyperpod_policy import compare, review

REGION = "us-west-2"
Template = dict[str, Any]


def _made(outdir: str, **network: Any) -> Template:
    app = App(outdir=outdir)
    stack = Stack(app, "Training", env=Environment(region=REGION))
    where = ClusterNetwork(
        stack,
        "Network",
        availability_zone_id="usw2-az1",
        control_plane_availability_zone_ids=["usw2-az1", "usw2-az2"],
        **network,
    )
    nodes = EfaSecurityGroup(stack, "Nodes", vpc=where.vpc)
    control_plane = EksControlPlane(
        stack,
        "Eks",
        network=where,
        dependency_chart=DependencyChart.from_oci(
            "oci://111122223333.dkr.ecr.us-west-2.amazonaws.com/chart", version="0.1.0"
        ),
        administrators=[
            iam.Role.from_role_arn(stack, "Platform", f"arn:aws:iam::{Aws.ACCOUNT_ID}:role/platform")
        ],
    )
    control_plane.allow_nodes(nodes)
    bucket = CheckpointBucket(stack, "Checkpoints")
    pods = {"control_plane": control_plane, "namespace": "kubeflow", "checkpoint_bucket": bucket}
    TrainingPodRole(stack, "Pods", service_account="trainer", tiered=True, **pods)
    TrainingPodRole.irsa(stack, "TokenPods", service_account="evaluator", **pods)
    cluster = HyperPodCluster(
        stack,
        "Cluster",
        cluster_name="llm-train-eks",
        orchestrator=Orchestrator.eks(control_plane),
        network=where,
        security_groups=[nodes],
        execution_role=ExecutionRole(
            stack,
            "Role",
            orchestrator="eks",
            subnets=[where.accelerator_subnet],
            security_groups=[nodes],
            pod_identity_cluster=control_plane,
        ),
        instance_groups=[
            InstanceGroup(name="system", instance_type="ml.m5.2xlarge", instance_count=2),
            InstanceGroup(name="workers", instance_type="ml.p5.48xlarge", instance_count=16),
        ],
        resilience=ResiliencePolicy(spare_nodes=1),
        tiered_checkpointing=TieredCheckpointing(memory_percentage=20, s3_interval_steps=500),
    )
    control_plane.install_operators(after=cluster)
    app.synth()
    found: Template = json.loads((Path(outdir) / stack.template_file).read_text())
    return found


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Template:
    return _made(str(tmp_path_factory.mktemp("internet")))


@pytest.fixture(scope="module")
def isolated(tmp_path_factory: pytest.TempPathFactory) -> Template:
    return _made(str(tmp_path_factory.mktemp("isolated")), isolated=True, orchestrator="eks")


def _all(template: Template, kind: str) -> list[Template]:
    return [found for found in template["Resources"].values() if found["Type"] == kind]


def _properties(template: Template, kind: str, position: int = 0) -> Template:
    found: Template = _all(template, kind)[position]["Properties"]
    return found


@pytest.mark.parametrize("name", ["made", "isolated"])
def test_the_constructs_keep_every_promise(name: str, request: pytest.FixtureRequest) -> None:
    report = review(request.getfixturevalue(name), region=REGION)
    # Nobody watches a stack of these constructs alone.
    others = [finding for finding in report.findings if finding.rule_id not in ("HealthEvents", "Budget")]
    assert [finding.text() for finding in others if finding.label != "advice"] == []
    outcomes = {
        rule_id: report.outcome(rule_id)
        for rule_id in (
            "EksEndpointAccess",
            "EksAuthentication",
            "EksSecretsEncryption",
            "EksControlPlaneLogs",
            "EksNodeTraffic",
            "PodIdentityTrust",
            "ServiceAccountTrust",
            "NodeCheckpointAccess",
            "TrainingOperatorTag",
            "TieredCheckpointing",
            "BucketWriters",
            "CheckpointPorts",
        )
    }
    assert set(outcomes.values()) == {"pass"}, outcomes


def _open_endpoint(template: Template) -> None:
    _properties(template, "AWS::EKS::Cluster")["ResourcesVpcConfig"]["EndpointPublicAccess"] = True
    _properties(template, "AWS::EKS::Cluster")["ResourcesVpcConfig"].pop("PublicAccessCidrs", None)


def _config_map(template: Template) -> None:
    _properties(template, "AWS::EKS::Cluster")["AccessConfig"]["AuthenticationMode"] = "CONFIG_MAP"


def _plain_secrets(template: Template) -> None:
    del _properties(template, "AWS::EKS::Cluster")["EncryptionConfig"]


def _no_logs(template: Template) -> None:
    del _properties(template, "AWS::EKS::Cluster")["Logging"]


def _no_way_to_kubelets(template: Template) -> None:
    template["Resources"] = {
        name: found
        for name, found in template["Resources"].items()
        if not (
            found["Type"] == "AWS::EC2::SecurityGroupIngress" and found["Properties"].get("FromPort") == 10250
        )
    }


def _wide_way_to_nodes(template: Template) -> None:
    for rule in _all(template, "AWS::EC2::SecurityGroupIngress"):
        if rule["Properties"].get("FromPort") == 10250:
            rule["Properties"].update(FromPort=1025, ToPort=65535)


def _no_session_tags(template: Template) -> None:
    for role in _all(template, "AWS::IAM::Role"):
        for statement in role["Properties"]["AssumeRolePolicyDocument"]["Statement"]:
            if "sts:TagSession" in statement["Action"]:
                statement["Action"] = "sts:AssumeRole"


def _wildcard_subject(template: Template) -> None:
    (conditions,) = _all(template, "Custom::AWSCDKCfnJson")
    text = json.dumps(conditions["Properties"]["Value"])
    assert "kubeflow:evaluator" in text
    conditions["Properties"]["Value"] = json.loads(text.replace("kubeflow:evaluator", "kubeflow:*"))


def _writing_nodes(template: Template) -> None:
    name = next(
        name
        for name, found in template["Resources"].items()
        if found["Type"] == "AWS::S3::Bucket" and name.startswith("Checkpoints")
    )
    role = next(
        name
        for name, found in template["Resources"].items()
        if found["Type"] == "AWS::IAM::Role" and name.startswith("Role")
    )
    objects = {"Fn::Join": ["", [{"Fn::GetAtt": [name, "Arn"]}, "/*"]]}
    template["Resources"]["Write"] = {
        "Type": "AWS::IAM::RolePolicy",
        "Properties": {
            "RoleName": {"Ref": role},
            "PolicyDocument": {
                "Statement": [{"Effect": "Allow", "Action": "s3:PutObject", "Resource": objects}]
            },
        },
    }
    policy = next(
        found
        for found in _all(template, "AWS::S3::BucketPolicy")
        if found["Properties"]["Bucket"] == {"Ref": name}
    )
    statements = policy["Properties"]["PolicyDocument"]["Statement"]
    policy["Properties"]["PolicyDocument"]["Statement"] = [
        statement for statement in statements if "s3:PutObject" not in json.dumps(statement)
    ]


def _no_tag(template: Template) -> None:
    tags = _properties(template, "AWS::SageMaker::Cluster")["Tags"]
    tags[:] = [tag for tag in tags if tag["Key"] != "SageMaker"]


def _no_share(template: Template) -> None:
    tiered = _properties(template, "AWS::SageMaker::Cluster")["TieredStorageConfig"]
    del tiered["InstanceMemoryAllocationPercentage"]


@pytest.mark.parametrize(
    ("rule_id", "weaken"),
    [
        ("EksEndpointAccess", _open_endpoint),
        ("EksAuthentication", _config_map),
        ("EksSecretsEncryption", _plain_secrets),
        ("EksControlPlaneLogs", _no_logs),
        ("EksNodeTraffic", _no_way_to_kubelets),
        ("CheckpointPorts", _wide_way_to_nodes),
        ("PodIdentityTrust", _no_session_tags),
        ("ServiceAccountTrust", _wildcard_subject),
        ("NodeCheckpointAccess", _writing_nodes),
        ("TrainingOperatorTag", _no_tag),
        ("TieredCheckpointing", _no_share),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_every_weakening_is_found(made: Template, rule_id: str, weaken: Callable[[Template], None]) -> None:
    weakened = copy.deepcopy(made)
    weaken(weakened)
    assert weakened != made
    assert review(weakened, region=REGION).outcome(rule_id) == "fail"


def test_an_isolated_network_is_judged_as_one(isolated: Template, made: Template) -> None:
    for rule_id in ("IsolatedEndpoints", "S3EndpointPolicy"):
        assert review(isolated, region=REGION).outcome(rule_id) == "pass"
        assert review(made, region=REGION).outcome(rule_id) is None


def test_every_endpoint_of_an_isolated_network_counts(isolated: Template) -> None:
    names = [
        name for name, found in isolated["Resources"].items() if found["Type"] == "AWS::EC2::VPCEndpoint"
    ]
    assert len(names) > 10
    for name in names:
        weakened = copy.deepcopy(isolated)
        del weakened["Resources"][name]
        assert review(weakened, region=REGION).outcome("IsolatedEndpoints") == "fail", name


def test_an_update_that_changes_nothing_has_no_findings(made: Template) -> None:
    assert compare(made, made, region=REGION).findings == ()


def test_another_secrets_key_takes_the_hyperpod_cluster_with_it(made: Template) -> None:
    changed = copy.deepcopy(made)
    (config,) = _properties(changed, "AWS::EKS::Cluster")["EncryptionConfig"]
    config["Provider"]["KeyArn"] = "arn:aws:kms:us-west-2:111122223333:key/other"
    findings = compare(made, changed, region=REGION).findings
    assert ("ClusterReplacement", ("Orchestrator", "Eks")) in {
        (finding.rule_id, finding.path) for finding in findings
    }
