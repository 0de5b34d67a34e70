from __future__ import annotations

import pytest

ID = "LustreRemoval"
NEEDED = ["Key", "LustreGroup", "Subnet", "Vpc"]


def _retain(template, *names):
    for name in ("FileSystem", *NEEDED):
        template["Resources"][name]["DeletionPolicy"] = "Retain" if name in names else "Delete"


def test_a_final_backup_complies(judge, template):
    assert judge(ID, template).outcome(ID) == "pass"


def test_no_backup_fails(judge, template):
    del template["Resources"]["FinalBackup"]
    (finding,) = judge(ID, template).failures
    assert finding.severity == "error"
    assert "DeletionPolicy Delete deletes its data with the stack" in finding.message


def test_retained_as_a_whole_is_a_warning(judge, template):
    _retain(template, "FileSystem", *NEEDED)
    (finding,) = judge(ID, template).failures
    assert finding.severity == "warning"
    assert "is retained without a final backup" in finding.message


@pytest.mark.parametrize("missing", NEEDED)
def test_half_retained_fails(judge, template, missing):
    _retain(template, "FileSystem", *(name for name in NEEDED if name != missing))
    (finding,) = judge(ID, template).failures
    assert finding.severity == "error"
    assert f"is retained, but it needs {missing}, deleted with" in finding.message


def test_what_others_own_is_not_asked_for(judge, template):
    _retain(template, "FileSystem", "Key", "LustreGroup")
    template["Resources"]["FileSystem"]["Properties"]["SubnetIds"] = [{"Fn::ImportValue": "subnet"}]
    (finding,) = judge(ID, template).failures
    assert finding.severity == "warning"


def test_a_backup_of_another_file_system_does_not_count(judge, template):
    template["Resources"]["FinalBackup"]["Properties"]["FileSystemId"] = "fs-0123456789abcdef0"
    assert judge(ID, template).outcome(ID) == "fail"


def test_a_backup_that_exists_sometimes_says_when(judge, template):
    template["Parameters"] = {"Backup": {"Type": "String"}}
    template["Conditions"] = {"WithBackup": {"Fn::Equals": [{"Ref": "Backup"}, "yes"]}}
    template["Resources"]["FinalBackup"]["Condition"] = "WithBackup"
    (finding,) = judge(ID, template).failures
    assert finding.when
    assert judge(ID, template, parameters={"Backup": "yes"}).findings == ()


def test_other_kinds_of_file_system_are_left_alone(judge, template):
    template["Resources"]["FileSystem"]["Properties"]["FileSystemType"] = "WINDOWS"
    assert judge(ID, template).verdicts == ()


def test_a_parameter_as_policy_is_undetermined(judge, template):
    template["Parameters"] = {"Policy": {"Type": "String"}}
    template["Resources"]["FileSystem"]["DeletionPolicy"] = {"Ref": "Policy"}
    assert judge(ID, template).outcome(ID) == "undetermined"


def test_a_final_backup_needs_its_key(judge, template):
    template["Resources"]["Key"]["DeletionPolicy"] = "Delete"
    (finding,) = judge(ID, template).failures
    assert finding.logical_id == "Key"
    assert "the final backup of the file system cannot be restored without it" in finding.message


@pytest.mark.parametrize("attribute", ["DeletionPolicy", "UpdateReplacePolicy"])
def test_a_backup_needs_its_key(judge, template, attribute):
    del template["Resources"]["Key"][attribute]
    (finding,) = judge(ID, template).failures
    assert (finding.logical_id, finding.rule_id) == ("Key", ID)
    assert "cannot be restored without it" in finding.message


def _statement(template):
    (policy,) = template["Resources"]["BackupRole"]["Properties"]["Policies"]
    return policy["PolicyDocument"]["Statement"]


def test_a_function_that_may_take_no_backup_fails(judge, template):
    _statement(template)[0]["Action"] = "fsx:DescribeBackups"
    (finding,) = judge(ID, template).failures
    assert finding.logical_id == "BackupRole"
    assert "may not fsx:CreateBackup" in finding.message


def test_a_permission_that_may_stand_elsewhere_is_undetermined(judge, template):
    _statement(template).clear()
    template["Resources"]["BackupRole"]["Properties"]["ManagedPolicyArns"] = [{"Fn::ImportValue": "policy"}]
    assert judge(ID, template).outcome(ID) == "undetermined"


@pytest.mark.parametrize(
    "token",
    [{"Fn::ImportValue": "backups"}, "arn:aws:lambda:us-west-2:444455556666:function:backups"],
    ids=str,
)
def test_a_function_of_elsewhere_is_undetermined(judge, template, token):
    template["Resources"]["FinalBackup"]["Properties"]["ServiceToken"] = token
    report = judge(ID, template)
    assert report.outcome(ID) == "undetermined"
    assert "takes a backup is not in this template" in report.text()
