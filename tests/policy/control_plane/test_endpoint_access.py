from __future__ import annotations

import pytest

ID = "EksEndpointAccess"


def _network(template):
    return template["Resources"]["Eks"]["Properties"]["ResourcesVpcConfig"]


def test_a_private_endpoint_complies(judge, eks_template):
    assert judge(ID, eks_template).outcome(ID) == "pass"


def test_a_public_endpoint_for_listed_ranges_complies(judge, eks_template):
    _network(eks_template).update(EndpointPublicAccess=True, PublicAccessCidrs=["203.0.113.0/24"])
    assert judge(ID, eks_template).findings == ()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"EndpointPublicAccess": True}, "every address reaches it"),
        ({"EndpointPublicAccess": "true", "PublicAccessCidrs": ["0.0.0.0/0"]}, "admits 0.0.0.0/0"),
        ({"EndpointPublicAccess": True, "PublicAccessCidrs": ["0.0.0.0/1"]}, "admits 0.0.0.0/1"),
    ],
)
def test_an_endpoint_open_to_the_world_fails(judge, eks_template, change, words):
    _network(eks_template).update(change)
    (finding,) = judge(ID, eks_template).failures
    assert finding.path[:2] == ("ResourcesVpcConfig", "PublicAccessCidrs")
    assert words in finding.message


def test_the_defaults_of_eks_fail_twice(judge, eks_template):
    for member in ("EndpointPublicAccess", "EndpointPrivateAccess"):
        del _network(eks_template)[member]
    assert {finding.path[1] for finding in judge(ID, eks_template).failures} == {
        "PublicAccessCidrs",
        "EndpointPrivateAccess",
    }


@pytest.mark.parametrize(
    ("member", "value"),
    [
        ("EndpointPublicAccess", {"Ref": "Open"}),
        ("EndpointPrivateAccess", {"Ref": "Open"}),
        ("PublicAccessCidrs", [{"Ref": "Open"}]),
    ],
)
def test_parameters_are_undetermined(judge, eks_template, member, value):
    eks_template["Parameters"] = {"Open": {"Type": "String"}}
    _network(eks_template).update(
        {"EndpointPublicAccess": True, "PublicAccessCidrs": ["10.0.0.0/8"], member: value}
    )
    report = judge(ID, eks_template)
    assert report.failures == ()
    assert report.outcome(ID) == "undetermined"


def test_a_condition_says_when(judge, eks_template):
    eks_template["Parameters"] = {
        "Stage": {"Type": "String", "Default": "prod", "AllowedValues": ["prod", "dev"]}
    }
    eks_template["Conditions"] = {"Dev": {"Fn::Equals": [{"Ref": "Stage"}, "dev"]}}
    _network(eks_template)["EndpointPublicAccess"] = {"Fn::If": ["Dev", True, False]}
    (finding,) = judge(ID, eks_template).failures
    assert finding.when == "parameter Stage is dev"


def test_an_existing_eks_cluster_is_undetermined(judge, eks_template):
    arn = "arn:aws:eks:us-west-2:111122223333:cluster/existing"
    eks_template["Resources"]["Cluster"]["Properties"]["Orchestrator"] = {"Eks": {"ClusterArn": arn}}
    report = judge(ID, eks_template)
    assert report.outcome(ID) == "undetermined"
    assert f"EKS cluster {arn} is not in this template" in report.text()


def test_an_arn_put_together_from_the_name_leads_to_the_cluster(judge, eks_template):
    arn = {"Fn::Sub": "arn:${AWS::Partition}:eks:${AWS::Region}:${AWS::AccountId}:cluster/${Eks}"}
    eks_template["Resources"]["Cluster"]["Properties"]["Orchestrator"] = {"Eks": {"ClusterArn": arn}}
    assert judge(ID, eks_template).outcome(ID) == "pass"


def test_another_eks_cluster_is_not_judged(judge, eks_template):
    eks_template["Resources"]["Other"] = {"Type": "AWS::EKS::Cluster", "Properties": {}}
    assert judge(ID, eks_template).findings == ()
