from __future__ import annotations

import copy

import pytest

from hyperpod_model.catalog.iam import EKS_ACTIONS, EKS_AUTH_ACTIONS, SLURM_VPC_ACTIONS

ID = "OrchestratorPrivileges"


def _allow(template, **statement):
    template["Resources"]["NodePolicy"]["Properties"]["PolicyDocument"]["Statement"].append(
        {"Effect": "Allow", "Resource": "arn:aws:ec2:*:*:network-interface/*", **statement}
    )


def test_what_each_orchestrator_needs_complies(judge, template, eks_template):
    _allow(template, Action=[action.name for action in SLURM_VPC_ACTIONS])
    _allow(eks_template, Action=[action.name for action in (*EKS_ACTIONS, *EKS_AUTH_ACTIONS)])
    for found in (template, eks_template):
        assert judge(ID, found).outcome(ID) == "pass"
        assert judge(ID, found).findings == ()


@pytest.mark.parametrize(
    ("action", "words"),
    [
        ("ec2:AttachNetworkInterface", "allows ec2:AttachNetworkInterface"),
        ("ec2:A*NetworkInterface", "allows ec2:AttachNetworkInterface"),
        ({"Fn::FindInMap": ["Actions", "all", "pods"]}, "allows eks-auth:AssumeRoleForPodIdentity"),
    ],
    ids=str,
)
def test_slurm_nodes_with_permissions_for_eks_are_a_warning(judge, template, action, words):
    template["Mappings"] = {"Actions": {"all": {"pods": "eks-auth:AssumeRoleForPodIdentity"}}}
    _allow(template, Action=action)
    (finding,) = judge(ID, template).failures
    assert (finding.logical_id, finding.severity) == ("NodePolicy", "warning")
    assert words in finding.message
    assert "nodes of a Slurm cluster never do" in finding.message


@pytest.mark.parametrize(
    "statement",
    [
        {"Action": ["ec2:DescribeInstances", "ec2:DescribeTags"], "Resource": "*"},
        {"Action": "ec2:*", "Resource": "*"},
        {"Effect": "Deny", "Action": "ec2:AttachNetworkInterface"},
        {"Action": "sqs:SendMessage"},
    ],
    ids=str,
)
def test_what_is_left_alone(judge, template, statement):
    _allow(template, **statement)
    assert judge(ID, template).findings == ()


def test_a_role_of_two_orchestrators_has_nothing_to_say(judge, template):
    _allow(template, Action="ec2:AttachNetworkInterface")
    template["Resources"]["Other"] = copy.deepcopy(template["Resources"]["Cluster"])
    template["Resources"]["Other"]["Properties"]["Orchestrator"] = {"Eks": {"ClusterArn": "arn:x"}}
    assert judge(ID, template).verdicts == ()


def test_a_role_of_elsewhere_has_nothing_to_say(judge, template):
    for group in template["Resources"]["Cluster"]["Properties"]["InstanceGroups"]:
        group["ExecutionRole"] = {"Fn::ImportValue": "role"}
    assert judge(ID, template).verdicts == ()
