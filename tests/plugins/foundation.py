"""What a team has before it comes to HyperPod, as a plain stack: a network, a role, a bucket of scripts."""

from __future__ import annotations

from typing import Any, Final

from identities import allow, document, trust

from hyperpod_model.catalog.iam import EXECUTION_ROLE_SERVICE

STACK_NAME: Final = "foundation"
SCRIPTS_PREFIX: Final = "pretrain"


def foundation(*, zone_id: str) -> dict[str, Any]:
    """Return the template.

    Args:
        zone_id: Availability zone of the subnet.
    """
    return {
        "Resources": _network(zone_id) | _group() | _role() | {"Scripts": _bucket()},
        "Outputs": {
            name: {"Value": {"Ref": logical_id}}
            for name, logical_id in {
                "VpcId": "Vpc",
                "SubnetId": "Subnet",
                "GroupId": "Group",
                "Bucket": "Scripts",
            }.items()
        }
        | {"RoleArn": {"Value": {"Fn::GetAtt": ["Role", "Arn"]}}},
    }


def _network(zone_id: str) -> dict[str, Any]:
    return {
        "Vpc": _resource(
            "AWS::EC2::VPC", CidrBlock="10.20.0.0/16", EnableDnsSupport=True, EnableDnsHostnames=True
        ),
        "Subnet": _resource(
            "AWS::EC2::Subnet",
            VpcId={"Ref": "Vpc"},
            CidrBlock="10.20.0.0/24",
            AvailabilityZoneId=zone_id,
        ),
        "RouteTable": _resource("AWS::EC2::RouteTable", VpcId={"Ref": "Vpc"}),
        "RouteTableOfSubnet": _resource(
            "AWS::EC2::SubnetRouteTableAssociation",
            SubnetId={"Ref": "Subnet"},
            RouteTableId={"Ref": "RouteTable"},
        ),
        "S3": _resource(
            "AWS::EC2::VPCEndpoint",
            VpcId={"Ref": "Vpc"},
            VpcEndpointType="Gateway",
            ServiceName={"Fn::Sub": "com.amazonaws.${AWS::Region}.s3"},
            RouteTableIds=[{"Ref": "RouteTable"}],
        ),
    }


def _group() -> dict[str, Any]:
    """Return a group that lets everything through that names it, and what Lustre needs within the subnet."""
    itself = {"GroupId": {"Ref": "Group"}, "IpProtocol": "-1"}
    lustre = [
        {"IpProtocol": "tcp", "FromPort": first, "ToPort": last, "CidrIp": "10.20.0.0/24"}
        for first, last in ((988, 988), (1018, 1023))
    ]
    return {
        "Group": _resource(
            "AWS::EC2::SecurityGroup",
            GroupDescription="Nodes",
            VpcId={"Ref": "Vpc"},
            SecurityGroupIngress=lustre,
            SecurityGroupEgress=[
                *lustre,
                {"IpProtocol": "tcp", "FromPort": 443, "ToPort": 443, "CidrIp": "0.0.0.0/0"},
            ],
        ),
        "FromItself": _resource(
            "AWS::EC2::SecurityGroupIngress", **itself, SourceSecurityGroupId={"Ref": "Group"}
        ),
        "ToItself": _resource(
            "AWS::EC2::SecurityGroupEgress", **itself, DestinationSecurityGroupId={"Ref": "Group"}
        ),
    }


def _role() -> dict[str, Any]:
    return {
        "Role": _resource(
            "AWS::IAM::Role",
            AssumeRolePolicyDocument=trust(EXECUTION_ROLE_SERVICE),
            Policies=[
                {
                    "PolicyName": "nodes",
                    "PolicyDocument": document(allow("logs:PutLogEvents", "ec2:DescribeSubnets")),
                }
            ],
        )
    }


def _bucket() -> dict[str, Any]:
    return _resource(
        "AWS::S3::Bucket",
        BucketName={"Fn::Sub": "sagemaker-my-team-lifecycle-${AWS::AccountId}"},
        VersioningConfiguration={"Status": "Enabled"},
    )


def _resource(kind: str, **properties: Any) -> dict[str, Any]:
    return {"Type": kind, "Properties": properties}
