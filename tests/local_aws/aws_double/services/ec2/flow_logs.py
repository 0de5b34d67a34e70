"""Flow logs: whether they get where they should go is judged when they are created."""

from __future__ import annotations

from typing import Any

from moto.ec2.exceptions import EC2ClientError
from moto.ec2.models import EC2Backend
from moto.ec2.models.flow_logs import FlowLogsBackend
from moto.logs.models import logs_backends
from moto.s3.models import s3_backends

from aws_double.role_view import find_role, is_trusted_by
from aws_double.services.authorization import allowed
from aws_double.services.ec2.overriding import invalid, override

_TRAFFIC = ("ACCEPT", "REJECT", "ALL")
_TO_LOGS = "vpc-flow-logs.amazonaws.com"
_TO_BUCKETS = "delivery.logs.amazonaws.com"
_DELIVERY = ("logs:CreateLogStream", "logs:DescribeLogStreams", "logs:PutLogEvents")


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
    """Create flow logs.

    Those to a log group fail later where they cannot be delivered, as their status tells; those to a bucket
    are refused. EC2 would write a bucket policy that is missing if the caller may; the double does not.
    """
    if resource_type in ("VPC", "Subnet", "NetworkInterface") and traffic_type not in _TRAFFIC:
        raise invalid(f"Value ({traffic_type}) for parameter TrafficType is invalid.")
    if log_destination_type == "s3":
        if deliver_logs_permission_arn is not None:
            raise invalid("DeliverLogsPermissionArn is not applicable for s3 delivery")
        if not _bucket_takes_records(backend, log_destination):
            name = log_destination.partition(":::")[2]
            message = f"Access Denied for LogDestination: {name}. Please check LogDestination permission"
            return [], [(resource_id, "400", message) for resource_id in resource_ids]
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
    if log_destination_type != "s3":
        problem = _problem_with_log_group(
            backend, str(deliver_logs_permission_arn), _log_group(log_group_name, log_destination)
        )
        for flow_log in made:
            flow_log.deliver_logs_status = "SUCCESS" if problem is None else "FAILED"
            flow_log.deliver_logs_error_message = problem
    return made, refused


def delete_flow_logs(backend: Any, flow_log_ids: list[str]) -> None:
    """Delete flow logs, all or none."""
    for flow_log_id in flow_log_ids:
        if flow_log_id not in backend.flow_logs:
            raise EC2ClientError(
                "InvalidFlowLogId.NotFound", f"The specified flow log id {flow_log_id} does not exist."
            )
    FlowLogsBackend.delete_flow_logs(backend, flow_log_ids)


def _log_group(name: str | None, destination: str | None) -> str:
    return name if name is not None else str(destination).split(":log-group:", 1)[-1].removesuffix(":*")


def _problem_with_log_group(backend: Any, role_arn: str, log_group: str) -> str | None:
    """What keeps CloudWatch Logs from getting the records."""
    if log_group not in logs_backends[backend.account_id][backend.region_name].groups:
        return f"Access error: log group {log_group} does not exist"
    role = find_role(role_arn)
    if role is None:
        return f"Access error: role {role_arn} does not exist"
    if not is_trusted_by(role, _TO_LOGS):
        return f"Access error: role {role_arn} does not trust {_TO_LOGS}"
    place = f"arn:{backend.partition}:logs:{backend.region_name}:{backend.account_id}"
    stream = f"{place}:log-group:{log_group}:log-stream:eni-0123456789abcdef0-all"
    denied = [action for action in _DELIVERY if not allowed(role_arn, action, stream, {})]
    return f"Access error: role {role_arn} may not {', '.join(denied)} on {stream}" if denied else None


def _bucket_takes_records(backend: Any, destination: str) -> bool:
    bucket, _, path = destination.partition(":::")[2].partition("/")
    if bucket not in s3_backends[backend.account_id][backend.partition].buckets:
        return True  # moto says that it does not exist
    prefix = f"{path.strip('/')}/" if path else ""
    keys = {
        "aws:SourceAccount": backend.account_id,
        "aws:SourceArn": f"arn:{backend.partition}:logs:{backend.region_name}:{backend.account_id}:*",
    }
    own = f"arn:{backend.partition}:s3:::{bucket}"
    folder = f"{prefix}AWSLogs/{backend.account_id}/vpcflowlogs/{backend.region_name}/2026/01/01"
    with_acl = {**keys, "s3:x-amz-acl": "bucket-owner-full-control"}
    return allowed(_TO_BUCKETS, "s3:PutObject", f"{own}/{folder}/records.log.gz", with_acl) and allowed(
        _TO_BUCKETS, "s3:GetBucketAcl", own, keys
    )


def install() -> None:
    """Put these in the place of moto's."""
    override(EC2Backend, create_flow_logs, delete_flow_logs)
