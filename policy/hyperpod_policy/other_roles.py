"""Roles that stand beside a cluster: those of functions, control planes, flow logs, Grafana and others."""

from __future__ import annotations

from typing import Final

from hyperpod_model.catalog.iam import CONTROL_PLANE_SERVICE, FUNCTION_SERVICE
from hyperpod_model.catalog.logs import FLOW_LOG_SERVICE
from hyperpod_model.catalog.metrics import GRAFANA_SERVICE
from hyperpod_policy.clusters import clusters, execution_roles
from hyperpod_policy.identities import ROLE, role_of
from hyperpod_policy.pod_roles import pod_roles
from hyperpod_policy.template import Resource, Template

_USERS: Final = (
    ("AWS::Lambda::Function", "Role", FUNCTION_SERVICE),
    ("AWS::EKS::Cluster", "RoleArn", CONTROL_PLANE_SERVICE),
    ("AWS::EC2::FlowLog", "DeliverLogsPermissionArn", FLOW_LOG_SERVICE),
    ("AWS::Grafana::Workspace", "RoleArn", GRAFANA_SERVICE),
)
"""Types with a role, the property that names it, and the service that takes it for them."""


def other_roles(template: Template) -> list[Resource]:
    """Return the roles of templates with a cluster that neither its nodes nor its pods take."""
    if not clusters(template):
        return []
    judged = {role.key for role in pod_roles(template)}
    nodes = (role_of(template, used.value) for used in execution_roles(template))
    judged.update(role.key for role in nodes if role is not None)
    return [role for role in template.of_type(ROLE) if role.key not in judged]


def services_in_use(template: Template, role: Resource) -> dict[str, str]:
    """Return the services that take a role for resources of the template, each with one of these."""
    return template.once(_services_in_use).get(role.key, {})


def _services_in_use(template: Template) -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = {}
    for kind, member, service in _USERS:
        for user in template.of_type(kind):
            role = role_of(template, user.get(member))
            if role is not None:
                found.setdefault(role.key, {}).setdefault(service, user.logical_id)
    return found
