from __future__ import annotations

ID = "LustreEncryption"


def _properties(template):
    return template["Resources"]["FileSystem"]["Properties"]


def test_a_rotating_key_complies(judge, template):
    assert judge(ID, template).outcome(ID) == "pass"


def test_no_key_is_a_warning(judge, template):
    del _properties(template)["KmsKeyId"]
    (finding,) = judge(ID, template).failures
    assert finding.severity == "warning"
    assert "is encrypted with the AWS managed key of FSx" in finding.message


def test_a_key_that_never_rotates_fails(judge, template):
    template["Resources"]["Key"]["Properties"] = {}
    (finding,) = judge(ID, template).failures
    assert finding.logical_id == "Key"


def test_an_imported_key_is_undetermined(judge, template):
    _properties(template)["KmsKeyId"] = {"Fn::ImportValue": "key"}
    assert judge(ID, template).outcome(ID) == "undetermined"


def test_an_unresolved_type_is_undetermined(judge, template):
    template["Parameters"] = {"Type": {"Type": "String"}}
    _properties(template)["LustreConfiguration"]["DeploymentType"] = {"Ref": "Type"}
    assert judge(ID, template).outcome(ID) == "undetermined"


def test_another_spelling_of_the_key_complies(judge, template):
    _properties(template)["KmsKeyId"] = {"Fn::Sub": "${Key.Arn}"}
    assert judge(ID, template).findings == ()


def test_scratch_takes_no_key(judge, template):
    properties = _properties(template)
    del properties["KmsKeyId"]
    properties["LustreConfiguration"] = {"DeploymentType": "SCRATCH_2"}
    assert judge(ID, template).findings == ()


def test_a_file_system_of_others_is_left_alone(judge, template):
    template["Resources"]["Other"] = {
        "Type": "AWS::FSx::FileSystem",
        "Properties": {"FileSystemType": "LUSTRE", "SubnetIds": ["subnet-0123456789abcdef0"]},
    }
    assert judge(ID, template).findings == ()
