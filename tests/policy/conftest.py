"""A template that keeps every promise, and the means to judge what tests make of it."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest

from hyperpod_model.catalog.endpoints import required_endpoints
from hyperpod_policy import Report, compare, review
from hyperpod_policy.registry import rule, update_rule

Template = dict[str, Any]

WRITES = [
    "s3:AbortMultipartUpload",
    "s3:BypassGovernanceRetention",
    "s3:DeleteObject*",
    "s3:InitiateReplication",
    "s3:ObjectOwnerOverrideToBucketOwner",
    "s3:PutObject*",
    "s3:Replicate*",
    "s3:RestoreObject",
    "s3:UpdateObject*",
]
CONFIGURATION = [
    "s3:CreateBucketMetadata*",
    "s3:DeleteBucket*",
    "s3:PauseReplication",
    "s3:Put*Configuration",
    "s3:PutBucket*",
    "s3:TagResource",
    "s3:UntagResource",
    "s3:UpdateBucket*",
]


READS = ["s3:GetObject*", "s3:ListMultipartUploadParts", "s3:ListObject*"]


def att(logical_id: str, attribute: str = "Arn") -> dict[str, Any]:
    return {"Fn::GetAtt": [logical_id, attribute]}


def ref(logical_id: str) -> dict[str, Any]:
    return {"Ref": logical_id}


def _objects(bucket: str) -> dict[str, Any]:
    return {"Fn::Join": ["", [att(bucket), "/*"]]}


def _administrator() -> dict[str, Any]:
    return {"Fn::Sub": "arn:${AWS::Partition}:iam::${AWS::AccountId}:role/cfn-exec-role"}


def _bucket() -> dict[str, Any]:
    return {
        "Type": "AWS::S3::Bucket",
        "DeletionPolicy": "Retain",
        "UpdateReplacePolicy": "Retain",
        "Properties": {
            "PublicAccessBlockConfiguration": {
                "BlockPublicAcls": True,
                "BlockPublicPolicy": True,
                "IgnorePublicAcls": True,
                "RestrictPublicBuckets": True,
            },
            "OwnershipControls": {"Rules": [{"ObjectOwnership": "BucketOwnerEnforced"}]},
            "BucketEncryption": {
                "ServerSideEncryptionConfiguration": [
                    {
                        "ServerSideEncryptionByDefault": {
                            "SSEAlgorithm": "aws:kms",
                            "KMSMasterKeyID": att("Key"),
                        }
                    }
                ]
            },
            "VersioningConfiguration": {"Status": "Enabled"},
            "LoggingConfiguration": {"DestinationBucketName": ref("Logs"), "LogFilePrefix": "x/"},
            "LifecycleConfiguration": {
                "Rules": [{"Status": "Enabled", "NoncurrentVersionExpiration": {"NoncurrentDays": 30}}]
            },
        },
    }


def _bucket_policy(bucket: str, writer: str) -> dict[str, Any]:
    def deny(actions: Any, resource: Any, condition: dict[str, Any]) -> dict[str, Any]:
        return {
            "Effect": "Deny",
            "Principal": "*",
            "Action": actions,
            "Resource": resource,
            "Condition": condition,
        }

    return {
        "Type": "AWS::S3::BucketPolicy",
        "DeletionPolicy": "Retain",
        "UpdateReplacePolicy": "Retain",
        "Properties": {
            "Bucket": ref(bucket),
            "PolicyDocument": {
                "Version": "2012-10-17",
                "Statement": [
                    deny("s3:*", [att(bucket), _objects(bucket)], {"Bool": {"aws:SecureTransport": "false"}}),
                    deny(
                        list(CONFIGURATION),
                        att(bucket),
                        {"ArnNotEquals": {"aws:PrincipalArn": [_administrator()]}},
                    ),
                    deny(
                        list(WRITES), _objects(bucket), {"ArnNotEquals": {"aws:PrincipalArn": [att(writer)]}}
                    ),
                    deny(
                        list(READS), _objects(bucket), {"ArnNotEquals": {"aws:PrincipalArn": [att(writer)]}}
                    ),
                ],
            },
        },
    }


def _rule(direction: str, group: str, peer: str, protocol: str = "-1", **ports: int) -> dict[str, Any]:
    side = "SourceSecurityGroupId" if direction == "Ingress" else "DestinationSecurityGroupId"
    return {
        "Type": f"AWS::EC2::SecurityGroup{direction}",
        "Properties": {
            "GroupId": att(group, "GroupId"),
            side: ref(peer),
            "IpProtocol": protocol,
            **ports,
        },
    }


def _lustre_rules() -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, ports in (("988", (988, 988)), ("1018", (1018, 1023))):
        span = {"FromPort": ports[0], "ToPort": ports[1]}
        found[f"LustreFromNodes{name}"] = _rule("Ingress", "LustreGroup", "NodeGroup", "tcp", **span)
        found[f"LustreFromItself{name}"] = _rule("Ingress", "LustreGroup", "LustreGroup", "tcp", **span)
        found[f"LustreToItself{name}"] = _rule("Egress", "LustreGroup", "LustreGroup", "tcp", **span)
        found[f"NodesToLustre{name}"] = _rule("Egress", "NodeGroup", "LustreGroup", "tcp", **span)
        found[f"LustreToNodes{name}"] = _rule("Egress", "LustreGroup", "NodeGroup", "tcp", **span)
        found[f"NodesFromLustre{name}"] = _rule("Ingress", "NodeGroup", "LustreGroup", "tcp", **span)
    return found


def _acl_entry(number: int, action: str, cidr: dict[str, str], **more: Any) -> dict[str, Any]:
    return {
        "Type": "AWS::EC2::NetworkAclEntry",
        "Properties": {
            "NetworkAclId": ref("Acl"),
            "RuleNumber": number,
            "RuleAction": action,
            "Egress": False,
            **cidr,
            **more,
        },
    }


def _acl() -> dict[str, Any]:
    found: dict[str, Any] = {"Acl": {"Type": "AWS::EC2::NetworkAcl", "Properties": {"VpcId": ref("Vpc")}}}
    number = 0
    for family, cidr in (("4", {"CidrBlock": "0.0.0.0/0"}), ("6", {"Ipv6CidrBlock": "::/0"})):
        for protocol, first, last in ((6, 9200, 9200), (17, 9209, 9240)):
            number += 1
            span = {"From": first, "To": last}
            found[f"Deny{number}"] = _acl_entry(number, "deny", cidr, Protocol=protocol, PortRange=span)
        found[f"Allow{family}"] = _acl_entry(100 + number, "allow", cidr, Protocol=-1)
    found["AclAssociation"] = {
        "Type": "AWS::EC2::SubnetNetworkAclAssociation",
        "Properties": {"SubnetId": ref("Subnet"), "NetworkAclId": ref("Acl")},
    }
    return found


def _network() -> dict[str, Any]:
    return {
        "Vpc": {
            "Type": "AWS::EC2::VPC",
            "Properties": {
                "CidrBlock": "10.0.0.0/16",
                "EnableDnsSupport": True,
                "EnableDnsHostnames": True,
            },
        },
        "Subnet": {
            "Type": "AWS::EC2::Subnet",
            "Properties": {
                "VpcId": ref("Vpc"),
                "CidrBlock": "10.0.0.0/17",
                "AvailabilityZoneId": "usw2-az1",
                "MapPublicIpOnLaunch": False,
            },
        },
        "RouteTable": {"Type": "AWS::EC2::RouteTable", "Properties": {"VpcId": ref("Vpc")}},
        "RouteTableAssociation": {
            "Type": "AWS::EC2::SubnetRouteTableAssociation",
            "Properties": {"SubnetId": ref("Subnet"), "RouteTableId": ref("RouteTable")},
        },
        "Route": {
            "Type": "AWS::EC2::Route",
            "Properties": {
                "RouteTableId": ref("RouteTable"),
                "DestinationCidrBlock": "0.0.0.0/0",
                "NatGatewayId": ref("Nat"),
            },
        },
        "Nat": {"Type": "AWS::EC2::NatGateway", "Properties": {"SubnetId": "subnet-0123456789abcdef0"}},
        "S3Endpoint": {
            "Type": "AWS::EC2::VPCEndpoint",
            "Properties": {
                "VpcId": ref("Vpc"),
                "ServiceName": {"Fn::Sub": "com.amazonaws.${AWS::Region}.s3"},
                "VpcEndpointType": "Gateway",
                "RouteTableIds": [ref("RouteTable")],
            },
        },
        "FlowLog": {
            "Type": "AWS::EC2::FlowLog",
            "Properties": {
                "ResourceId": ref("Vpc"),
                "ResourceType": "VPC",
                "TrafficType": "ALL",
                "LogGroupName": ref("FlowLogGroup"),
                "DeliverLogsPermissionArn": att("FlowLogRole"),
            },
        },
        "FlowLogGroup": {
            "Type": "AWS::Logs::LogGroup",
            "DeletionPolicy": "Retain",
            "UpdateReplacePolicy": "Retain",
            "Properties": {"KmsKeyId": att("FlowLogKey"), "RetentionInDays": 365},
        },
        "FlowLogKey": {
            "Type": "AWS::KMS::Key",
            "DeletionPolicy": "Retain",
            "UpdateReplacePolicy": "Retain",
            "Properties": {
                "EnableKeyRotation": True,
                "KeyPolicy": {
                    "Statement": [
                        {
                            "Effect": "Allow",
                            "Principal": {"Service": {"Fn::Sub": "logs.${AWS::Region}.amazonaws.com"}},
                            "Action": ["kms:Decrypt", "kms:GenerateDataKey*"],
                            "Resource": "*",
                            "Condition": {
                                "ArnLike": {
                                    "kms:EncryptionContext:aws:logs:arn": {
                                        "Fn::Sub": "arn:aws:logs:*:${AWS::AccountId}:log-group:*"
                                    }
                                }
                            },
                        }
                    ]
                },
            },
        },
        "FlowLogRole": {
            "Type": "AWS::IAM::Role",
            "Properties": {
                "AssumeRolePolicyDocument": {
                    "Statement": [
                        {
                            "Effect": "Allow",
                            "Principal": {"Service": "vpc-flow-logs.amazonaws.com"},
                            "Action": "sts:AssumeRole",
                            "Condition": {"StringEquals": {"aws:SourceAccount": ref("AWS::AccountId")}},
                        }
                    ]
                },
                "Policies": [
                    {
                        "PolicyDocument": {
                            "Statement": [
                                {
                                    "Effect": "Allow",
                                    "Action": ["logs:CreateLogStream", "logs:PutLogEvents"],
                                    "Resource": att("FlowLogGroup"),
                                }
                            ]
                        }
                    }
                ],
            },
        },
        "InternetGateway": {"Type": "AWS::EC2::InternetGateway"},
        "NodeGroup": {
            "Type": "AWS::EC2::SecurityGroup",
            "Properties": {"GroupDescription": "nodes", "VpcId": ref("Vpc")},
        },
        "SelfIngress": _rule("Ingress", "NodeGroup", "NodeGroup"),
        "SelfEgress": _rule("Egress", "NodeGroup", "NodeGroup"),
        "HttpsEgress": {
            "Type": "AWS::EC2::SecurityGroupEgress",
            "Properties": {
                "GroupId": att("NodeGroup", "GroupId"),
                "CidrIp": "0.0.0.0/0",
                "IpProtocol": "tcp",
                "FromPort": 443,
                "ToPort": 443,
            },
        },
        "LustreGroup": {
            "Type": "AWS::EC2::SecurityGroup",
            "Properties": {"GroupDescription": "file system", "VpcId": ref("Vpc")},
        },
        **_lustre_rules(),
        **_acl(),
    }


def _logs() -> dict[str, Any]:
    """Return the bucket of access logs, which only services write."""
    bucket = _bucket()
    del bucket["Properties"]["LoggingConfiguration"], bucket["Properties"]["BucketEncryption"]
    policy = _bucket_policy("Logs", "UploadRole")
    statements = policy["Properties"]["PolicyDocument"]["Statement"]
    statements[2]["Condition"] = {"BoolIfExists": {"aws:PrincipalIsAWSService": "false"}}
    statements[3] = {
        "Effect": "Allow",
        "Principal": {"Service": "logging.s3.amazonaws.com"},
        "Action": "s3:PutObject",
        "Resource": _objects("Logs"),
        "Condition": {"StringEquals": {"aws:SourceAccount": ref("AWS::AccountId")}},
    }
    return {"Logs": bucket, "LogsPolicy": policy}


def _backup_function() -> dict[str, Any]:
    def document(**more: Any) -> dict[str, Any]:
        return {"Statement": [{"Effect": "Allow", **more}]}

    trust = document(Principal={"Service": "lambda.amazonaws.com"}, Action="sts:AssumeRole")
    backups = document(
        Action="fsx:CreateBackup", Resource={"Fn::Sub": "arn:aws:fsx:*:${AWS::AccountId}:file-system/*"}
    )
    return {
        "BackupRole": {
            "Type": "AWS::IAM::Role",
            "Properties": {"AssumeRolePolicyDocument": trust, "Policies": [{"PolicyDocument": backups}]},
        },
        "BackupFunction": {"Type": "AWS::Lambda::Function", "Properties": {"Role": att("BackupRole")}},
    }


def _storage() -> dict[str, Any]:
    return {
        "Key": {
            "Type": "AWS::KMS::Key",
            "DeletionPolicy": "Retain",
            "UpdateReplacePolicy": "Retain",
            "Properties": {"EnableKeyRotation": True},
        },
        **_logs(),
        "Scripts": _bucket(),
        "ScriptsPolicy": _bucket_policy("Scripts", "UploadRole"),
        "Checkpoints": _bucket(),
        "CheckpointsPolicy": _bucket_policy("Checkpoints", "NodeRole"),
        "UploadRole": {"Type": "AWS::IAM::Role", "Properties": {}},
        "Upload": {
            "Type": "Custom::CDKBucketDeployment",
            "Properties": {"DestinationBucketName": ref("Scripts"), "DestinationBucketKeyPrefix": "abc"},
        },
        "FileSystem": {
            "Type": "AWS::FSx::FileSystem",
            "DependsOn": [*_lustre_rules()],
            "Properties": {
                "FileSystemType": "LUSTRE",
                "StorageCapacity": 4800,
                "KmsKeyId": att("Key"),
                "SubnetIds": [ref("Subnet")],
                "SecurityGroupIds": [att("LustreGroup", "GroupId")],
                "LustreConfiguration": {
                    "DeploymentType": "PERSISTENT_2",
                    "PerUnitStorageThroughput": 250,
                    "AutomaticBackupRetentionDays": 7,
                },
            },
        },
        "FinalBackup": {
            "Type": "Custom::FinalBackup",
            "Properties": {"ServiceToken": att("BackupFunction"), "FileSystemId": ref("FileSystem")},
        },
        **_backup_function(),
    }


def _identity() -> dict[str, Any]:
    return {
        "NodeRole": {
            "Type": "AWS::IAM::Role",
            "Properties": {
                "AssumeRolePolicyDocument": {
                    "Statement": [
                        {
                            "Effect": "Allow",
                            "Principal": {"Service": "sagemaker.amazonaws.com"},
                            "Action": "sts:AssumeRole",
                        }
                    ]
                },
                "ManagedPolicyArns": [
                    {
                        "Fn::Sub": "arn:${AWS::Partition}:iam::aws:policy/"
                        "AmazonSageMakerClusterInstanceRolePolicy"
                    }
                ],
            },
        },
        "NodePolicy": {
            "Type": "AWS::IAM::ManagedPolicy",
            "Properties": {
                "Roles": [ref("NodeRole")],
                "PolicyDocument": {
                    "Statement": [
                        {"Effect": "Allow", "Action": "s3:GetObject", "Resource": _objects("Scripts")},
                        {
                            "Effect": "Allow",
                            "Action": ["s3:PutObject", "s3:GetObject", "s3:DeleteObject"],
                            "Resource": _objects("Checkpoints"),
                        },
                        {"Effect": "Allow", "Action": "ec2:DescribeSubnets", "Resource": "*"},
                    ]
                },
            },
        },
    }


def _cluster() -> dict[str, Any]:
    def group(name: str, kind: str, instance_type: str, count: int, **more: Any) -> dict[str, Any]:
        return {
            "InstanceGroupName": name,
            "InstanceType": instance_type,
            "InstanceCount": count,
            "ExecutionRole": att("NodeRole"),
            "LifeCycleConfig": {
                "SourceS3Uri": {"Fn::Join": ["", ["s3://", ref("Scripts"), "/abc"]]},
                "OnInitComplete": "on_init_complete.sh",
            },
            "SlurmConfig": {"NodeType": kind, **more.pop("SlurmConfig", {})},
            **more,
        }

    return {
        "Cluster": {
            "Type": "AWS::SageMaker::Cluster",
            "DependsOn": [
                "NodePolicy",
                "SelfIngress",
                "SelfEgress",
                "HttpsEgress",
                "Route",
                "RouteTableAssociation",
                "Upload",
            ],
            "Properties": {
                "ClusterName": "llm-train",
                "NodeRecovery": "Automatic",
                "NodeProvisioningMode": "Continuous",
                "Orchestrator": {"Slurm": {}},
                "VpcConfig": {"SecurityGroupIds": [ref("NodeGroup")], "Subnets": [ref("Subnet")]},
                "InstanceGroups": [
                    group("controller", "Controller", "ml.m5.2xlarge", 1),
                    group(
                        "workers",
                        "Compute",
                        "ml.p5.48xlarge",
                        16,
                        ThreadsPerCore=1,
                        OnStartDeepHealthChecks=["InstanceStress", "InstanceConnectivity"],
                        SlurmConfig={"PartitionNames": ["train"]},
                    ),
                ],
                "Tags": [{"Key": "hyperpod:spare-nodes", "Value": "1"}],
            },
        }
    }


def _watch() -> dict[str, Any]:
    """Return what tells people: events, an alarm and a budget, through an encrypted topic."""
    events = "events.amazonaws.com"
    others = ["cloudwatch.amazonaws.com", "budgets.amazonaws.com", "aps.amazonaws.com"]

    def allow(services: list[str], *actions: str, **condition: Any) -> dict[str, Any]:
        return {
            "Effect": "Allow",
            "Principal": {"Service": services},
            "Action": list(actions),
            "Resource": "*",
            **({"Condition": condition} if condition else {}),
        }

    topic = ref("Topic")
    # EventBridge meets no condition on its source.
    own_topics = {"Fn::Sub": "arn:${AWS::Partition}:sns:${AWS::Region}:${AWS::AccountId}:*"}
    of_own_topics = {"kms:EncryptionContext:aws:sns:topicArn": own_topics}
    publishing = [
        allow([events], "sns:Publish"),
        allow(others, "sns:Publish", StringEquals={"aws:SourceAccount": ref("AWS::AccountId")}),
    ]
    return {
        "TopicKey": {
            "Type": "AWS::KMS::Key",
            "Properties": {
                "EnableKeyRotation": True,
                "KeyPolicy": {
                    "Statement": [
                        allow([events, *others], "kms:Decrypt", "kms:GenerateDataKey*", ArnLike=of_own_topics)
                    ]
                },
            },
        },
        "Topic": {"Type": "AWS::SNS::Topic", "Properties": {"KmsMasterKeyId": ref("TopicKey")}},
        "TopicPolicy": {
            "Type": "AWS::SNS::TopicPolicy",
            "Properties": {"Topics": [topic], "PolicyDocument": {"Statement": publishing}},
        },
        "Subscription": {
            "Type": "AWS::SNS::Subscription",
            "Properties": {"TopicArn": topic, "Protocol": "email", "Endpoint": "training@example.com"},
        },
        "HealthRule": {
            "Type": "AWS::Events::Rule",
            "Properties": {
                "EventPattern": {
                    "source": ["aws.sagemaker"],
                    "detail-type": ["SageMaker HyperPod Cluster Node Health Event"],
                },
                "Targets": [{"Id": "topic", "Arn": topic}],
            },
        },
        "Detections": {
            "Type": "AWS::Logs::MetricFilter",
            "Properties": {
                "LogGroupName": "/aws/sagemaker/Clusters/training/abcdefgh1234",
                "FilterPattern": '{ $.HealthMonitoringAgentDetectionEvent = "HealthEvent" }',
                "MetricTransformations": [
                    {"MetricNamespace": "Training", "MetricName": "Detections", "MetricValue": "1"}
                ],
            },
        },
        "Alarm": {
            "Type": "AWS::CloudWatch::Alarm",
            "Properties": {
                "Namespace": "Training",
                "MetricName": "Detections",
                "ComparisonOperator": "GreaterThanOrEqualToThreshold",
                "Threshold": 1,
                "AlarmActions": [topic],
            },
        },
        "IdleAlarm": {
            "Type": "AWS::CloudWatch::Alarm",
            "Properties": {
                "Namespace": "/aws/sagemaker/Clusters",
                "MetricName": "RunningJobs",
                "Dimensions": [{"Name": "ClusterName", "Value": "llm-train"}],
                "Statistic": "Maximum",
                "Period": 3600,
                "EvaluationPeriods": 4,
                "ComparisonOperator": "LessThanThreshold",
                "Threshold": 1,
                "AlarmActions": [{"Fn::ImportValue": "pager"}],
            },
        },
        "Budget": {
            "Type": "AWS::Budgets::Budget",
            "Properties": {
                "NotificationsWithSubscribers": [
                    {"Subscribers": [{"SubscriptionType": "SNS", "Address": topic}]}
                ]
            },
        },
    }


ALERTING = """
groups:
  - name: queues
    rules:
      - record: pending
        expr: sum(kueue_pending_workloads)
      - alert: Stuck
        expr: pending > 0 and rate(admitted[1h]) * 0 == 0
"""


def alert_manager(topic: Any) -> dict[str, Any]:
    """Return the definition of an alert manager that tells a topic, and has a receiver that tells nobody."""
    before = """alertmanager_config: |
  route:
    receiver: notices
    routes:
      - receiver: night
  receivers:
    - name: notices
      sns_configs:
        - topic_arn: """
    after = """
          sigv4: {region: us-west-2}
    - name: night
"""
    return {"Fn::Join": ["", [before, topic, after]]}


def _figures() -> dict[str, Any]:
    """Return a workspace of Prometheus that alerts the topic, and that a role of the account reads."""
    document = [
        '{"Statement": [{"Effect": "Allow", "Action": "aps:QueryMetrics", "Resource": "*", ',
        '"Principal": {"AWS": "',
        att("BackupRole"),
        '"}}]}',
    ]
    return {
        "Figures": {
            "Type": "AWS::APS::Workspace",
            "Properties": {"AlertManagerDefinition": alert_manager(ref("Topic"))},
        },
        "FigureRules": {
            "Type": "AWS::APS::RuleGroupsNamespace",
            "Properties": {"Name": "queues", "Workspace": att("Figures"), "Data": ALERTING},
        },
        "FiguresPolicy": {
            "Type": "AWS::APS::ResourcePolicy",
            "Properties": {"WorkspaceArn": att("Figures"), "PolicyDocument": {"Fn::Join": ["", document]}},
        },
    }


_COMPLIANT: Template = {
    "Resources": {
        **_network(),
        **_storage(),
        **_identity(),
        **_cluster(),
        **_watch(),
        **_figures(),
    }
}


def _add_on(name: str, **more: str) -> dict[str, Any]:
    return {
        "Type": "AWS::EKS::Addon",
        "Properties": {"AddonName": name, "ClusterName": ref("Eks"), **more},
    }


def _control_plane() -> dict[str, Any]:
    group = att("Eks", "ClusterSecurityGroupId")

    def way(source: Any, target: Any, port: int) -> dict[str, Any]:
        return {
            "Type": "AWS::EC2::SecurityGroupIngress",
            "Properties": {
                "GroupId": target,
                "SourceSecurityGroupId": source,
                "IpProtocol": "tcp",
                "FromPort": port,
                "ToPort": port,
            },
        }

    nodes = att("NodeGroup", "GroupId")
    return {
        "Eks": {
            "Type": "AWS::EKS::Cluster",
            "Properties": {
                "Version": "1.33",
                "AccessConfig": {"AuthenticationMode": "API"},
                "EncryptionConfig": [{"Resources": ["secrets"], "Provider": {"KeyArn": att("Key")}}],
                "Logging": {
                    "ClusterLogging": {
                        "EnabledTypes": [
                            {"Type": kind}
                            for kind in ("api", "audit", "authenticator", "controllerManager", "scheduler")
                        ]
                    }
                },
                "ResourcesVpcConfig": {
                    "EndpointPrivateAccess": True,
                    "EndpointPublicAccess": False,
                    "SubnetIds": [ref("Subnet")],
                },
            },
        },
        "NodesToControlPlane": way(nodes, group, 443),
        "ControlPlaneToNodes": way(group, nodes, 443),
        "ControlPlaneToKubelets": way(group, nodes, 10250),
        "VpcCni": _add_on("vpc-cni", AddonVersion="v1.18.3-eksbuild.1"),
        "PodIdentityAgent": _add_on("eks-pod-identity-agent"),
        "CertManager": _add_on("cert-manager"),
        "TrainingOperator": {
            **_add_on("amazon-sagemaker-hyperpod-training-operator"),
            "DependsOn": ["CertManager", "PodIdentityAgent"],
        },
        "Chart": {
            "Type": "Custom::AWSCDK-EKS-HelmChart",
            "Properties": {"ClusterName": ref("Eks"), "Release": "hyperpod-dependencies"},
        },
    }


def _pods() -> dict[str, Any]:
    tags = {
        "eks-cluster-arn": att("Eks"),
        "kubernetes-namespace": "train",
        "kubernetes-service-account": "job",
    }
    checkpoints = {
        "PolicyDocument": {
            "Statement": [
                {
                    "Effect": "Allow",
                    "Action": ["s3:PutObject", "s3:GetObject", "s3:DeleteObject"],
                    "Resource": _objects("Checkpoints"),
                }
            ]
        }
    }
    issuer = "oidc.eks.us-west-2.amazonaws.com/id/EXAMPLED539D4633E53DE1B716D3041E"
    return {
        "PodRole": {
            "Type": "AWS::IAM::Role",
            "Properties": {
                "AssumeRolePolicyDocument": {
                    "Statement": [
                        {
                            "Effect": "Allow",
                            "Principal": {"Service": "pods.eks.amazonaws.com"},
                            "Action": ["sts:AssumeRole", "sts:TagSession"],
                            "Condition": {
                                "StringEquals": {f"aws:RequestTag/{tag}": item for tag, item in tags.items()}
                            },
                        }
                    ]
                },
                "Policies": [checkpoints],
            },
        },
        "Association": {
            "Type": "AWS::EKS::PodIdentityAssociation",
            "Properties": {
                "ClusterName": ref("Eks"),
                "Namespace": "train",
                "ServiceAccount": "job",
                "RoleArn": att("PodRole"),
            },
        },
        "TokenRole": {
            "Type": "AWS::IAM::Role",
            "Properties": {
                "AssumeRolePolicyDocument": {
                    "Statement": [
                        {
                            "Effect": "Allow",
                            "Principal": {
                                "Federated": {
                                    "Fn::Sub": f"arn:aws:iam::${{AWS::AccountId}}:oidc-provider/{issuer}"
                                }
                            },
                            "Action": "sts:AssumeRoleWithWebIdentity",
                            "Condition": {
                                "StringEquals": {
                                    f"{issuer}:aud": "sts.amazonaws.com",
                                    f"{issuer}:sub": "system:serviceaccount:train:reader",
                                }
                            },
                        }
                    ]
                }
            },
        },
    }


def _endpoints() -> dict[str, Any]:
    def endpoint(service: str, **more: Any) -> dict[str, Any]:
        return {
            "Type": "AWS::EC2::VPCEndpoint",
            "Properties": {
                "VpcId": ref("Vpc"),
                "ServiceName": {"Fn::Sub": f"com.amazonaws.${{AWS::Region}}.{service}"},
                **more,
            },
        }

    own = {"StringEquals": {"aws:ResourceAccount": {"Ref": "AWS::AccountId"}}}
    everything = {"Effect": "Allow", "Principal": "*", "Action": "s3:*", "Resource": "*"}
    layers = {"Fn::Sub": "arn:${AWS::Partition}:s3:::prod-${AWS::Region}-starport-layer-bucket/*"}
    found = {
        "EndpointS3": endpoint(
            "s3",
            VpcEndpointType="Gateway",
            RouteTableIds=[ref("RouteTable")],
            PolicyDocument={
                "Statement": [
                    {**everything, "Condition": own},
                    {**everything, "Action": "s3:GetObject", "Resource": layers},
                ]
            },
        )
    }
    for needed in required_endpoints("eks"):
        if needed.kind == "Interface":
            name = "Endpoint" + needed.service.replace(".", "").replace("-", "").title()
            found[name] = endpoint(
                needed.service,
                VpcEndpointType="Interface",
                PrivateDnsEnabled=True,
                SubnetIds=[ref("Subnet")],
                SecurityGroupIds=[att("EndpointGroup", "GroupId")],
            )
    found["EndpointGroup"] = {
        "Type": "AWS::EC2::SecurityGroup",
        "Properties": {"GroupDescription": "endpoints", "VpcId": ref("Vpc")},
    }
    https = {"FromPort": 443, "ToPort": 443}
    found["EndpointsFromNodes"] = _rule("Ingress", "EndpointGroup", "NodeGroup", "tcp", **https)
    found["NodesToEndpoints"] = _rule("Egress", "NodeGroup", "EndpointGroup", "tcp", **https)
    return found


def _quota() -> dict[str, Any]:
    """Return the quota of a team, for one of the nodes that the cluster has."""
    resource = {"InstanceType": "ml.p5.48xlarge", "Count": 1}
    return {
        "Type": "AWS::SageMaker::ComputeQuota",
        "Properties": {
            "Name": "research",
            "ClusterArn": att("Cluster", "ClusterArn"),
            "ComputeQuotaTarget": {"TeamName": "research"},
            "ComputeQuotaConfig": {"ComputeQuotaResources": [resource]},
        },
    }


def _on_eks() -> Template:
    """The compliant template with EKS for Slurm, tiered checkpointing, and no way to the internet."""
    made = copy.deepcopy(_COMPLIANT["Resources"])
    for name in ("Nat", "Route", "S3Endpoint", "HttpsEgress"):
        del made[name]
    made.update(**_control_plane(), **_pods(), **_endpoints())
    made["NodePolicy"]["Properties"]["PolicyDocument"]["Statement"].pop(1)
    made["CheckpointsPolicy"] = _bucket_policy("Checkpoints", "PodRole")
    cluster = made["Cluster"]
    cluster["DependsOn"] = [name for name in cluster["DependsOn"] if name in made]
    cluster["DependsOn"] += ["NodesToControlPlane", "ControlPlaneToNodes", "ControlPlaneToKubelets"]
    cluster["DependsOn"] += ["VpcCni", "PodIdentityAgent", "Chart"]
    properties = cluster["Properties"]
    properties["Orchestrator"] = {"Eks": {"ClusterArn": att("Eks")}}
    properties["TieredStorageConfig"] = {"Mode": "Enable", "InstanceMemoryAllocationPercentage": 20}
    properties["Tags"].append({"Key": "SageMaker", "Value": "true"})
    made["Quota"] = _quota()
    groups = properties["InstanceGroups"]
    groups.append({**copy.deepcopy(groups[1]), "InstanceGroupName": "own-network"})
    groups[2]["OverrideVpcConfig"] = copy.deepcopy(properties["VpcConfig"])
    for group in groups:
        del group["SlurmConfig"]
        group["LifeCycleConfig"]["OnCreate"] = group["LifeCycleConfig"].pop("OnInitComplete")
    return {"Resources": made}


_COMPLIANT_ON_EKS = _on_eks()


@pytest.fixture
def template() -> Template:
    """A template that keeps every promise, for a test to break."""
    return copy.deepcopy(_COMPLIANT)


@pytest.fixture
def eks_template() -> Template:
    """The same with EKS in place of Slurm, in a network without internet access."""
    return copy.deepcopy(_COMPLIANT_ON_EKS)


@pytest.fixture
def judge() -> Callable[..., Report]:
    """Judge a template by one rule."""

    def apply(rule_id: str, template: Template, **more: Any) -> Report:
        return review(template, rules=[rule(rule_id)], **more)

    return apply


@pytest.fixture
def baseline(template: Template) -> Template:
    """What was deployed from the compliant template."""
    return copy.deepcopy(template)


@pytest.fixture
def judge_update() -> Callable[..., Report]:
    """Judge the way from a baseline to a template by one rule."""

    def apply(rule_id: str, baseline: Template, template: Template, **more: Any) -> Report:
        return compare(baseline, template, rules=[update_rule(rule_id)], **more)

    return apply
