from __future__ import annotations

import pytest

ID = "EfaLustreTraffic"


@pytest.fixture
def efa_file_system(template):
    resources = template["Resources"]
    resources["FileSystem"]["Properties"]["LustreConfiguration"]["EfaEnabled"] = True
    resources["FromFileSystem"] = {
        "Type": "AWS::EC2::SecurityGroupIngress",
        "Properties": {
            "GroupId": {"Ref": "NodeGroup"},
            "SourceSecurityGroupId": {"Ref": "LustreGroup"},
            "IpProtocol": "-1",
        },
    }
    return template


def test_the_exception_must_be_acknowledged_by_name(judge, efa_file_system):
    (finding,) = judge(ID, efa_file_system).failures
    assert finding.logical_id == "FromFileSystem"
    assert "to be acknowledged by name" in finding.message
    assert judge("CheckpointPorts", efa_file_system).findings == ()


@pytest.mark.parametrize(
    "source", [{"CidrIp": "10.0.0.0/16"}, {"SourceSecurityGroupId": "sg-0123456789abcdef0"}], ids=str
)
def test_a_file_system_that_admits_others_is_no_exception(judge, efa_file_system, source):
    efa_file_system["Resources"]["Wider"] = {
        "Type": "AWS::EC2::SecurityGroupIngress",
        "Properties": {"GroupId": {"Ref": "LustreGroup"}, "IpProtocol": "tcp", "FromPort": 988, **source},
    }
    assert judge(ID, efa_file_system).verdicts == ()
    assert judge("CheckpointPorts", efa_file_system).outcome("CheckpointPorts") == "fail"


def test_a_file_system_without_efa_is_no_exception(judge, efa_file_system):
    del efa_file_system["Resources"]["FileSystem"]["Properties"]["LustreConfiguration"]["EfaEnabled"]
    assert judge(ID, efa_file_system).verdicts == ()
    assert judge("CheckpointPorts", efa_file_system).outcome("CheckpointPorts") == "fail"


def test_unresolved_rules_of_the_file_system_are_no_exception(judge, efa_file_system):
    efa_file_system["Parameters"] = {"Rules": {"Type": "String"}}
    group = efa_file_system["Resources"]["LustreGroup"]["Properties"]
    group["SecurityGroupIngress"] = {"Ref": "Rules"}
    assert judge(ID, efa_file_system).verdicts == ()
    assert judge("CheckpointPorts", efa_file_system).outcome("CheckpointPorts") == "fail"


def test_other_spellings_of_the_same_groups_count(judge, efa_file_system):
    efa_file_system["Resources"]["FromFileSystem"]["Properties"] |= {
        "GroupId": {"Fn::GetAtt": "NodeGroup.GroupId"},
        "SourceSecurityGroupId": {"Fn::Sub": "${LustreGroup.GroupId}"},
    }
    assert judge(ID, efa_file_system).outcome(ID) == "fail"


def test_without_the_rule_there_is_nothing_to_say(judge, template):
    assert judge(ID, template).verdicts == ()
