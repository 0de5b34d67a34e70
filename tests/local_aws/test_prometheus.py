"""Prometheus and Grafana in the double: by API and CloudFormation."""

from __future__ import annotations

import json
from typing import Any

import pytest
from botocore.exceptions import ClientError
from local_resources import create, delete
from told import assert_gone, assert_told, live

from aws_double.progress import CREATION_SECONDS
from aws_double.resource import TYPES, Resource, ResourceFailure
from aws_double.session import InvalidRequestError, Session

WORKSPACE = "AWS::APS::Workspace"
RULES = "AWS::APS::RuleGroupsNamespace"
POLICY = "AWS::APS::ResourcePolicy"
GRAFANA = "AWS::Grafana::Workspace"
TAGS = [{"Key": "team", "Value": "research"}]
OF_CLOUDFORMATION = {"AccountAccessType": "CURRENT_ACCOUNT", "PermissionType": "CUSTOMER_MANAGED"}


@pytest.fixture
def workspace(root: Session) -> Any:
    made = create(root, WORKSPACE, Alias="figures")
    yield made
    delete(root, made)


def test_a_workspace_and_its_alert_manager_come_change_and_go(root: Session) -> None:
    live(
        root,
        WORKSPACE,
        {"Alias": "figures"},
        {"Alias": "numbers", "AlertManagerDefinition": "alertmanager_config: {}\n", "Tags": TAGS},
        {"Alias": "numbers", "AlertManagerDefinition": "alertmanager_config: {route: é}\n"},
        {"Alias": "numbers"},
    )


def test_a_workspace_with_an_alert_manager_from_the_first(root: Session) -> None:
    live(root, WORKSPACE, {"AlertManagerDefinition": "alertmanager_config: {}\n", "Tags": TAGS})


def test_what_a_template_gets_of_a_workspace(root: Session, workspace: Resource) -> None:
    id = workspace.attributes["WorkspaceId"]
    assert workspace.physical_id == workspace.attributes["Arn"]
    assert workspace.attributes["Arn"] == f"arn:aws:aps:us-west-2:111122223333:workspace/{id}"
    assert workspace.attributes["PrometheusEndpoint"].endswith(f"/workspaces/{id}/")


def test_rules_come_change_and_go(root: Session, workspace: Resource) -> None:
    said = {"Name": "queues", "Workspace": workspace.physical_id}
    live(
        root, RULES, {**said, "Data": "groups: []\n"}, {**said, "Data": "groups: [{name: é}]\n", "Tags": TAGS}
    )


@pytest.mark.parametrize("change", ["Name", "Workspace"])
def test_rules_of_another_name_or_workspace_are_others(change: str) -> None:
    said = {"Name": "queues", "Workspace": "arn", "Data": "groups: []"}
    assert TYPES[RULES].replaces(said, {**said, change: "other"})
    assert not TYPES[RULES].replaces(said, {**said, "Data": "groups: [{}]"})


def test_a_policy_comes_changes_and_goes(root: Session, workspace: Resource) -> None:
    policies = [
        {
            "WorkspaceArn": workspace.physical_id,
            "PolicyDocument": json.dumps({"Version": "2012-10-17", "Statement": [{"Action": action}]}),
        }
        for action in ("aps:RemoteWrite", "aps:QueryMetrics")
    ]
    live(root, POLICY, *policies)


@pytest.mark.parametrize(
    ("operation", "asked"),
    [
        ("create_alert_manager_definition", {"data": b"{}"}),
        ("put_resource_policy", {"policyDocument": "{}"}),
        ("describe_workspace", {}),
    ],
)
def test_a_workspace_that_is_not_there(root: Session, operation: str, asked: dict[str, Any]) -> None:
    with pytest.raises(ClientError, match="ResourceNotFoundException"):
        getattr(root.client("amp"), operation)(workspaceId="ws-none", **asked)


@pytest.mark.parametrize(
    "operation",
    [
        "describe_alert_manager_definition",
        "delete_alert_manager_definition",
        "describe_resource_policy",
        "delete_resource_policy",
    ],
)
def test_what_a_workspace_does_not_have(root: Session, workspace: Resource, operation: str) -> None:
    with pytest.raises(ClientError, match=r"ResourceNotFoundException.*not found"):
        getattr(root.client("amp"), operation)(workspaceId=workspace.attributes["WorkspaceId"])


def test_a_second_alert_manager_is_refused(root: Session) -> None:
    made = create(root, WORKSPACE, AlertManagerDefinition="alertmanager_config: {}")
    with pytest.raises(ClientError, match=r"ConflictException.*exists already"):
        root.client("amp").create_alert_manager_definition(
            workspaceId=made.attributes["WorkspaceId"], data=b"{}"
        )
    delete(root, made)


def test_a_property_that_is_not_applied_fails(root: Session) -> None:
    with pytest.raises(ResourceFailure, match="KmsKeyArn"):
        create(root, WORKSPACE, KmsKeyArn="arn:aws:kms:us-west-2:111122223333:key/one")


def grafana(**changes: Any) -> dict[str, Any]:
    return {
        **OF_CLOUDFORMATION,
        "Name": "figures",
        "AuthenticationProviders": ["AWS_SSO"],
        "DataSources": ["PROMETHEUS"],
        "RoleArn": "arn:aws:iam::111122223333:role/grafana",
        **changes,
    }


def test_grafana_comes_changes_and_goes(root: Session) -> None:
    live(
        root,
        GRAFANA,
        grafana(),
        grafana(Name="numbers", AuthenticationProviders=["SAML", "AWS_SSO"], Tags=TAGS),
        grafana(RoleArn="arn:aws:iam::111122223333:role/other"),
    )


def test_grafana_takes_its_time(root: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(CREATION_SECONDS, "0.3")
    asked = {"accountAccessType": "CURRENT_ACCOUNT", "permissionType": "CUSTOMER_MANAGED"}
    client = root.client("grafana")
    id = client.create_workspace(**asked, authenticationProviders=["SAML"])["workspace"]["id"]
    assert client.describe_workspace(workspaceId=id)["workspace"]["status"] == "CREATING"
    client.delete_workspace(workspaceId=id)
    made = create(root, GRAFANA, **grafana())
    assert made.attributes["Status"] == "ACTIVE"
    assert made.attributes["Endpoint"].startswith(made.attributes["Id"])
    assert [one["id"] for one in client.list_workspaces()["workspaces"]] == [made.physical_id]
    assert_told(root, made)
    delete(root, made)
    assert_gone(root, made)


def test_grafana_that_the_api_does_not_admit(root: Session) -> None:
    with pytest.raises(InvalidRequestError, match="LDAP"):
        create(root, GRAFANA, **grafana(AuthenticationProviders=["LDAP"]))
    with pytest.raises(ResourceFailure, match="SamlConfiguration"):
        create(root, GRAFANA, **grafana(SamlConfiguration={}))
    with pytest.raises(ClientError, match="ResourceNotFoundException"):
        root.client("grafana").describe_workspace(workspaceId="g-0123456789")
    with pytest.raises(ClientError, match="NotInThisDouble"):
        root.client("grafana").list_versions()
