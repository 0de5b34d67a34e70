"""Dependencies of every cluster's stack that the double notices when they are forgotten."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from order_cases import Forgotten

NOTICED: Final = (
    Forgotten(
        "upload of the entry point",
        "LifecycleScriptsUploadCustomResource",
        r"Cluster\w+: .*s3://sagemaker-lcs-.*/on_init_complete\.sh does not exist",
    ),
    Forgotten(
        "permissions of the upload's function",
        "CustomCDKBucketDeployment.*ServiceRoleDefaultPolicy",
        r"LifecycleScriptsUploadCustomResource\w+: .*AccessDenied",
    ),
    Forgotten(
        "permissions of the nodes' role",
        "ExecutionRolePermissions",
        r"Cluster\w+: .*role/.*ExecutionRole.* (may not s3:|has no policy)",
    ),
    Forgotten(
        "permissions of the function that closes the default group",
        "NetworkDefaultSecurityGroupHandlerPolicy",
        r"NetworkClosedDefaultSecurityGroup\w+: .*UnauthorizedOperation",
    ),
    Forgotten(
        "permissions of the function that backs up",
        "FileSystemFinalBackupHandlerPolicy",
        r"FileSystemFinalBackup\w+: .*AccessDeniedException.* when calling the CreateBackup",
        at_deletion=True,
    ),
    Forgotten(
        "permissions of the function that keeps the nodes' log group",
        "ObservabilityNodeLogGroupHandlerPolicy",
        r"ObservabilityNodeLogGroup\w+: .*AccessDeniedException.* when calling the CreateLogGroup",
    ),
    Forgotten(
        "rules of the file system's group",
        "FileSystemSecurityGroupWithinRules",
        r"FileSystem\w+: .*do not permit Lustre LNET network traffic",
    ),
    Forgotten(
        "group that names itself as source",
        "NodeSecurityGroupSelfIngress",
        r"Cluster\w+: .*does not admit all traffic from itself by its id",
    ),
    Forgotten(
        "group that names itself as destination",
        "NodeSecurityGroupSelfEgress",
        r"Cluster\w+: .*does not let all traffic to itself out by its id",
    ),
    Forgotten(
        "ways to S3",
        "Network(AcceleratorRouteTableAssociation|AcceleratorInternetRoute|S3Endpoint)",
        r"Cluster\w+: .*has no way to S3",
    ),
    Forgotten(
        "internet gateway in its VPC",
        "NetworkInternetGatewayAttachment",
        r"NetworkPublicInternetRoute\w+: .*belong to different networks",
    ),
)
"""Whatever schedules the jobs."""
NOT_NOTICED: Final[Mapping[str, str]] = {
    "NetworkAcceleratorNetworkAcl": "ACLs hold up nothing where there are no packets",
    "NetworkPublic(InternetRoute|RouteTableAssociation)": "a NAT gateway of the double needs no way out",
    "NodeSecurityGroupHttpsEgress": "nothing runs on the nodes that would call AWS",
    "(CheckpointBucket|LifecycleScripts)Policy": "a lock that comes late fails nothing; others get in first",
    "ObservabilityFailingSlotsEventLog": "EventBridge takes a target that is not there, and drops events",
    "ObservabilityFailingSlots(Nodes|Groups)Ranking": "an alarm on what nothing ranks has no data yet",
    "FileSystemFinalBackup(?!Handler)": "a backup with nodes at work fails nothing, and is not the final one",
}
"""Patterns of what the worst order breaks without a failure, and why."""
