"""Who runs pods on the nodes through EKS, and which pods take roles."""

from __future__ import annotations

import copy

import pytest
from told_ways import lines_of, new_lines, principals_of

from hyperpod_policy.trust_map import trust_map

POLICY = "arn:aws:eks::aws:cluster-access-policy/"
SOMEBODY = "arn:aws:iam::111122223333:role/somebody"
RUNS = f"{SOMEBODY} yes: administer-cluster Eks"
MAY_RUN = f"{SOMEBODY} undetermined: administer-cluster Eks"


def _entry(*policies, principal=SOMEBODY, scope=None, **more):
    scope = {"Type": "cluster"} if scope is None else scope
    return {
        "Type": "AWS::EKS::AccessEntry",
        "Properties": {
            "ClusterName": {"Ref": "Eks"},
            "PrincipalArn": principal,
            "AccessPolicies": [{"PolicyArn": f"{POLICY}{name}", "AccessScope": scope} for name in policies],
            **more,
        },
    }


@pytest.mark.parametrize(
    ("entry", "line"),
    [
        (_entry("AmazonEKSClusterAdminPolicy"), RUNS),
        (_entry("AmazonEKSEditPolicy", scope={"Type": "namespace", "Namespaces": ["train"]}), RUNS),
        (_entry("AmazonEKSViewPolicy", "AmazonEKSAdminPolicy"), RUNS),
        (_entry("SomePolicyToCome"), MAY_RUN),
        (_entry(KubernetesGroups=["operators"]), MAY_RUN),
        (_entry("AmazonEKSViewPolicy", "AmazonEKSAdminViewPolicy"), None),
        (_entry(), None),
        ({**_entry("AmazonEKSClusterAdminPolicy"), "Type": "AWS::EKS::Nodegroup"}, None),
        (_entry("AmazonEKSClusterAdminPolicy", ClusterName="another"), None),
    ],
    ids=str,
)
def test_an_access_entry_lets_its_principal_in_if_it_may_run_pods(eks_template, entry, line):
    before = trust_map(copy.deepcopy(eks_template))
    eks_template["Resources"]["Entry"] = entry
    assert new_lines(before, trust_map(eks_template)) == (set() if line is None else {line})


def test_an_entry_names_its_policy_and_scope(eks_template):
    eks_template["Resources"]["Entry"] = _entry(
        "AmazonEKSEditPolicy", scope={"Type": "namespace", "Namespaces": ["train", "test"]}
    )
    (way,) = trust_map(eks_template).ways_of(SOMEBODY)
    (evidence,) = way.steps[0].evidence
    assert (evidence.logical_id, evidence.path) == ("Entry", ("AccessPolicies", 0))
    assert evidence.text == "AmazonEKSEditPolicy in namespaces train, test"


def test_a_config_map_may_name_anybody(eks_template):
    eks_template["Resources"]["Eks"]["Properties"]["AccessConfig"]["AuthenticationMode"] = (
        "API_AND_CONFIG_MAP"
    )
    found = trust_map(eks_template)
    assert lines_of(found, "whoever the config map aws-auth names") == {
        "undetermined: administer-cluster Eks"
    }


def test_an_eks_cluster_of_another_template_has_administrators(eks_template):
    arn = "arn:aws:eks:us-west-2:111122223333:cluster/shared"
    eks_template["Resources"]["Cluster"]["Properties"]["Orchestrator"] = {"Eks": {"ClusterArn": arn}}
    found = trust_map(eks_template)
    assert lines_of(found, f"administrators of EKS cluster {arn}") == {
        f"undetermined: administer-cluster {arn}"
    }


@pytest.mark.parametrize(
    ("subject", "pods"),
    [
        ("system:serviceaccount:train:reader", "train/reader"),
        ("system:serviceaccount:*:*", "*/*"),
        (None, "*/*"),
    ],
)
def test_tokens_give_a_role_to_the_pods_of_their_subject(eks_template, subject, pods):
    resources = eks_template["Resources"]
    resources["TokenRole"]["Properties"]["Policies"] = copy.deepcopy(
        resources["PodRole"]["Properties"]["Policies"]
    )
    lock = resources["CheckpointsPolicy"]["Properties"]["PolicyDocument"]["Statement"][2]
    lock["Condition"]["ArnNotEquals"]["aws:PrincipalArn"].append({"Fn::GetAtt": ["TokenRole", "Arn"]})
    (statement,) = resources["TokenRole"]["Properties"]["AssumeRolePolicyDocument"]["Statement"]
    (key,) = (name for name in statement["Condition"]["StringEquals"] if name.endswith(":sub"))
    del statement["Condition"]["StringEquals"][key]
    if subject is not None:
        statement["Condition"]["StringLike"] = {key: subject}
    found = trust_map(eks_template)
    who = f"pods of service account {pods}"
    assert lines_of(found, who) == {"yes: assume TokenRole, write-objects Checkpoints"}
    (way,) = found.ways_of(pods)
    assert "cannot be told from the templates" in found.nodes[way.principal].note
    assert way.steps[0].evidence[0].logical_id == "TokenRole"


def test_pods_of_another_service_account_come_with_an_association(eks_template):
    before = trust_map(copy.deepcopy(eks_template))
    association = copy.deepcopy(eks_template["Resources"]["Association"])
    association["Properties"] |= {"Namespace": "default", "ServiceAccount": "default"}
    eks_template["Resources"]["Another"] = association
    assert new_lines(before, trust_map(eks_template)) == {
        "pods of service account default/default yes: assume PodRole, write-objects Checkpoints"
    }


def test_a_role_that_makes_access_entries_is_on_the_map(eks_template):
    eks_template["Resources"]["Keeper"] = {
        "Type": "AWS::IAM::Role",
        "Properties": {
            "Policies": [
                {
                    "PolicyDocument": {
                        "Statement": {
                            "Effect": "Allow",
                            "Action": "eks:*Access*",
                            "Resource": {"Fn::GetAtt": ["Eks", "Arn"]},
                        }
                    }
                }
            ]
        },
    }
    assert lines_of(trust_map(eks_template), "Keeper") == {"yes: change-access Eks"}


def test_nodes_whose_role_gets_nowhere_are_not_named(eks_template):
    assert not any("host-network" in name for name in principals_of(trust_map(eks_template)))


@pytest.mark.parametrize(
    ("cluster", "line"),
    [
        ({"Ref": "Eks"}, {"federated by https://tokens.example undetermined: administer-cluster Eks"}),
        ("another", set()),
    ],
    ids=str,
)
def test_an_issuer_of_tokens_is_on_the_map(eks_template, cluster, line):
    before = trust_map(copy.deepcopy(eks_template))
    eks_template["Resources"]["Issuer"] = {
        "Type": "AWS::EKS::IdentityProviderConfig",
        "Properties": {
            "ClusterName": cluster,
            "Type": "oidc",
            "Oidc": {"IssuerUrl": "https://tokens.example", "ClientId": "x"},
        },
    }
    assert new_lines(before, trust_map(eks_template)) == line
