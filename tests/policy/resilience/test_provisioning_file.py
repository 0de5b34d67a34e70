from __future__ import annotations

import pytest

ID = "SlurmProvisioningFile"
FILE = "provisioning_parameters.json"


def _write(template, kind="Custom::Object", bucket="Scripts", key=f"abc/{FILE}"):
    template["Resources"]["File"] = {
        "Type": kind,
        "Properties": {"Bucket": {"Ref": bucket}, "Key": key, "Body": "{}"},
    }


def _classic(template):
    properties = template["Resources"]["Cluster"]["Properties"]
    del properties["NodeProvisioningMode"]
    for group in properties["InstanceGroups"]:
        del group["SlurmConfig"]
    return properties


def test_scripts_without_the_file_comply(judge, template):
    assert judge(ID, template).outcome(ID) == "pass"


@pytest.mark.parametrize("kind", ["Custom::Object", "AWS::CloudFormation::CustomResource"])
@pytest.mark.parametrize("key", [f"abc/{FILE}", {"Fn::Sub": f"${{AWS::Region}}/{FILE}"}], ids=str)
def test_the_file_among_the_scripts_fails(judge, template, kind, key):
    _write(template, kind, key=key)
    (finding,) = judge(ID, template).failures
    assert finding.logical_id == "File"
    assert f"writes {FILE} to the scripts of Cluster" in finding.message


def test_slurm_configuration_alone_is_enough(judge, template):
    _write(template)
    del template["Resources"]["Cluster"]["Properties"]["NodeProvisioningMode"]
    assert judge(ID, template).outcome(ID) == "fail"


def test_the_file_elsewhere_is_undetermined(judge, template):
    _write(template, bucket="Logs")
    (finding,) = judge(ID, template).findings
    assert finding.outcome == "undetermined"


def test_a_function_that_names_it_is_undetermined(judge, template):
    template["Resources"]["Writer"] = {
        "Type": "AWS::Lambda::Function",
        "Properties": {"Code": {"ZipFile": f"s3.put_object(Key='{FILE}')"}},
    }
    (finding,) = judge(ID, template).findings
    assert (finding.outcome, finding.logical_id) == ("undetermined", "Writer")


def test_an_unresolved_mode_is_undetermined(judge, template):
    template["Parameters"] = {"Mode": {"Type": "String"}}
    _classic(template)["NodeProvisioningMode"] = {"Ref": "Mode"}
    assert judge(ID, template).verdicts == ()
    _write(template)
    assert judge(ID, template).outcome(ID) == "undetermined"


def test_both_branches_are_judged(judge, template):
    template["Conditions"] = {"New": {"Fn::Equals": [{"Ref": "AWS::Region"}, "us-east-1"]}}
    mode = {"Fn::If": ["New", "Continuous", {"Ref": "AWS::NoValue"}]}
    _classic(template)["NodeProvisioningMode"] = mode
    _write(template)
    (finding,) = judge(ID, template).failures
    assert finding.when == "condition New is true"


def test_a_classic_cluster_reads_it(judge, template):
    _classic(template)
    _write(template)
    assert judge(ID, template).verdicts == ()


def test_eks_has_no_such_file(judge, eks_template):
    _write(eks_template)
    assert judge(ID, eks_template).verdicts == ()
