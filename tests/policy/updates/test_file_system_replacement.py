from __future__ import annotations

import pytest

ID = "FileSystemReplacement"


def _file_system(template):
    return template["Resources"]["FileSystem"]["Properties"]


def test_the_same_template_complies(judge_update, baseline, template):
    assert judge_update(ID, baseline, template).outcome(ID) == "pass"


def test_more_capacity_and_throughput_comply(judge_update, baseline, template):
    _file_system(template)["StorageCapacity"] = 9600
    _file_system(template)["LustreConfiguration"]["PerUnitStorageThroughput"] = 500
    assert judge_update(ID, baseline, template).findings == ()


@pytest.mark.parametrize(
    ("member", "value"),
    [
        ("KmsKeyId", "alias/other"),
        ("SubnetIds", ["subnet-0123456789abcdef0"]),
        ("SecurityGroupIds", ["sg-0123456789abcdef0"]),
        ("FileSystemType", "OPENZFS"),
        ("BackupId", "backup-0123456789abcdef0"),
    ],
)
def test_what_cloudformation_cannot_change_is_never_a_pass(judge_update, baseline, template, member, value):
    _file_system(template)[member] = value
    (finding,) = judge_update(ID, baseline, template).findings
    assert finding.path == (member,)
    assert "makes an empty file system in its place" in finding.message


@pytest.mark.parametrize(("member", "value"), [("DeploymentType", "SCRATCH_2"), ("EfaEnabled", True)])
def test_what_a_file_system_is_created_with_fails(judge_update, baseline, template, member, value):
    _file_system(template)["LustreConfiguration"][member] = value
    (finding,) = judge_update(ID, baseline, template).failures
    assert finding.path == ("LustreConfiguration", member)
    assert "no entries for nested properties" in finding.message


def test_less_capacity_fails(judge_update, baseline, template):
    _file_system(template)["StorageCapacity"] = 1200
    (finding,) = judge_update(ID, baseline, template).failures
    assert "shrinks from 4800 to 1200 GiB; expected: as much capacity or more" in finding.message


def test_a_replaced_subnet_takes_the_file_system_with_it(judge_update, baseline, template):
    template["Resources"]["Subnet"]["Properties"]["CidrBlock"] = "10.0.128.0/17"
    (finding,) = judge_update(ID, baseline, template).failures
    assert finding.path == ("SubnetIds",)


@pytest.mark.parametrize(("policy", "severity"), [("Delete", "error"), ("Retain", "warning")])
def test_a_file_system_that_is_gone_fails(judge_update, baseline, template, policy, severity):
    baseline["Resources"]["FileSystem"]["DeletionPolicy"] = policy
    del template["Resources"]["FileSystem"]
    (finding,) = judge_update(ID, baseline, template).failures
    assert finding.severity == severity
    assert "is not in the new template" in finding.message


def test_a_key_from_a_parameter_is_undetermined(judge_update, baseline, template):
    template["Parameters"] = {"Key": {"Type": "String"}}
    _file_system(template)["KmsKeyId"] = {"Ref": "Key"}
    assert judge_update(ID, baseline, template).outcome(ID) == "undetermined"
