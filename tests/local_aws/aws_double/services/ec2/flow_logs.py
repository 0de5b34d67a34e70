"""Flow logs: what keeps them from being delivered shows in their status."""

from __future__ import annotations

import json
from typing import Any

from moto.ec2.exceptions import EC2ClientError
from moto.ec2.models import EC2Backend
from moto.ec2.models.flow_logs import FlowLogsBackend
from moto.iam.models import iam_backends
from moto.logs.models import logs_backends

from aws_double.services.ec2.overriding import invalid, override

_SERVICE = "vpc-flow-logs.amazonaws.com"
_TRAFFIC = ("ACCEPT", "REJECT", "ALL")


def create_flow_logs(
    backend: Any,
    resource_type: str,
    resource_ids: list[str],
    traffic_type: Any,
    deliver_logs_permission_arn: Any,
    log_destination_type: Any,
    log_destination: Any,
    log_group_name: Any,
    log_format: Any,
    max_aggregation_interval: Any,
) -> Any:
    """Create flow logs; those that cannot be delivered fail later, as on AWS."""
    if resource_type in ("VPC", "Subnet", "NetworkInterface") and traffic_type not in _TRAFFIC:
        raise invalid(f"Value ({traffic_type}) for parameter TrafficType is invalid.")
    to_bucket = log_destination_type == "s3"
    if to_bucket and deliver_logs_permission_arn is not None:
        raise invalid("DeliverLogsPermissionArn is not applicable for s3 delivery")
    made, refused = FlowLogsBackend.create_flow_logs(
        backend,
        resource_type,
        resource_ids,
        traffic_type,
        deliver_logs_permission_arn,
        log_destination_type,
        log_destination,
        log_group_name,
        log_format,
        max_aggregation_interval,
    )
    if not to_bucket:
        problem = _delivery_problem(
            backend, str(deliver_logs_permission_arn), log_group_name, log_destination
        )
        for flow_log in made:
            flow_log.deliver_logs_status = "SUCCESS" if problem is None else "FAILED"
            flow_log.deliver_logs_error_message = problem
    return made, refused


def _delivery_problem(backend: Any, role_arn: str, name: str | None, destination: str | None) -> str | None:
    """What keeps CloudWatch Logs from getting the records, as far as the double can tell."""
    if name is None:
        name = str(destination).split(":log-group:", 1)[-1].removesuffix(":*")
    if name not in logs_backends[backend.account_id][backend.region_name].groups:
        return f"Access error: log group {name} does not exist"
    roles = iam_backends[backend.account_id][backend.partition].roles.values()
    role = next((role for role in roles if role.arn == role_arn), None)
    if role is None:
        return f"Access error: role {role_arn} does not exist"
    if not _trusts_flow_logs(role):
        return f"Access error: role {role_arn} does not trust {_SERVICE}"
    return None


def _trusts_flow_logs(role: Any) -> bool:
    document = json.loads(role.assume_role_policy_document)
    for statement in document["Statement"]:
        services = statement["Principal"].get("Service", [])
        services = [services] if isinstance(services, str) else services
        if statement["Effect"] == "Allow" and _SERVICE in services:
            return True
    return False


def delete_flow_logs(backend: Any, flow_log_ids: list[str]) -> None:
    """Delete flow logs, all or none."""
    for flow_log_id in flow_log_ids:
        if flow_log_id not in backend.flow_logs:
            raise EC2ClientError(
                "InvalidFlowLogId.NotFound", f"The specified flow log id {flow_log_id} does not exist."
            )
    FlowLogsBackend.delete_flow_logs(backend, flow_log_ids)


def install() -> None:
    """Put these in the place of moto's."""
    override(EC2Backend, create_flow_logs, delete_flow_logs)
