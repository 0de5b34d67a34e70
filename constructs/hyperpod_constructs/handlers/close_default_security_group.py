"""Custom resource: take every rule out of a VPC's default security group.

Runs inline in AWS Lambda, where CloudFormation adds the module cfnresponse.
"""

from typing import Any

import botocore.session
import cfnresponse  # type: ignore[import-not-found]


def close(ec2: Any, group_id: str) -> None:
    """Revoke whatever rules there are; a group that is closed already is left alone."""
    (group,) = ec2.describe_security_groups(GroupIds=[group_id])["SecurityGroups"]
    if group["IpPermissions"]:
        ec2.revoke_security_group_ingress(GroupId=group_id, IpPermissions=group["IpPermissions"])
    if group["IpPermissionsEgress"]:
        ec2.revoke_security_group_egress(GroupId=group_id, IpPermissions=group["IpPermissionsEgress"])


def handler(event: dict[str, Any], context: Any) -> None:
    """Answer CloudFormation. Deletion changes nothing: the group goes with its VPC."""
    group_id = event["ResourceProperties"]["GroupId"]
    try:
        if event["RequestType"] != "Delete":
            close(botocore.session.get_session().create_client("ec2"), group_id)
    except Exception as error:
        cfnresponse.send(event, context, cfnresponse.FAILED, {}, group_id, reason=f"{group_id}: {error}")
        return
    cfnresponse.send(event, context, cfnresponse.SUCCESS, {}, group_id)
