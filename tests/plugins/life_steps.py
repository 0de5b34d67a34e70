"""What is shown of a cluster whatever schedules its jobs: the same steps for Slurm and for EKS."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from functools import partial

import pytest
from botocore.exceptions import ClientError
from cdk_command import Ran
from cluster_life import CLUSTER_TYPE, ClusterLife, expect, keys_under
from deployed_stack import DeployedStack
from inventory import difference, inventory
from notices import DETECTION, reading, send_event, unhealthy, write_line
from read_back import READERS
from read_back.ec2 import group_rules
from s3_callers import lets
from stack_told import NOT_READ, NOT_TOLD, compare

from aws_double.session import Session
from hyperpod_constructs import HyperPodStack
from hyperpod_model.catalog.events import CLUSTER_STATE_CHANGE, NODE_HEALTH
from hyperpod_model.catalog.logs import health_monitoring_stream_name

Found = Mapping[str, frozenset[str]]
ILLEGAL_TYPE = "ml.p9.48xlarge"
MINIMUM_READ = {
    "AWS::CloudWatch::Alarm",
    "AWS::CloudWatch::Dashboard",
    "AWS::CloudWatch::InsightRule",
    "AWS::EC2::NetworkAclEntry",
    "AWS::EC2::Route",
    "AWS::EC2::SecurityGroupEgress",
    "AWS::EC2::SecurityGroupIngress",
    "AWS::EC2::VPCEndpoint",
    "AWS::Events::Rule",
    "AWS::FSx::FileSystem",
    "AWS::IAM::ManagedPolicy",
    "AWS::IAM::Role",
    "AWS::KMS::Key",
    "AWS::Logs::MetricFilter",
    "AWS::Logs::ResourcePolicy",
    "AWS::S3::Bucket",
    "AWS::S3::BucketPolicy",
    "AWS::SNS::Subscription",
    "AWS::SNS::Topic",
    "AWS::SNS::TopicPolicy",
    "Custom::NodeLogGroup",
    CLUSTER_TYPE,
}


def expect_everything_told(life: ClusterLife) -> set[str]:
    """Every resource is as the template asks, by the services' own word; return the types that were read."""
    return expect_as_asked(life.stack)


def expect_as_asked(stack: DeployedStack) -> set[str]:
    """The same for any stack."""
    assert stack.status.endswith("_COMPLETE"), stack.status
    compared = compare(stack)
    assert not compared.differences, "\n".join(compared.differences)
    resources = stack.resources
    unread = {name for name in resources if resources[name]["ResourceType"] not in NOT_READ} - compared.read
    assert not unread, unread
    assert compared.excused <= {*NOT_READ, *NOT_TOLD}
    assert not compared.unneeded, f"the API tells these: {sorted(compared.unneeded)}"
    return {resources[name]["ResourceType"] for name in compared.read}


def expect_change_by_hand_seen(life: ClusterLife) -> None:
    """The comparison tells of what somebody changed beside the stack."""
    logs = life.root.client("logs")
    name = next(
        life.stack.physical_id(one)
        for one in life.stack.logical_ids("AWS::Logs::LogGroup")
        if "FlowLog" in one
    )
    (group,) = logs.describe_log_groups(logGroupNamePrefix=name)["logGroups"]
    logs.put_retention_policy(logGroupName=name, retentionInDays=1)
    (told,) = compare(life.stack).differences
    assert "RetentionInDays" in told
    logs.put_retention_policy(logGroupName=name, retentionInDays=group["retentionInDays"])


def expect_people_hear(life: ClusterLife, *, jobs: str, stranger: str) -> None:
    """What befalls the cluster reaches who reads its topic, and nobody else speaks there.

    Args:
        life: The cluster.
        jobs: ARN of the role with which jobs tell that they stopped.
        stranger: ARN of a role that has nothing to do with the cluster.
    """
    arn, name, topic = life.description["ClusterArn"], life.spec.name, life.stack.outputs["NoticeTopicArn"]
    log_group, node = life.stack.outputs["NodeLogGroup"], life.nodes("workers")[0]
    stream = health_monitoring_stream_name("workers", node)
    with reading(life.root, topic, name=f"on-call-{name}") as reader:
        fault = unhealthy(node, "NvidiaGpuXidError")
        send_event(life.root, NODE_HEALTH, cluster_arn=f"{arn}0", detail=fault)
        assert reader.messages() == []
        send_event(life.root, NODE_HEALTH, cluster_arn=arn, detail=fault)
        (told,) = reader.messages()
        assert f"HyperPod cluster {name}: node {node} is Unhealthy." in told
        assert "Fault: NvidiaGpuXidError" in told
        assert f"hyperpod-nodes advise {name} {node} --region {life.root.region}" in told
        state = {"ClusterStatus": "Failed", "FailureMessage": "no capacity"}
        send_event(life.root, CLUSTER_STATE_CHANGE, cluster_arn=arn, detail=state)
        (told,) = reader.messages()
        assert f"HyperPod cluster {name} is Failed." in told
        assert "Fault: no capacity" in told
        write_line(node_session(life), log_group=log_group, stream=stream, line=DETECTION)
        (told,) = reader.messages()
        alarm = json.loads(told)
        assert (alarm["AlarmName"], alarm["NewStateValue"]) == (f"hyperpod-{name}-health-detections", "ALARM")
        send_event(life.root, NODE_HEALTH, cluster_arn=arn, detail=fault)
        assert len(reader.messages()) == 1
        send_event(life.root, NODE_HEALTH, cluster_arn=arn, detail=fault)
        alarms = {json.loads(text)["AlarmName"] for text in reader.messages() if text.startswith("{")}
        assert alarms == {f"hyperpod-{name}-failing-node"}
        life.root.assume(jobs).client("sns").publish(TopicArn=topic, Message="stopped")
        assert reader.messages() == ["stopped"]
        with pytest.raises(ClientError, match="AuthorizationError"):
            life.root.assume(stranger).client("sns").publish(TopicArn=topic, Message="all is well")
        assert reader.messages() == []


def expect_nodes_talk_freely_among_themselves(life: ClusterLife) -> None:
    """EFA traffic matches only rules that name a group, so the nodes' group names itself, both ways."""
    (group_id,) = life.description["VpcConfig"]["SecurityGroupIds"]
    rules = group_rules(life.root, group_id)
    for direction, end in (("SecurityGroupIngress", "Source"), ("SecurityGroupEgress", "Destination")):
        (itself,) = (rule for rule in rules[direction] if rule.get(f"{end}SecurityGroupId") == group_id)
        assert itself["IpProtocol"] == "-1"
        assert "FromPort" not in itself


def expect_keys_rotate(life: ClusterLife) -> None:
    """Every key of the stack is rotated."""
    kms = life.root.client("kms")
    keys = [life.stack.physical_id(one) for one in life.stack.logical_ids("AWS::KMS::Key")]
    assert len(keys) >= 4
    assert all(kms.get_key_rotation_status(KeyId=key)["KeyRotationEnabled"] for key in keys)


def expect_nothing_changes(life: ClusterLife) -> None:
    """The same deployment again finds nothing to do."""
    events, nodes, cluster = len(life.stack.events), life.nodes(), life.description
    ran = life.deploy()
    assert "(no changes)" in ran.output
    assert len(life.stack.events) == events
    assert life.nodes() == nodes
    assert life.description == cluster


def expect_survivors_keep_ids(life: ClusterLife) -> None:
    """Two workers, four, and two again: whoever stays is the same instance, and no other group changes."""
    others = set(life.nodes()) - set(life.nodes("workers"))
    two = life.nodes("workers")
    assert len(two) == 2
    life.resize(workers=4)
    life.deploy()
    four = life.nodes("workers")
    assert four[:2] == two
    assert len(set(four)) == 4
    life.resize(workers=2)
    life.deploy()
    assert life.nodes("workers") == two
    assert set(life.nodes()) == {*others, *two}


def expect_scripts_under_new_prefix(life: ClusterLife, *, file: str, content: bytes) -> None:
    """A changed script was uploaded to another place, the cluster was updated, and the old place stays.

    Args:
        life: The cluster, with ``file`` changed and not deployed yet.
        file: Name of the file below the prefix.
        content: What it is now.
    """
    before, nodes = life.scripts_uri(), life.nodes()
    old = keys_under(node_session(life), before)
    assert old[file] != content
    life.deploy()
    after = life.scripts_uri()
    assert after != before
    assert keys_under(node_session(life), after)[file] == content
    assert keys_under(node_session(life), before) == old
    assert life.nodes() == nodes
    changed = [
        event["LogicalResourceId"]
        for event in life.stack.events
        if event["ResourceStatus"] == "UPDATE_COMPLETE" and event["ResourceType"] == CLUSTER_TYPE
    ]
    assert changed


def node_session(life: ClusterLife) -> Session:
    """What a node sees."""
    return life.root.assume(life.role_arn("ExecutionRole"))


def expect_policy_of_locked_bucket_changes(life: ClusterLife, *, writer: str, reader: str) -> None:
    """One more reader: CloudFormation's role may change the policy that nobody else may, and reading works.

    Args:
        life: The cluster.
        writer: ARN of a role that writes checkpoints.
        reader: ARN of a role without any permission.
    """
    bucket = life.bucket("CheckpointBucket")
    checkpoint = {"Bucket": bucket, "Key": "run/step-500/data"}
    life.root.assume(writer).client("s3").put_object(**checkpoint, Body=b"weights")
    s3 = life.root.assume(reader).client("s3")
    before = life.bucket_policy(bucket)
    assert not lets(lambda: s3.get_object(**checkpoint))
    life.change(checkpoint_bucket={"reader_role_arns": [reader]})
    life.deploy()
    assert life.bucket_policy(bucket) != before
    assert s3.get_object(**checkpoint)["Body"].read() == b"weights"
    assert not lets(lambda: s3.put_object(**checkpoint, Body=b"other weights"))


def expect_own_checkpoints_only(lives: Sequence[ClusterLife], *, writer: str) -> None:
    """Each cluster's writer writes the checkpoints of its own cluster, and of no other.

    Args:
        lives: The clusters.
        writer: Beginning of the logical id of the writer's role.
    """
    buckets = {life.spec.name: life.bucket("CheckpointBucket") for life in lives}
    written = {
        (life.spec.name, name)
        for life in lives
        for name, bucket in buckets.items()
        if lets(
            partial(
                life.root.assume(life.role_arn(writer)).client("s3").put_object,
                Bucket=bucket,
                Key="run/step-500/data",
                Body=b"1",
            )
        )
    }
    assert written == {(name, name) for name in buckets}


def expect_illegal_type_undone(life: ClusterLife, *, first: bool = False) -> None:
    """A deployment with an instance type that there is not fails and leaves the stack as it was.

    Args:
        life: The cluster.
        first: Whether there is nothing to go back to, so that the stack is empty afterwards.
    """
    names = [group.name for group in life.spec.instance_groups]

    def illegal(stack: HyperPodStack) -> None:
        resource = stack.cluster.node.default_child
        resource.add_property_override(  # type: ignore[union-attr]
            f"InstanceGroups.{names.index('workers')}.InstanceType", ILLEGAL_TYPE
        )

    before = None if first else (life.description, life.nodes(), life.stack.properties())
    ran = life.cdk.deploy(life.assembly(illegal))
    assert not ran.succeeded
    reasons = [
        event.get("ResourceStatusReason", "")
        for event in life.stack.events
        if event["ResourceStatus"] in ("CREATE_FAILED", "UPDATE_FAILED")
        and event["ResourceType"] == CLUSTER_TYPE
    ]
    assert ILLEGAL_TYPE in reasons[0]
    assert ILLEGAL_TYPE in ran.output
    assert life.stack.status == ("ROLLBACK_COMPLETE" if first else "UPDATE_ROLLBACK_COMPLETE")
    if before is not None:
        assert (life.description, life.nodes(), life.stack.properties()) == before


def destroy(life: ClusterLife) -> Ran:
    """Turn the protection off and destroy the stack."""
    with pytest.raises(ClientError, match="TerminationProtection is enabled"):
        life.root.client("cloudformation").delete_stack(StackName=life.stack.name)
    life.stack.unprotect()
    return expect(life.cdk.destroy(life.assembly()))


def expect_only_retained_left(
    life: ClusterLife, before: Found, *, backups: int, log_groups: Collection[str] = ()
) -> None:
    """Destroy the stack: what its template retains stays, all the rest is gone.

    Args:
        life: The cluster.
        before: What the account had before the stack was created.
        backups: How many backups of the file system are to be there.
        log_groups: Names of log groups that nodes made, beside their own.
    """
    resources, wanted = life.stack.resources, life.stack.properties()
    retained, stack_id = life.retained(), life.stack.id
    assert retained
    log_group = life.stack.outputs["NodeLogGroup"]
    destroy(life)
    life.stack.name = stack_id
    assert life.stack.status == "DELETE_COMPLETE"
    assert set(skipped(life)) == set(retained)
    expect_left(
        life,
        before,
        {(resources[name]["ResourceType"], physical_id) for name, physical_id in retained.items()},
        backups=backups,
        log_groups={log_group, *log_groups},
    )
    for name in (log_group, *log_groups):
        (kept,) = life.root.client("logs").describe_log_groups(logGroupNamePrefix=name)["logGroups"]
        assert {"retentionInDays", "kmsKeyId"} <= kept.keys()
    for name, physical_id in retained.items():
        kind = resources[name]["ResourceType"]
        told = READERS[kind](life.root, physical_id, wanted[name])
        assert {key: told.get(key) for key in wanted[name]} == wanted[name], name


def expect_left(
    life: ClusterLife,
    before: Found,
    kept: set[tuple[str, str]],
    *,
    backups: int,
    log_groups: Collection[str] = (),
) -> None:
    """Nothing is left of a stack but this.

    Args:
        life: The cluster.
        before: What the account had before the stack was created.
        kept: Types and physical ids of what is to be there.
        backups: How many backups of the file system are to be there.
        log_groups: Names of log groups that nodes made.
    """
    left = difference(before, inventory(life.root))
    assert len(left.pop("AWS::FSx::Backup", ())) == backups
    kept = kept | {("AWS::Logs::LogGroup", name) for name in log_groups}
    listed = {(kind, physical_id) for kind, physical_ids in left.items() for physical_id in physical_ids}
    # A bucket's policy goes with its bucket and is in no list of its own.
    assert listed == {one for one in kept if one[0] != "AWS::S3::BucketPolicy"}


def skipped(life: ClusterLife) -> dict[str, tuple[str, str]]:
    """Type and physical id, by logical id, of what CloudFormation left alone when it deleted."""
    return {
        event["LogicalResourceId"]: (event["ResourceType"], event["PhysicalResourceId"])
        for event in life.stack.events
        if event["ResourceStatus"] == "DELETE_SKIPPED"
    }
