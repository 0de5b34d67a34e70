"""The default stack keeps every promise, and every weakening of it is found."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from aws_cdk import App, Environment

from hyperpod_constructs.hyperpod_stack import HyperPodStack
from hyperpod_model.cluster_spec import load_cluster
from hyperpod_policy import review

ROOT = Path(__file__).parents[2]
REGION = "us-west-2"


@pytest.fixture(scope="module")
def default_template(tmp_path_factory) -> dict[str, Any]:
    app = App(outdir=str(tmp_path_factory.mktemp("default")))
    spec = load_cluster(ROOT / "examples" / "clusters" / "llm-train.yaml").spec
    stack = HyperPodStack(app, "HyperPodStack", spec=spec, env=Environment(region=REGION))
    app.synth()
    found: dict[str, Any] = json.loads((Path(app.outdir) / stack.template_file).read_text())
    return found


def _ids(template: dict[str, Any], *types: str) -> list[str]:
    return [name for name, resource in template["Resources"].items() if resource["Type"] in types]


def _clusters_buckets(template: dict[str, Any]) -> list[str]:
    """The two buckets that are guarded: those with a key."""
    return [
        name
        for name in _ids(template, "AWS::S3::Bucket")
        if "KMSMasterKeyID" in json.dumps(template["Resources"][name])
    ]


def _policies(template: dict[str, Any]) -> list[str]:
    buckets = _clusters_buckets(template)
    return [
        name
        for name in _ids(template, "AWS::S3::BucketPolicy")
        if template["Resources"][name]["Properties"]["Bucket"]["Ref"] in buckets
    ]


def _without(template: dict[str, Any], *path: Any) -> dict[str, Any]:
    changed = copy.deepcopy(template)
    place = changed["Resources"]
    for step in path[:-1]:
        place = place[step]
    del place[path[-1]]
    return changed


def _unfound(template: dict[str, Any], paths: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    assert paths
    return [
        path
        for path in paths
        if all(
            finding.severity == "advice"
            for finding in review(_without(template, *path), region=REGION).failures
        )
    ]


def test_the_default_stack_keeps_every_promise(default_template):
    found = review(default_template, region=REGION).findings
    assert [finding.text() for finding in found] == []


def test_each_missing_protection_of_a_bucket_is_found(default_template):
    protections = [
        ("PublicAccessBlockConfiguration", "BlockPublicAcls"),
        ("PublicAccessBlockConfiguration", "BlockPublicPolicy"),
        ("PublicAccessBlockConfiguration", "IgnorePublicAcls"),
        ("PublicAccessBlockConfiguration", "RestrictPublicBuckets"),
        ("OwnershipControls",),
        ("VersioningConfiguration",),
        ("LoggingConfiguration",),
    ]
    buckets = _clusters_buckets(default_template)
    paths = [(bucket, "Properties", *path) for bucket in buckets for path in protections]
    paths += [(bucket, name) for bucket in buckets for name in ("DeletionPolicy", "UpdateReplacePolicy")]
    paths += [(policy, "DeletionPolicy") for policy in _policies(default_template)]
    assert _unfound(default_template, paths) == []


def test_each_missing_statement_and_action_of_a_bucket_policy_is_found(default_template):
    paths: list[tuple[Any, ...]] = []
    for policy in _policies(default_template):
        base = (policy, "Properties", "PolicyDocument", "Statement")
        statements = default_template["Resources"][policy]["Properties"]["PolicyDocument"]["Statement"]
        for position, statement in enumerate(statements):
            if statement["Effect"] == "Deny":
                paths.append((*base, position))
                if isinstance(statement["Action"], list):
                    paths += [(*base, position, "Action", index) for index in range(len(statement["Action"]))]
    assert _unfound(default_template, paths) == []


def test_each_missing_self_rule_denial_and_lustre_port_is_found(default_template):
    paths = [
        (name,)
        for name in _ids(
            default_template,
            "AWS::EC2::SecurityGroupIngress",
            "AWS::EC2::SecurityGroupEgress",
            "AWS::EC2::NetworkAclEntry",
            "AWS::EC2::SubnetNetworkAclAssociation",
            "AWS::EC2::FlowLog",
        )
        if any(
            word in name
            for word in ("Self", "Deny", "FromClientsIngress", "ItselfIngress", "Association", "Log")
        )
    ]
    assert _unfound(default_template, paths) == []


def test_each_missing_dependency_of_the_cluster_on_what_nodes_need_is_found(default_template):
    (cluster,) = _ids(default_template, "AWS::SageMaker::Cluster")
    needed = ("Policy", "Permissions", "SelfIngress", "SelfEgress", "InternetRoute", "TableAssociation")
    depends = default_template["Resources"][cluster]["DependsOn"]
    for name in [
        name for name in depends if "Accelerator" in name or "Node" in name or "ExecutionRole" in name
    ]:
        if any(word in name for word in needed):
            changed = copy.deepcopy(default_template)
            for resource in changed["Resources"].values():
                if isinstance(resource.get("DependsOn"), list):
                    resource["DependsOn"] = [other for other in resource["DependsOn"] if other != name]
            assert review(changed, region=REGION).outcome("ClusterDependencies") == "fail", name


def test_a_widened_trust_recovery_and_health_check_is_found(default_template):
    (cluster,) = _ids(default_template, "AWS::SageMaker::Cluster")
    changed = copy.deepcopy(default_template)
    properties = changed["Resources"][cluster]["Properties"]
    properties["NodeRecovery"] = "None"
    for group in properties["InstanceGroups"]:
        group.pop("OnStartDeepHealthChecks", None)
    role = properties["InstanceGroups"][0]["ExecutionRole"]["Fn::GetAtt"][0]
    trust = changed["Resources"][role]["Properties"]["AssumeRolePolicyDocument"]
    trust["Statement"][0]["Principal"] = {"Service": ["sagemaker.amazonaws.com", "ec2.amazonaws.com"]}
    failures = review(changed, region=REGION).failures
    failed = {finding.rule_id for finding in failures}
    assert failed == {"NodeRecovery", "DeepHealthChecks", "ExecutionRoleTrust"}
