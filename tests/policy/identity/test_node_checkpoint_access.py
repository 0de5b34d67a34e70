from __future__ import annotations

import pytest

ID = "NodeCheckpointAccess"
OBJECTS = {"Fn::Join": ["", [{"Fn::GetAtt": ["Checkpoints", "Arn"]}, "/*"]]}


def _allow(template, action, resource):
    statements = template["Resources"]["NodePolicy"]["Properties"]["PolicyDocument"]["Statement"]
    statements.append({"Effect": "Allow", "Action": action, "Resource": resource})


def _drop_lock(template):
    statements = template["Resources"]["CheckpointsPolicy"]["Properties"]["PolicyDocument"]["Statement"]
    del statements[1:]


def test_nodes_without_access_comply(judge, eks_template):
    _drop_lock(eks_template)
    assert judge(ID, eks_template).outcome(ID) == "pass"


def test_nodes_that_the_bucket_denies_comply(judge, eks_template):
    _allow(eks_template, "s3:PutObject", OBJECTS)
    assert judge(ID, eks_template).findings == ()


@pytest.mark.parametrize(
    ("action", "resource"),
    [("s3:PutObject", OBJECTS), ("s3:*", "*"), ("s3:DeleteObject", OBJECTS)],
    ids=["put", "all", "delete"],
)
def test_nodes_that_write_checkpoints_fail(judge, eks_template, action, resource):
    _drop_lock(eks_template)
    _allow(eks_template, action, resource)
    (finding,) = judge(ID, eks_template).failures
    assert finding.logical_id == "NodePolicy"
    assert "pods write checkpoint bucket Checkpoints with a role of their own, nodes never" in finding.message


def test_nodes_among_the_writers_fail(judge, eks_template):
    _allow(eks_template, "s3:PutObject", OBJECTS)
    for statement in eks_template["Resources"]["CheckpointsPolicy"]["Properties"]["PolicyDocument"][
        "Statement"
    ]:
        if "ArnNotEquals" in statement["Condition"]:
            writers = statement["Condition"]["ArnNotEquals"]["aws:PrincipalArn"]
            writers.append({"Fn::GetAtt": ["NodeRole", "Arn"]})
    assert judge(ID, eks_template).outcome(ID) == "fail"


def test_nodes_of_slurm_may_write(judge, template):
    assert judge(ID, template).verdicts == ()


def test_a_role_of_elsewhere_is_undetermined(judge, eks_template):
    _drop_lock(eks_template)
    for group in eks_template["Resources"]["Cluster"]["Properties"]["InstanceGroups"]:
        group["ExecutionRole"] = "arn:aws:iam::111122223333:role/Nodes"
    assert judge(ID, eks_template).outcome(ID) == "undetermined"


@pytest.mark.parametrize("identity", ["association", "token"])
def test_the_bucket_that_pods_write_is_a_checkpoint_bucket(judge, eks_template, identity):
    resources = eks_template["Resources"]
    if identity == "token":
        policies = resources["PodRole"]["Properties"].pop("Policies")
        resources["TokenRole"]["Properties"]["Policies"] = policies
    del resources["CheckpointsPolicy"]
    (finding,) = judge("BucketWriters", eks_template).failures
    assert "checkpoint bucket Checkpoints has no bucket policy" in finding.message


def test_a_bucket_that_pods_only_read_is_none(judge, eks_template):
    resources = eks_template["Resources"]
    (policy,) = resources["PodRole"]["Properties"]["Policies"]
    policy["PolicyDocument"]["Statement"][0]["Action"] = "s3:GetObject"
    del resources["CheckpointsPolicy"]
    assert judge("BucketWriters", eks_template).findings == ()
