from __future__ import annotations

import pytest

ID = "KubernetesAdministrators"
OWN = "111122223333"
OTHER = "444455556666"
POLICY = "arn:aws:eks::aws:cluster-access-policy/"
SOMEBODY = f"arn:aws:iam::{OWN}:role/somebody"
ADMINISTRATOR = [{"AccessScope": {"Type": "cluster"}, "PolicyArn": f"{POLICY}AmazonEKSClusterAdminPolicy"}]


def _entry(template, principal, **more):
    template["Parameters"] = {"Who": {"Type": "String"}}
    template["Resources"]["Entry"] = {
        "Type": "AWS::EKS::AccessEntry",
        "Properties": {"ClusterName": {"Ref": "Eks"}, "PrincipalArn": principal, **more},
    }


def test_a_cluster_without_entries_complies(judge, eks_template):
    assert judge(ID, eks_template).outcome(ID) == "pass"


@pytest.mark.parametrize(
    ("principal", "outcome"),
    [
        ({"Fn::GetAtt": "BackupRole.Arn"}, "pass"),
        (SOMEBODY, "pass"),
        ({"Ref": "Who"}, "undetermined"),
        ({"Fn::ImportValue": "administrators"}, "pass"),
        (f"arn:aws:iam::{OTHER}:role/somebody", "fail"),
    ],
    ids=str,
)
def test_who_administers(judge, eks_template, principal, outcome):
    _entry(eks_template, principal, AccessPolicies=ADMINISTRATOR)
    assert judge(ID, eks_template, account=OWN).outcome(ID) == outcome


@pytest.mark.parametrize(
    "more",
    [
        {"KubernetesGroups": ["viewers", "system:masters"]},
        {
            "AccessPolicies": [
                {"AccessScope": {"Type": "cluster"}, "PolicyArn": f"{POLICY}AmazonEKSAdminPolicy"}
            ]
        },
    ],
    ids=str,
)
def test_other_ways_to_administer(judge, eks_template, more):
    _entry(eks_template, f"arn:aws:iam::{OTHER}:role/somebody", **more)
    (finding,) = judge(ID, eks_template, account=OWN).failures
    assert (finding.logical_id, finding.path) == ("Entry", ("PrincipalArn",))
    assert "an administrator" in finding.message
    assert "of another account" in finding.message


@pytest.mark.parametrize(
    "more",
    [
        {},
        {"AccessPolicies": [{**ADMINISTRATOR[0], "AccessScope": {"Type": "namespace", "Namespaces": ["a"]}}]},
        {
            "AccessPolicies": [
                {"AccessScope": {"Type": "cluster"}, "PolicyArn": f"{POLICY}AmazonEKSViewPolicy"}
            ]
        },
        {"ClusterName": "another", "AccessPolicies": ADMINISTRATOR},
    ],
    ids=str,
)
def test_what_must_not_fire(judge, eks_template, more):
    _entry(eks_template, f"arn:aws:iam::{OTHER}:role/somebody", **more)
    assert judge(ID, eks_template, account=OWN).findings == ()


def test_an_entry_may_name_the_cluster_by_its_name(judge, eks_template):
    eks_template["Resources"]["Eks"]["Properties"]["Name"] = "trainers"
    principal = f"arn:aws:iam::{OTHER}:role/somebody"
    _entry(eks_template, principal, ClusterName="trainers", AccessPolicies=ADMINISTRATOR)
    (finding,) = judge(ID, eks_template, account=OWN).failures
    assert "an administrator (AmazonEKSClusterAdminPolicy), of another account" in finding.message
    _entry(eks_template, principal, ClusterName="another", AccessPolicies=ADMINISTRATOR)
    assert judge(ID, eks_template, account=OWN).findings == ()


def test_slurm_has_none(judge, template):
    _entry(template, SOMEBODY, AccessPolicies=ADMINISTRATOR)
    assert judge(ID, template).verdicts == ()
