"""What goes wrong between an operator and AWS is one clear line."""

from __future__ import annotations

import pytest
from aws_answers import CLUSTER_ARN, error, node


def line(result) -> str:
    """The one line that was printed."""
    assert result.out == ""
    (only,) = result.err.splitlines()
    assert only.startswith("hyperpod-nodes: ")
    return only


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("ThrottlingException", "AWS throttles sagemaker:DescribeCluster in us-west-2, also at attempt 1;"),
        ("ExpiredTokenException", "the AWS credentials have expired; renew them, for example with"),
        ("ExpiredToken", "the AWS credentials have expired; renew them"),
        ("UnrecognizedClientException", "does not accept the credentials (UnrecognizedClientException)"),
        ("ConflictException", "AWS refuses sagemaker:DescribeCluster in us-west-2, since something else"),
        ("ValidationException", "AWS refuses sagemaker:DescribeCluster in us-west-2: ValidationException:"),
    ],
)  # fmt: skip
def test_what_aws_refuses(aws, said, code, message):
    aws.answers["DescribeCluster"] = error(code)
    assert message in line(said("list", "llm-train", code=2))


def test_throttling_is_retried_first(aws, said, monkeypatch):
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "2")
    slow = error("ThrottlingException")
    aws.answers["DescribeCluster"] = [slow, aws.answers["DescribeCluster"]]
    assert "workers-2" in said("list", "llm-train").out
    assert len(aws.requests("DescribeCluster")) == 2
    aws.answers["DescribeCluster"] = slow
    assert "also at attempt 2" in line(said("list", "llm-train", code=2))


@pytest.mark.parametrize("said_", ["0", "many", ""])
def test_a_number_of_attempts_that_is_none(aws, said, monkeypatch, said_):
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", said_)
    told = line(said("list", "llm-train", code=2))
    assert f"AWS_MAX_ATTEMPTS must be a whole number from 1, got '{said_}'" in told


def test_a_denied_action_is_named(aws, said):
    message = "User: arn:aws:iam::1:user/a is not authorized to perform: sagemaker:ListClusterNodes on x"
    aws.answers["ListClusterNodes"] = error("AccessDeniedException", message)
    assert "do not permit sagemaker:ListClusterNodes; ask for that action" in line(
        said("list", "llm-train", code=2)
    )
    aws.answers["ListClusterNodes"] = error("AccessDeniedException", "no")
    assert "do not permit sagemaker:ListClusterNodes" in line(said("list", "llm-train", code=2))


@pytest.mark.parametrize(
    ("found", "hint"),
    [
        (["llm-eval", "llm-train"], "there are llm-eval, llm-train; is it in another --region or --profile?"),
        ([], "that region has none; say another --region or --profile"),
        ([f"c{number}" for number in range(10)], "c6, c7 and 2 more; is it"),
    ],
)
def test_an_unknown_cluster_is_told_with_those_there_are(aws, said, found, hint):
    aws.answers["DescribeCluster"] = error("ResourceNotFound")
    aws.answers["ListClusters"] = {
        "ClusterSummaries": [
            {"ClusterName": name, "ClusterArn": CLUSTER_ARN, "ClusterStatus": "InService", "CreationTime": 1}
            for name in found
        ]
    }
    told = line(said("list", "llm-trian", code=2))
    assert told.startswith("hyperpod-nodes: there is no cluster 'llm-trian' in us-west-2; ")
    assert hint in told


def test_an_unknown_cluster_where_clusters_may_not_be_listed(aws, said):
    aws.answers["DescribeCluster"] = error("ResourceNotFound")
    aws.answers["ListClusters"] = error("AccessDeniedException")
    assert "is it in another region or account?" in line(said("list", "x", code=2))


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("worker-2", "there is no node 'worker-2', did you mean 'workers-2'"),
        (
            "i-0123456789abcdef0",
            "there is no node 'i-0123456789abcdef0': it was replaced or taken away, or is of another cluster "
            "(what it logged: 'hyperpod-nodes logs llm-train i-0123456789abcdef0 --region us-west-2')",
        ),
        # A hint that differs in a number is another node, and a healthy one.
        ("workers-3", "there is no node 'workers-3': group workers has 2 nodes"),
        ("worker-3", "there is no node 'worker-3';"),
        ("ip-10-7-0-3", "there is no node 'ip-10-7-0-3';"),
    ],
)
def test_an_unknown_node(aws, said, name, hint):
    told = line(said("replace", "llm-train", name, "--yes", code=2))
    assert f"cluster llm-train in us-west-2: {hint}" in told
    assert "'hyperpod-nodes list llm-train --region us-west-2' shows all" in told
    assert aws.requests("BatchReplaceClusterNodes") == []


def test_a_region_without_an_endpoint(aws, said, monkeypatch):
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:1")
    told = line(said("list", "llm-train", "--region", "us-west-22", code=2))
    assert (
        "there is no answer from AWS in region 'us-west-22'; unknown region 'us-west-22'; did you mean"
        in told
    )
    told = line(said("list", "llm-train", code=2))
    assert "region 'us-west-2'; check the network, a proxy, and the VPC's endpoints" in told


@pytest.mark.parametrize("name", ["us_west_2", "-", "a b"])
def test_a_name_that_is_no_region(aws, said, name, monkeypatch):
    monkeypatch.delenv("AWS_ENDPOINT_URL")
    assert f"in region '{name}'" in line(said("list", "llm-train", f"--region={name}", code=2))


def test_no_region(aws, said, monkeypatch):
    monkeypatch.delenv("AWS_REGION")
    monkeypatch.delenv("AWS_DEFAULT_REGION")
    assert "no region is given; say --region, set AWS_REGION" in line(said("list", "llm-train", code=2))
    assert "workers-1" in said("list", CLUSTER_ARN).out


def test_the_region_of_an_arn_is_not_contradicted(aws, said):
    told = line(said("list", CLUSTER_ARN, "--region", "us-east-1", code=2))
    assert "the cluster's ARN is of us-west-2, and --region says us-east-1" in told


def test_no_credentials(aws, said, monkeypatch):
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
    assert "there are no AWS credentials; sign in" in line(said("list", "llm-train", code=2))


def test_an_unknown_profile(aws, said):
    told = line(said("list", "llm-train", "--profile", "nobody", code=2))
    assert "the config profile (nobody) could not be found; 'aws configure list-profiles'" in told


def test_an_expired_sign_on(aws, said, monkeypatch, tmp_path):
    config = tmp_path / "config"
    config.write_text(
        "[profile sso]\nsso_session = s\nsso_account_id = 111122223333\nsso_role_name = r\n"
        "[sso-session s]\nsso_region = us-west-2\nsso_start_url = https://example.com/start\n"
    )
    monkeypatch.setenv("AWS_CONFIG_FILE", str(config))
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name)
    told = line(said("list", "llm-train", "--profile", "sso", code=2))
    assert "the AWS sign-on has expired; renew them" in told or "the AWS credentials have expired" in told


def test_a_group_that_is_none(aws, said):
    told = line(said("list", "llm-train", "--group", "wrokers", code=2))
    assert "has no group wrokers; it has controller, workers" in told


def test_a_node_replaced_while_it_is_asked_for(aws, said):
    listed = node("workers", 1)
    del listed["PrivateDnsHostname"]
    aws.answers["ListClusterNodes"] = {"ClusterNodeSummaries": [listed]}
    aws.answers["DescribeClusterNode"] = error("ResourceNotFound")
    assert "workers-1" in said("list", "llm-train").out
    aws.answers["DescribeClusterNode"] = error("AccessDeniedException")
    assert "do not permit sagemaker:DescribeClusterNode" in line(said("list", "llm-train", code=2))
