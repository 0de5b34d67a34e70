from __future__ import annotations

import pytest

ID = "DeepHealthChecks"


def _workers(template):
    return template["Resources"]["Cluster"]["Properties"]["InstanceGroups"][1]


def _tag(template, **tags):
    template["Resources"]["Cluster"]["Properties"]["Tags"] = [
        {"Key": f"hyperpod:{name.replace('_', '-')}", "Value": value} for name, value in tags.items()
    ]


def test_checked_nodes_comply(judge, template):
    report = judge(ID, template)
    assert report.outcome(ID) == "pass"
    assert len(report.verdicts) == 1  # the controller has nothing to check


@pytest.mark.parametrize("checks", [[], None])
def test_unchecked_nodes_fail(judge, template, checks):
    del _workers(template)["OnStartDeepHealthChecks"]
    if checks is not None:
        _workers(template)["OnStartDeepHealthChecks"] = checks
    (finding,) = judge(ID, template).failures
    assert finding.path == ("InstanceGroups", 1, "OnStartDeepHealthChecks")
    assert "none for accelerated group 'workers'" in finding.message


def test_a_group_that_can_be_checked_in_part_is_a_warning(judge, template):
    workers = _workers(template)
    del workers["OnStartDeepHealthChecks"]
    del workers["InstanceType"]
    workers["InstanceRequirements"] = {"InstanceTypes": ["ml.p5.48xlarge", "ml.m5.4xlarge"]}
    (finding,) = judge(ID, template).failures
    assert finding.severity == "warning"
    assert "can be checked in part" in finding.message
    workers["InstanceRequirements"] = {"InstanceTypes": ["ml.p5.48xlarge", "ml.p5e.48xlarge"]}
    (finding,) = judge(ID, template).failures
    assert finding.severity == "error"


@pytest.mark.parametrize("wait", ["avoid", "intolerable"])
def test_a_declared_absence_complies(judge, template, wait):
    del _workers(template)["OnStartDeepHealthChecks"]
    _tag(template, spare_nodes="0", replacement_wait=wait)
    assert judge(ID, template).outcome(ID) == "pass"


@pytest.mark.parametrize(
    "tags",
    [
        {"spare_nodes": "2", "replacement_wait": "intolerable"},
        {"spare_nodes": "0", "replacement_wait": "tolerable"},
        {"spare_nodes": "0"},
        {"spare_nodes": "0", "replacement_wait": "whatever"},
    ],
    ids=str,
)
def test_a_declaration_that_does_not_explain_it_fails(judge, template, tags):
    del _workers(template)["OnStartDeepHealthChecks"]
    _tag(template, **tags)
    assert judge(ID, template).outcome(ID) == "fail"


def test_a_second_step_that_is_due_is_a_warning(judge, template):
    _tag(template, spare_nodes="0", replacement_wait="avoid")
    (finding,) = judge(ID, template).failures
    assert finding.severity == "warning"
    assert "commissioned=True" in finding.fix


def test_checks_whose_wait_is_intolerable_are_a_warning(judge, template):
    _tag(template, spare_nodes="0", replacement_wait="intolerable")
    (finding,) = judge(ID, template).failures
    assert (finding.severity, finding.allowed) == ("warning", "off, or spare nodes")
    _tag(template, spare_nodes="1", replacement_wait="intolerable")
    assert judge(ID, template).findings == ()


@pytest.mark.parametrize("spares", ["16", 20])
def test_spares_that_leave_no_node_to_work_are_a_warning(judge, template, spares):
    _tag(template, spare_nodes=spares)
    (finding,) = judge(ID, template).failures
    assert (finding.path, finding.severity) == (("Tags",), "warning")
    assert f"must be fewer than the accelerated nodes of the cluster, which are 16, got {spares}" in (
        finding.message
    )


def test_spares_are_compared_with_known_nodes_only(judge, template):
    template["Parameters"] = {"Count": {"Type": "Number"}}
    _tag(template, spare_nodes="16")
    _workers(template)["InstanceCount"] = {"Ref": "Count"}
    assert judge(ID, template).findings == ()
    _tag(template, spare_nodes={"Ref": "Count"})
    assert judge(ID, template).findings == ()


def test_checks_from_a_parameter_are_undetermined(judge, template):
    template["Parameters"] = {"Checks": {"Type": "CommaDelimitedList"}}
    _workers(template)["OnStartDeepHealthChecks"] = {"Ref": "Checks"}
    assert judge(ID, template).outcome(ID) == "undetermined"
    assert judge(ID, template, parameters={"Checks": "InstanceStress"}).outcome(ID) == "pass"


def test_an_unresolved_type_is_undetermined(judge, template):
    template["Parameters"] = {"Type": {"Type": "String"}}
    _workers(template)["InstanceType"] = {"Ref": "Type"}
    del _workers(template)["OnStartDeepHealthChecks"]
    assert judge(ID, template).outcome(ID) == "undetermined"


def test_flexible_groups_count(judge, template):
    workers = _workers(template)
    del workers["OnStartDeepHealthChecks"], workers["InstanceType"]
    workers["InstanceRequirements"] = {"InstanceTypes": ["ml.p5.48xlarge", "ml.p5en.48xlarge"]}
    assert judge(ID, template).outcome(ID) == "fail"


@pytest.mark.parametrize("instance_type", ["ml.m5.2xlarge", "ml.trn1.32xlarge"])
def test_nodes_that_slurm_cannot_check_are_left_alone(judge, template, instance_type):
    workers = _workers(template)
    workers["InstanceType"] = instance_type
    del workers["OnStartDeepHealthChecks"]
    assert judge(ID, template).verdicts == ()


def test_trainium_is_checked_on_eks(judge, template):
    template["Resources"]["Cluster"]["Properties"]["Orchestrator"] = {"Eks": {"ClusterArn": "arn"}}
    workers = _workers(template)
    workers["InstanceType"] = "ml.trn1.32xlarge"
    del workers["OnStartDeepHealthChecks"]
    assert judge(ID, template).outcome(ID) == "fail"
