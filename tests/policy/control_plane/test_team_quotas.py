from __future__ import annotations

import pytest

ID = "TeamQuotas"
KIND = "ml.p5.48xlarge"


@pytest.fixture
def shared(eks_template):
    """A cluster of four nodes, two of which a team can count on."""
    eks_template["Resources"]["Cluster"]["Properties"]["InstanceGroups"] = [
        {"InstanceGroupName": "a", "InstanceType": KIND, "InstanceCount": 3},
        {"InstanceGroupName": "b", "InstanceType": KIND, "InstanceCount": "1"},
    ]
    del eks_template["Resources"]["Quota"]
    _quota(eks_template, "Research", [{"InstanceType": KIND, "Count": 2}])
    return eks_template


def _quota(template, name, resources, **more):
    template["Resources"][name] = {
        "Type": "AWS::SageMaker::ComputeQuota",
        "Properties": {
            "Name": name,
            "ClusterArn": {"Fn::GetAtt": ["Cluster", "ClusterArn"]},
            "ComputeQuotaTarget": {"TeamName": name.lower()},
            "ComputeQuotaConfig": {"ComputeQuotaResources": resources},
            **more,
        },
    }


def test_quotas_that_fit_comply(judge, shared):
    _quota(shared, "Product", [{"InstanceType": KIND, "Count": 2}])
    assert judge(ID, shared).outcome(ID) == "pass"
    assert judge(ID, shared).findings == ()


@pytest.mark.parametrize(
    ("resources", "words"),
    [
        (
            [{"InstanceType": KIND, "Count": 3}],
            "quotas promise 5 instances of ml.p5.48xlarge, and the cluster has 4",
        ),
        (
            [{"InstanceType": "ml.p4d.24xlarge", "Count": 1}],
            "ml.p4d.24xlarge: the cluster has no such instances",
        ),
        ([], "is empty; say how many instances"),
    ],
    ids=["together", "type", "empty"],
)
def test_quotas_beyond_the_cluster_fail(judge, shared, resources, words):
    _quota(shared, "Product", resources)
    (finding,) = judge(ID, shared).failures
    assert (finding.logical_id, finding.severity) == ("Product", "warning")
    assert finding.path == ("ComputeQuotaConfig", "ComputeQuotaResources")
    assert words in finding.message


def test_a_team_with_two_quotas_fails(judge, shared):
    _quota(
        shared,
        "Again",
        [{"InstanceType": KIND, "Count": 1}],
        ComputeQuotaTarget={"TeamName": "research"},
    )
    (finding,) = judge(ID, shared).failures
    assert (finding.logical_id, finding.path) == ("Again", ("ComputeQuotaTarget", "TeamName"))


@pytest.mark.parametrize(
    "resources",
    [
        {"Fn::ImportValue": "resources"},
        [{"InstanceType": {"Fn::ImportValue": "type"}, "Count": 9}],
    ],
    ids=str,
)
def test_quotas_of_unknown_instances_are_undetermined(judge, shared, resources):
    _quota(shared, "Product", resources)
    assert judge(ID, shared).failures == ()
    assert judge(ID, shared).outcome(ID) == "undetermined"


@pytest.mark.parametrize("change", ["off", "elsewhere", "parts", "scales", "unknown", "types"])
def test_what_may_fit_complies(judge, shared, change):
    _quota(shared, "Product", [{"InstanceType": KIND, "Count": 9}])
    product = shared["Resources"]["Product"]["Properties"]
    cluster = shared["Resources"]["Cluster"]["Properties"]
    if change == "off":
        product["ActivationState"] = "Disabled"
    elif change == "elsewhere":
        product["ClusterArn"] = {"Fn::ImportValue": "cluster"}
    elif change == "parts":
        product["ComputeQuotaConfig"]["ComputeQuotaResources"] = [{"InstanceType": KIND, "Accelerators": 4}]
    elif change == "scales":
        cluster["AutoScaling"] = {"Mode": "Enable"}
    elif change == "unknown":
        cluster["InstanceGroups"][0]["InstanceCount"] = {"Fn::ImportValue": "count"}
    else:
        cluster["InstanceGroups"] = {"Fn::ImportValue": "groups"}
    assert judge(ID, shared).failures == ()
    assert judge(ID, shared).outcome(ID) == "pass"


def test_without_quotas_nothing_is_judged(judge, eks_template):
    del eks_template["Resources"]["Quota"]
    report = judge(ID, eks_template)
    assert (report.findings, report.outcome(ID)) == ((), None)
