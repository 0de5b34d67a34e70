from __future__ import annotations

import pytest

ID = "ClusterReplacement"


def _cluster(template):
    return template["Resources"]["Cluster"]["Properties"]


def test_the_same_template_complies(judge_update, baseline, template):
    assert judge_update(ID, baseline, template).outcome(ID) == "pass"


def test_more_nodes_and_tags_comply(judge_update, baseline, template):
    _cluster(template)["InstanceGroups"][1]["InstanceCount"] = 99
    _cluster(template)["Tags"] = [{"Key": "team", "Value": "models"}]
    _cluster(template)["Orchestrator"] = {"Slurm": {"SlurmConfigStrategy": "Merge"}}
    assert judge_update(ID, baseline, template).findings == ()


def test_other_subnets_under_the_same_name_fail(judge_update, baseline, template):
    _cluster(template)["VpcConfig"]["Subnets"] = ["subnet-0123456789abcdef0"]
    (finding,) = judge_update(ID, baseline, template).failures
    assert finding.path == ("VpcConfig",)
    assert "another cluster, under the name 'llm-train' that the present one has" in finding.message


def test_a_subnet_that_the_update_replaces_fails(judge_update, baseline, template):
    template["Resources"]["Subnet"]["Properties"]["AvailabilityZoneId"] = "usw2-az2"
    (finding,) = judge_update(ID, baseline, template).failures
    assert finding.path == ("VpcConfig",)


def test_another_name_loses_the_nodes(judge_update, baseline, template):
    _cluster(template)["ClusterName"] = "llm-train-2"
    (finding,) = judge_update(ID, baseline, template).failures
    assert finding.path == ("ClusterName",)
    assert "deletes the present one with all its nodes" in finding.message


def test_a_cluster_without_a_name_of_its_own_loses_the_nodes(judge_update, baseline, template):
    for side in (baseline, template):
        del _cluster(side)["ClusterName"]
    _cluster(template)["VpcConfig"]["Subnets"] = ["subnet-0123456789abcdef0"]
    (finding,) = judge_update(ID, baseline, template).failures
    assert "deletes the present one with all its nodes" in finding.message


def test_another_orchestrator_fails(judge_update, baseline, template):
    arn = "arn:aws:eks:us-west-2:111122223333:cluster/other"
    _cluster(template)["Orchestrator"] = {"Eks": {"ClusterArn": arn}}
    (finding,) = judge_update(ID, baseline, template).failures
    assert finding.path == ("Orchestrator", "Eks")


def test_an_eks_cluster_that_the_update_replaces_fails(judge_update, baseline, template):
    for side, key in ((baseline, "one"), (template, "other")):
        side["Resources"]["Eks"] = {
            "Type": "AWS::EKS::Cluster",
            "Properties": {"EncryptionConfig": [{"Resources": ["secrets"], "Provider": {"KeyArn": key}}]},
        }
        _cluster(side)["Orchestrator"] = {"Eks": {"ClusterArn": {"Fn::GetAtt": ["Eks", "Arn"]}}}
    (finding,) = judge_update(ID, baseline, template).failures
    assert finding.path == ("Orchestrator", "Eks")


def test_another_logical_id_for_the_same_name_fails(judge_update, baseline, template):
    template["Resources"]["Moved"] = template["Resources"].pop("Cluster")
    (finding,) = judge_update(ID, baseline, template).failures
    assert finding.logical_id == "Moved"
    assert "is Cluster in the baseline" in finding.message
    assert "creates a second cluster of the same name before it deletes the first" in finding.message


def test_a_baseline_of_another_cluster_is_told(judge_update, baseline, template):
    template["Resources"]["Moved"] = template["Resources"].pop("Cluster")
    template["Resources"]["Moved"]["Properties"]["ClusterName"] = "other"
    (finding,) = judge_update(ID, baseline, template, baseline_file="old.json").failures
    assert finding.file == "old.json"
    assert "cluster 'llm-train' is not in the new template" in finding.message
    assert "the template that this stack was deployed from" in finding.fix


@pytest.mark.parametrize("kind", ["String", "List<AWS::EC2::Subnet::Id>"])
def test_subnets_from_a_parameter_are_undetermined(judge_update, baseline, template, kind):
    template["Parameters"] = {"Net": {"Type": kind}}
    subnets = {"Ref": "Net"} if "List" in kind else [{"Ref": "Net"}]
    _cluster(template)["VpcConfig"]["Subnets"] = subnets
    (finding,) = judge_update(ID, baseline, template).findings
    assert finding.outcome == "undetermined"


def test_the_same_import_complies(judge_update, baseline, template):
    for side in (baseline, template):
        _cluster(side)["VpcConfig"]["Subnets"] = [{"Fn::ImportValue": "network-subnet"}]
    assert judge_update(ID, baseline, template).findings == ()
