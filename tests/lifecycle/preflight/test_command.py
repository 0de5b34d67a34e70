"""The command `hyperpod-preflight`."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from preflight_account import EXISTING, MADE, ON_EKS, SUBNET, eks, good_account, quota, security_group
from told_aws import ACCOUNT, Refusal, ToldAws, denied

from hyperpod_lifecycle.preflight.command import asking, main

EXAMPLES = Path(__file__).parents[3] / "examples" / "clusters"
REQUEST = {
    "ClusterName": "llm-train",
    "InstanceGroups": [
        {
            "InstanceGroupName": "controller",
            "InstanceType": "ml.m5.2xlarge",
            "InstanceCount": 1,
            "ExecutionRole": f"arn:aws:iam::{ACCOUNT}:role/nodes",
            "LifeCycleConfig": {"SourceS3Uri": "s3://scripts/v1", "OnCreate": "on_create.sh"},
        }
    ],
    "VpcConfig": {"Subnets": [SUBNET], "SecurityGroupIds": ["sg-0123456789abcdef0"]},
}


@pytest.fixture
def account(monkeypatch):
    """Answers of the account that the command asks; a test changes them."""
    answers = good_account()
    monkeypatch.setattr(
        asking, "Aws", lambda *, region, profile: ToldAws(answers, region=region or "us-west-2")
    )
    return answers


@pytest.fixture
def run(tmp_path, capsys):
    """Runs the command on a cluster and returns what it wrote."""

    def running(cluster, *options, code=0):
        file = tmp_path / "cluster.yaml"
        file.write_text(yaml.safe_dump(cluster))
        assert main([str(file), *options]) == code
        return capsys.readouterr()

    return running


class TestVerdicts:
    def test_all_well(self, account, run):
        lines = run(MADE).out.splitlines()
        assert lines[0] == "ok           cluster name: llm-train: no cluster has this name in us-west-2"
        assert all(line.startswith("ok  ") for line in lines[:-2])
        assert lines[-2] == "llm-train in us-west-2, account 111122223333: 11 ok, 0 problem, 0 cannot tell"
        assert lines[-1].startswith(
            "not applicable: training plan (no group uses one); subnet (the network is"
        )

    def test_a_problem_with_its_remedy(self, account, run):
        account["ec2", "DescribeSecurityGroups"] = {"SecurityGroups": [security_group(IpPermissions=[])]}
        (line,) = [line for line in run(EXISTING, code=1).out.splitlines() if line.startswith("problem")]
        assert line.startswith(
            "problem      security group: sg-0123456789abcdef0: no rule allows all traffic from"
        )
        assert "; aws ec2 authorize-security-group-ingress --region us-west-2" in line

    def test_what_cannot_be_told_is_no_problem_unless_strict(self, account, run):
        account["ec2", "DescribeSubnets"] = denied("ec2:DescribeSubnets")
        lines = run(EXISTING).out.splitlines()
        assert sum(line.startswith("cannot tell") for line in lines) == 2
        assert any("do not permit ec2:DescribeSubnets; ask for that action" in line for line in lines)
        run(EXISTING, "--strict", code=1)
        run(MADE, "--strict")

    def test_each_finding_is_one_line(self, account, run):
        account["ec2", "DescribeSubnets"] = Refusal("Odd", "first\nsecond")
        lines = run(EXISTING).out.splitlines()
        assert all(line.split("  ")[0] in ("ok", "cannot tell") for line in lines[:-2])

    def test_json(self, account, run):
        account["service-quotas", "ListServiceQuotas"] = {
            "Quotas": [quota("ml.p5.48xlarge for cluster usage", 1)]
        }
        told = json.loads(run(MADE, "--format", "json", code=1).out)
        assert (told["cluster"], told["region"], told["account"]) == ("llm-train", "us-west-2", ACCOUNT)
        assert told["counts"]["problem"] == 1
        assert sum(told["counts"].values()) == len(told["findings"])
        (problem,) = [finding for finding in told["findings"] if finding["verdict"] == "problem"]
        assert problem["check"] == "quota"
        assert problem["subject"] == "ml.p5.48xlarge for cluster usage"
        assert problem["message"] == "it is 1, 4 needed"
        assert problem["remedy"].startswith("ask for 4: aws service-quotas")
        assert {finding["remedy"] for finding in told["findings"] if finding["verdict"] != "problem"} == {
            None
        }

    def test_colour_on_demand(self, account, run, monkeypatch):
        monkeypatch.setenv("FORCE_COLOR", "1")
        monkeypatch.delenv("NO_COLOR", raising=False)
        assert run(MADE).out.startswith("\x1b[32mok         \x1b[0m  cluster name")

    def test_kubernetes_that_cannot_be_asked(self, account, run, monkeypatch):
        monkeypatch.setenv("PATH", "")
        account["eks", "DescribeCluster"] = eks(certificateAuthority={"data": "bm8="})
        lines = [line for line in run(ON_EKS).out.splitlines() if line.startswith("cannot tell")]
        assert [line.split(":")[1] for line in lines] == [" PyTorchJob resource, EFA device plugin"]


class TestRequests:
    def test_a_request_takes_its_region_from_the_option(self, account, run):
        account["s3", "HeadBucket"] = {"BucketRegion": "us-west-2"}
        out = run(REQUEST, "--region", "us-west-2").out
        assert "ok           bucket: scripts: it is of account 111122223333 (lifecycle scripts)" in out
        assert (
            f"ok           role: arn:aws:iam::{ACCOUNT}:role/nodes: it exists and trusts sagemaker.amazonaws"
            in out
        )

    def test_or_from_the_profile(self, account, run):
        assert "llm-train in us-west-2" in run(REQUEST).out

    def test_a_request_that_leaves_its_network_to_be_made(self, account, run):
        request = {**REQUEST, "VpcConfig": {"Subnets": ["subnet-new"], "SecurityGroupIds": ["sg-new"]}}
        error = run(request, code=2).err
        assert "pass for instance --region us-west-2 --zone-id usw2-az1" in error
        out = run(request, "--region", "us-west-2", "--zone-id", "usw2-az1").out
        assert "ok           zone: usw2-az1" in out

    def test_another_region_than_the_specification(self, account, run):
        error = run(MADE, "--region", "us-east-1", code=2).err
        assert "'us-east-1' on the command line (--region ...); leave one out" in error


class TestUnusable:
    def test_no_file(self, capsys):
        assert main([]) == 2
        assert "give a cluster specification or a CreateCluster request" in capsys.readouterr().err

    def test_a_file_that_is_not_there(self, capsys):
        assert main(["none.yaml"]) == 2
        assert "there is no cluster file 'none.yaml'" in capsys.readouterr().err

    def test_a_specification_with_faults(self, account, run):
        error = run({**MADE, "instance_groups": []}, code=2).err
        assert error.startswith("hyperpod-preflight: ")
        assert "instance_groups" in error

    @pytest.mark.parametrize(
        ("refusal", "said"),
        [
            (Refusal("ExpiredToken", status=403), "the AWS credentials have expired; renew them"),
            (Refusal("InvalidClientTokenId", status=403), "AWS does not accept the credentials"),
            (Refusal("Throttling"), "AWS throttles sts:GetCallerIdentity in us-west-2"),
        ],
    )
    def test_an_account_that_cannot_be_asked_at_all(self, account, run, refusal, said):
        account["sts", "GetCallerIdentity"] = refusal
        captured = run(MADE, code=2)
        assert captured.out == ""
        assert len(captured.err.splitlines()) == 1
        assert said in captured.err

    @pytest.mark.parametrize(("code", "is_said"), [("InvalidClientTokenId", True), ("ExpiredToken", False)])
    def test_a_region_that_is_not_enabled(self, account, run, code, is_said):
        account["sts", "GetCallerIdentity"] = Refusal(code, status=403)
        said = "aws account get-region-opt-status --region-name us-west-2 --region us-east-1"
        assert (said in run(MADE, code=2).err) is is_said

    def test_a_profile_that_is_not_there(self, run):
        assert "aws configure list-profiles" in run(MADE, "--profile", "nobodys", code=2).err

    def test_a_wrong_option(self, run):
        assert "see hyperpod-preflight --help" in run(MADE, "--fix", code=2).err

    def test_credentials_that_expire_half_way(self, account, run):
        account["ec2", "DescribeSubnets"] = Refusal("ExpiredToken", status=400)
        assert (
            "cannot tell  subnet: llm-train: the AWS credentials have expired; renew them"
            in run(EXISTING).out
        )


class TestPolicy:
    def test_without_a_file(self, capsys):
        assert main(["--print-policy"]) == 0
        (statement,) = json.loads(capsys.readouterr().out)["Statement"]
        assert statement["Effect"] == "Allow"
        assert "servicequotas:ListServiceQuotas" in statement["Action"]

    def test_with_a_file_it_is_of_that_cluster_and_asks_nothing(self, run, monkeypatch):
        monkeypatch.setattr(asking, "Aws", None)
        actions = {
            action
            for each in json.loads(run(MADE, "--print-policy").out)["Statement"]
            for action in each["Action"]
        }
        assert "ec2:DescribeAvailabilityZones" in actions
        assert not any(action.startswith(("eks:", "iam:", "s3:")) for action in actions)

    def test_of_a_request_without_a_region(self, run):
        statements = json.loads(run(REQUEST, "--print-policy").out)["Statement"]
        assert "arn:aws:sagemaker:*:*:cluster/*" in [each["Resource"] for each in statements]


def test_help_loads_neither_boto3_nor_pydantic():
    code = (
        "import sys\n"
        "from hyperpod_lifecycle.preflight.command import main\n"
        "assert main(['--help']) == 0\n"
        "sys.exit(any(name in sys.modules for name in ('boto3', 'botocore', 'pydantic')))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "exit codes: 0 no problem" in done.stdout


@pytest.mark.parametrize("example", sorted(EXAMPLES.glob("llm-train*.yaml")), ids=lambda path: path.stem)
def test_examples_are_looked_at(account, example, capsys):
    assert main([str(example)]) == 1  # the good account has no room for them, or not what they name
    assert "problem" in capsys.readouterr().out
