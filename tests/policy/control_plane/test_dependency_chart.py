from __future__ import annotations

import pytest

ID = "DependencyChart"


def _chart(template):
    return template["Resources"]["Chart"]


def _without_chart(template):
    template["Resources"]["Cluster"]["DependsOn"].remove("Chart")
    return template["Resources"].pop("Chart")


def test_a_chart_before_the_nodes_complies(judge, eks_template):
    assert judge(ID, eks_template).outcome(ID) == "pass"


@pytest.mark.parametrize(
    ("kind", "properties"),
    [
        ("Custom::AWSCDK-EKS-HelmChart", {"Chart": "hyperpod-helm-chart"}),
        ("Custom::Helm", {"Path": "sagemaker-hyperpod-cli/helm_chart/HyperPodHelmChart"}),
        (
            "AWS::CloudFormation::CustomResource",
            {"Repositories": ["https://github.com/aws/sagemaker-hyperpod-cli.git"]},
        ),
        ("Custom::Helm", {"Values": {"Fn::Sub": "${AWS::Region} hyperpod-dependencies"}}),
    ],
)
def test_other_ways_of_installing_it_comply(judge, eks_template, kind, properties):
    eks_template["Resources"]["Chart"] = {"Type": kind, "Properties": properties}
    assert judge(ID, eks_template).outcome(ID) == "pass"


def test_a_chart_that_the_nodes_do_not_wait_for_fails(judge, eks_template):
    eks_template["Resources"]["Cluster"]["DependsOn"].remove("Chart")
    (finding,) = judge(ID, eks_template).failures
    assert (finding.logical_id, finding.severity) == ("Cluster", "error")
    assert "does not wait for Chart (Custom::AWSCDK-EKS-HelmChart)" in finding.message


def test_nothing_that_could_install_it_fails(judge, eks_template):
    _without_chart(eks_template)
    (finding,) = judge(ID, eks_template).failures
    assert "nothing comes between EKS cluster Eks and this" in finding.message


def test_a_chart_in_another_cluster_does_not_count(judge, eks_template):
    eks_template["Resources"]["Other"] = {"Type": "AWS::EKS::Cluster", "Properties": {"Name": "other"}}
    _chart(eks_template)["Properties"]["ClusterName"] = {"Ref": "Other"}
    assert judge(ID, eks_template).outcome(ID) == "fail"


@pytest.mark.parametrize("kind", ["Custom::Setup", "AWS::CloudFormation::Stack"])
def test_what_may_install_it_is_undetermined(judge, eks_template, kind):
    chart = _without_chart(eks_template)
    chart.update(Type=kind, Properties={"Parameters": {"Name": {"Ref": "Eks"}}})
    eks_template["Resources"]["Setup"] = chart
    eks_template["Resources"]["Cluster"]["DependsOn"].append("Setup")
    (finding,) = judge(ID, eks_template).findings
    assert finding.outcome == "undetermined"
    assert "whether Setup installs the chart cannot be seen" in finding.message


def test_what_comes_after_or_beside_cannot_install_it(judge, eks_template):
    chart = _without_chart(eks_template)
    chart.update(Type="Custom::Setup", Properties={"Name": {"Ref": "Eks"}})
    eks_template["Resources"]["Setup"] = chart
    assert judge(ID, eks_template).outcome(ID) == "fail"


def test_an_eks_cluster_that_is_there_already_has_nothing_to_say(judge, eks_template):
    _without_chart(eks_template)
    cluster = eks_template["Resources"]["Cluster"]["Properties"]
    cluster["Orchestrator"] = {"Eks": {"ClusterArn": {"Fn::ImportValue": "eks"}}}
    assert judge(ID, eks_template).verdicts == ()


def test_a_chart_under_a_condition_says_when(judge, eks_template):
    eks_template["Conditions"] = {"Helm": {"Fn::Equals": [{"Ref": "AWS::Region"}, "us-east-1"]}}
    _chart(eks_template)["Condition"] = "Helm"
    (finding,) = judge(ID, eks_template).failures
    assert finding.when == "parameters and conditions have their defaults"


def test_slurm_needs_no_chart(judge, template):
    assert judge(ID, template).verdicts == ()
