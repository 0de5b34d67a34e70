import json
from collections.abc import Iterator
from typing import Any

import pytest
from botocore.exceptions import ClientError

from aws_double.running import Running, running
from aws_double.session import Session


@pytest.fixture(scope="module")
def double(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with running(folder=tmp_path_factory.mktemp("double")) as started:
        yield started


def role(double: Running, name: str, *statements: dict[str, Any]) -> Session:
    """Return the view of a new role with a policy of these statements, or without any."""
    iam = double.session().client("iam")
    trust = {
        "Version": "2012-10-17",
        "Statement": [{"Effect": "Allow", "Action": "sts:AssumeRole", "Principal": {"AWS": "*"}}],
    }
    arn = iam.create_role(RoleName=name, AssumeRolePolicyDocument=json.dumps(trust))["Role"]["Arn"]
    if statements:
        document = {"Version": "2012-10-17", "Statement": list(statements)}
        iam.put_role_policy(RoleName=name, PolicyName="p", PolicyDocument=json.dumps(document))
    return double.session().assume(arn)


def allow(*actions: str, **others: Any) -> dict[str, Any]:
    return {"Effect": "Allow", "Action": list(actions), "Resource": "*", **others}


CASES = [
    ("nothing", [], False),
    ("that-action", [allow("ec2:DescribeVpcs", "fsx:DescribeFileSystems")], True),
    ("with-wildcards", [allow("EC2:Describe*", "fsx:*")], True),
    ("everything", [allow("*")], True),
    ("other-actions", [allow("ec2:CreateVpc", "fsx:CreateBackup")], False),
    ("all-but-others", [{"Effect": "Allow", "NotAction": "s3:*", "Resource": "*"}], True),
    ("all-but-these", [{"Effect": "Allow", "NotAction": ["ec2:*", "fsx:*"], "Resource": "*"}], False),
    ("a-denial", [{"Effect": "Deny", "Action": "*", "Resource": "*"}], False),
]


@pytest.mark.parametrize(("name", "statements", "allowed"), CASES, ids=[case[0] for case in CASES])
def test_a_role_may_do_what_some_statement_allows(
    double: Running, name: str, statements: list[dict[str, Any]], allowed: bool
) -> None:
    session = role(double, name, *statements)

    for service, operation, code in (
        ("ec2", "describe_vpcs", "UnauthorizedOperation"),
        ("fsx", "describe_file_systems", "AccessDeniedException"),
    ):
        call = getattr(session.client(service), operation)
        if allowed:
            call()
        else:
            with pytest.raises(ClientError, match=rf"{code}.*assumed-role/{name}/session is not authorized"):
                call()


def test_root_and_other_services_are_not_asked(double: Running) -> None:
    double.session().client("ec2").describe_vpcs()
    session = role(double, "none-at-all")

    assert "none-at-all" in session.client("sts").get_caller_identity()["Arn"]


def test_a_role_that_is_gone_may_do_nothing(double: Running) -> None:
    session = role(double, "gone", allow("*"))
    iam = double.session().client("iam")
    iam.delete_role_policy(RoleName="gone", PolicyName="p")
    iam.delete_role(RoleName="gone")

    with pytest.raises(ClientError, match="not authorized"):
        session.client("ec2").describe_vpcs()
