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
