"""Stacks, resources and change sets in the terms of the API's answers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from aws_double.cloudformation.change_sets import NO_CHANGES, ChangeSet
from aws_double.cloudformation.stack import Deployed, Goal, Stack
from aws_double.cloudformation.template import Template


def described_stack(stack: Stack) -> dict[str, Any]:
    """Return a stack as ``DescribeStacks`` tells it."""
    goal = stack.shown_goal
    return _present(
        {
            **stack_summary(stack),
            "ChangeSetId": stack.change_set_id,
            "Description": None if goal is None else goal.template.description,
            "Parameters": [] if goal is None else _parameters(goal),
            "Capabilities": [] if goal is None else list(goal.capabilities),
            "NotificationARNs": [] if goal is None else list(goal.notification_arns),
            "Tags": [] if goal is None else _tags(goal),
            "Outputs": [
                _present(
                    {
                        "OutputKey": name,
                        "OutputValue": _text(output.value),
                        "Description": output.description,
                        "ExportName": output.export,
                    }
                )
                for name, output in stack.outputs.items()
            ],
            "RoleARN": stack.role_arn,
            "DisableRollback": stack.disable_rollback,
            "EnableTerminationProtection": stack.termination_protection,
            "RollbackConfiguration": {},
        }
    )


def stack_summary(stack: Stack) -> dict[str, Any]:
    """Return a stack as ``ListStacks`` tells it, without the description of its template."""
    return _present(
        {
            "StackId": stack.id,
            "StackName": stack.name,
            "StackStatus": stack.status,
            "StackStatusReason": stack.reason,
            "CreationTime": stack.created_at,
            "LastUpdatedTime": stack.updated_at,
            "DeletionTime": stack.deleted_at,
            "DriftInformation": {"StackDriftStatus": "NOT_CHECKED"},
        }
    )


def described_resource(stack: Stack, deployed: Deployed) -> dict[str, Any]:
    """Return a resource as the API tells it; the keys of one operation do no harm in another."""
    resource = deployed.resource
    return _present(
        {
            "StackId": stack.id,
            "StackName": stack.name,
            "LogicalResourceId": resource.logical_id,
            "PhysicalResourceId": resource.physical_id if resource.physical_id else None,
            "ResourceType": resource.type,
            "ResourceStatus": deployed.status,
            "ResourceStatusReason": deployed.reason,
            "Timestamp": deployed.changed_at,
            "LastUpdatedTimestamp": deployed.changed_at,
            "DriftInformation": {"StackResourceDriftStatus": "NOT_CHECKED"},
        }
    )


def change_set_summary(change_set: ChangeSet) -> dict[str, Any]:
    """Return a change set as ``ListChangeSets`` tells it."""
    return _present(
        {
            "ChangeSetId": change_set.id,
            "ChangeSetName": change_set.name,
            "StackId": change_set.stack.id,
            "StackName": change_set.stack.name,
            "Description": change_set.description,
            "CreationTime": change_set.created_at,
            "Status": "FAILED" if change_set.empty else "CREATE_COMPLETE",
            "StatusReason": NO_CHANGES if change_set.empty else None,
            "ExecutionStatus": "UNAVAILABLE" if change_set.empty else "AVAILABLE",
        }
    )


def described_change_set(change_set: ChangeSet, *, with_values: bool) -> dict[str, Any]:
    """Return a change set as ``DescribeChangeSet`` tells it.

    Args:
        change_set: The change set.
        with_values: Whether to tell properties before and after.
    """
    goal = change_set.goal
    return {
        **change_set_summary(change_set),
        "Parameters": _parameters(goal),
        "Capabilities": list(goal.capabilities),
        "NotificationARNs": list(goal.notification_arns),
        "Tags": _tags(goal),
        "Changes": [
            {"Type": "Resource", "ResourceChange": change if with_values else _without_values(change)}
            for change in change_set.changes
        ],
    }


def template_summary(template: Template) -> dict[str, Any]:
    """Return a template as ``GetTemplateSummary`` tells it."""
    capabilities = template.capabilities()
    return _present(
        {
            "Description": template.description,
            "Parameters": [
                _present(
                    {
                        "ParameterKey": name,
                        "ParameterType": declared["Type"],
                        "DefaultValue": _text(declared["Default"]) if "Default" in declared else None,
                        "NoEcho": declared.get("NoEcho") in {True, "true"},
                        "Description": declared.get("Description"),
                    }
                )
                for name, declared in template.section("Parameters").items()
            ],
            "Capabilities": capabilities,
            "ResourceTypes": sorted({one["Type"] for one in template.resources.values()}),
            "Version": template.body.get("AWSTemplateFormatVersion"),
        }
    )


def _parameters(goal: Goal) -> list[dict[str, Any]]:
    found = []
    for name, value in goal.given.items():
        declared = goal.template.section("Parameters")[name]
        shown = "****" if declared.get("NoEcho") in {True, "true"} else value
        one = {"ParameterKey": name, "ParameterValue": shown}
        if declared["Type"].startswith("AWS::SSM::Parameter::Value"):
            one["ResolvedValue"] = _text(goal.parameters[name])
        found.append(one)
    return found


def _tags(goal: Goal) -> list[dict[str, str]]:
    return [{"Key": key, "Value": value} for key, value in goal.tags.items()]


def _without_values(change: Mapping[str, Any]) -> dict[str, Any]:
    kept = {key: value for key, value in change.items() if not key.endswith("Context")}
    hidden = {"BeforeValue", "AfterValue", "Path", "AttributeChangeType"}
    kept["Details"] = [
        {**detail, "Target": {key: value for key, value in detail["Target"].items() if key not in hidden}}
        for detail in change["Details"]
    ]
    return kept


def _present(answer: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in answer.items() if value is not None}


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return ",".join(value) if isinstance(value, list) else str(value)
