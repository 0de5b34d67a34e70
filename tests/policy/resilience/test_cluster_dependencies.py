from __future__ import annotations

import pytest

ID = "ClusterDependencies"
NEEDED = ["NodePolicy", "SelfIngress", "SelfEgress", "Route", "RouteTableAssociation", "Upload"]


def test_a_cluster_that_waits_complies(judge, template):
    assert judge(ID, template).outcome(ID) == "pass"


@pytest.mark.parametrize("needed", NEEDED)
def test_each_missing_dependency_fails(judge, template, needed):
    template["Resources"]["Cluster"]["DependsOn"].remove(needed)
    (finding,) = judge(ID, template).failures
    assert finding.logical_id == "Cluster"
    assert f"does not wait for {needed} (" in finding.message


def test_waiting_through_others_complies(judge, template):
    resources = template["Resources"]
    resources["Gate"] = {"Type": "AWS::CloudFormation::WaitConditionHandle", "DependsOn": NEEDED}
    resources["Cluster"]["DependsOn"] = "Gate"
    assert judge(ID, template).findings == ()


@pytest.mark.parametrize(
    "tag",
    [
        {"Ref": "Route"},
        {"Fn::GetAtt": "Route.Id"},
        {"Fn::Sub": "x-${Route}"},
        {"Fn::Sub": ["${X}", {"X": {"Ref": "Route"}}]},
    ],
    ids=str,
)
def test_a_reference_is_a_dependency(judge, template, tag):
    cluster = template["Resources"]["Cluster"]
    cluster["DependsOn"].remove("Route")
    cluster["Properties"]["Tags"].append({"Key": "route", "Value": tag})
    assert judge(ID, template).findings == ()


def test_a_policy_that_names_the_role_elsewhere_is_needed(judge, template):
    template["Resources"]["Late"] = {
        "Type": "AWS::IAM::Policy",
        "Properties": {"Roles": [{"Ref": "NodeRole"}], "PolicyDocument": {"Statement": []}},
    }
    (finding,) = judge(ID, template).failures
    assert "Late (AWS::IAM::Policy)" in finding.message


def test_a_rule_that_does_not_exist_is_not_asked_for(judge, template):
    template["Conditions"] = {"Never": {"Fn::Equals": ["a", "b"]}}
    template["Resources"]["Route"]["Condition"] = "Never"
    template["Resources"]["Cluster"]["DependsOn"].remove("Route")
    assert judge(ID, template).findings == ()


def test_a_rule_of_an_unresolved_group_is_not_asked_for(judge, template):
    template["Parameters"] = {"Group": {"Type": "String"}}
    template["Resources"]["SelfIngress"]["Properties"] |= {
        "GroupId": {"Ref": "Group"},
        "SourceSecurityGroupId": {"Ref": "Group"},
    }
    template["Resources"]["Cluster"]["DependsOn"].remove("SelfIngress")
    assert judge(ID, template).findings == ()


def test_resources_of_others_are_not_asked_for(judge, template):
    template["Resources"]["OtherRoute"] = {
        "Type": "AWS::EC2::Route",
        "Properties": {"RouteTableId": "rtb-0123456789abcdef0", "NatGatewayId": "nat-0123456789abcdef0"},
    }
    assert judge(ID, template).findings == ()


def _second_cluster(resources):
    resources["OtherScripts"] = {"Type": "AWS::S3::Bucket"}
    resources["OtherUpload"] = {
        "Type": "Custom::CDKBucketDeployment",
        "Properties": {"DestinationBucketName": {"Ref": "OtherScripts"}},
    }
    group = {
        "InstanceGroupName": "workers",
        "LifeCycleConfig": {"SourceS3Uri": {"Fn::Sub": "s3://${OtherScripts}/abc"}},
    }
    resources["OtherCluster"] = {
        "Type": "AWS::SageMaker::Cluster",
        "DependsOn": ["OtherUpload"],
        "Properties": {"InstanceGroups": [group]},
    }


def test_the_scripts_of_another_cluster_are_not_waited_for(judge, template):
    _second_cluster(template["Resources"])
    assert judge(ID, template).findings == ()


def test_each_cluster_waits_for_its_own_scripts(judge, template):
    _second_cluster(template["Resources"])
    del template["Resources"]["OtherCluster"]["DependsOn"]
    (finding,) = judge(ID, template).failures
    assert finding.logical_id == "OtherCluster"
    assert "does not wait for OtherUpload (" in finding.message


def _named_by_text(resources):
    """A bucket and a role that the cluster names by text, which CloudFormation takes for no dependency."""
    resources["Named"] = {"Type": "AWS::S3::Bucket", "Properties": {"BucketName": "sagemaker-named"}}
    resources["NodeRole"]["Properties"]["RoleName"] = "nodes"
    for group in resources["Cluster"]["Properties"]["InstanceGroups"]:
        group["LifeCycleConfig"]["SourceS3Uri"] = "s3://sagemaker-named/abc"
        group["ExecutionRole"] = {"Fn::Sub": "arn:aws:iam::${AWS::AccountId}:role/nodes"}
    del resources["NodePolicy"]
    resources["Cluster"]["DependsOn"].remove("NodePolicy")


def test_a_bucket_and_a_role_that_are_named_by_text_are_needed(judge, template):
    _named_by_text(template["Resources"])
    (finding,) = judge(ID, template).failures
    assert "does not wait for NodeRole (AWS::IAM::Role), Named (AWS::S3::Bucket);" in finding.message


def test_waiting_for_what_is_named_by_text_complies(judge, template):
    resources = template["Resources"]
    _named_by_text(resources)
    resources["Cluster"]["DependsOn"] += ["NodeRole", "Named"]
    assert judge(ID, template).findings == ()


def test_a_bucket_of_an_unresolved_name_is_not_asked_for(judge, template):
    _named_by_text(template["Resources"])
    template["Resources"]["Cluster"]["DependsOn"].append("NodeRole")
    template["Parameters"] = {"Name": {"Type": "String"}}
    template["Resources"]["Named"]["Properties"]["BucketName"] = {"Ref": "Name"}
    assert judge(ID, template).findings == ()
