from __future__ import annotations

import pytest

ID = "LustrePorts"


def test_open_ports_comply(judge, template):
    assert judge(ID, template).outcome(ID) == "pass"


@pytest.mark.parametrize(
    ("missing", "message"),
    [
        ("LustreFromNodes988", "admits no tcp 988 from the nodes"),
        ("LustreFromNodes1018", "admits no tcp 1018-1023 from the nodes"),
        ("LustreFromItself988", "admits no tcp 988 from its own security group"),
        ("NodesToLustre1018", "is reached by nodes that admit no tcp 1018-1023 to it"),
    ],
)
def test_each_closed_way_fails(judge, template, missing, message):
    del template["Resources"][missing]
    (finding,) = judge(ID, template).failures
    assert finding.logical_id == "FileSystem"
    assert message in finding.message


def test_fewer_ports_fail(judge, template):
    template["Resources"]["LustreFromNodes1018"]["Properties"]["FromPort"] = 1021
    assert judge(ID, template).outcome(ID) == "fail"


def test_an_imported_group_is_undetermined(judge, template):
    imported = {"Fn::ImportValue": "group"}
    template["Resources"]["FileSystem"]["Properties"]["SecurityGroupIds"] = [imported]
    for ports in ("988", "1018"):
        rule = template["Resources"][f"NodesToLustre{ports}"]["Properties"]
        rule["DestinationSecurityGroupId"] = imported
    assert judge(ID, template).outcome(ID) == "undetermined"


def test_egress_to_another_group_than_the_imported_one_fails(judge, template):
    template["Resources"]["FileSystem"]["Properties"]["SecurityGroupIds"] = [{"Fn::ImportValue": "group"}]
    (finding,) = judge(ID, template).failures
    assert "is reached by nodes that admit no tcp 988 and tcp 1018-1023 to it" in finding.message


def test_unresolved_ports_are_undetermined(judge, template):
    template["Parameters"] = {"Port": {"Type": "Number"}}
    template["Resources"]["LustreFromNodes988"]["Properties"]["FromPort"] = {"Ref": "Port"}
    assert judge(ID, template).outcome(ID) == "undetermined"


def test_address_ranges_are_undetermined(judge, template):
    rule = template["Resources"]["LustreFromNodes988"]["Properties"]
    del rule["SourceSecurityGroupId"]
    rule["CidrIp"] = "10.0.0.0/16"
    assert judge(ID, template).outcome(ID) == "undetermined"


def test_ports_as_text_comply(judge, template):
    template["Resources"]["LustreFromNodes988"]["Properties"] |= {"FromPort": "988", "ToPort": "988"}
    assert judge(ID, template).findings == ()


def test_wider_rules_comply(judge, template):
    resources = template["Resources"]
    del resources["LustreFromNodes1018"]
    resources["LustreFromNodes988"]["Properties"] |= {"FromPort": 900, "ToPort": 1100}
    assert judge(ID, template).findings == ()


def test_default_egress_reaches_the_file_system(judge, template):
    resources = template["Resources"]
    for name in ("NodesToLustre988", "NodesToLustre1018", "SelfEgress", "HttpsEgress"):
        del resources[name]
    assert judge(ID, template).findings == ()


def test_other_kinds_of_file_system_are_left_alone(judge, template):
    template["Resources"]["FileSystem"]["Properties"]["FileSystemType"] = "OPENZFS"
    assert judge(ID, template).verdicts == ()


@pytest.mark.parametrize(
    ("missing", "message"),
    [
        ("LustreToNodes988", "opens no tcp 988 to the nodes"),
        ("LustreToItself1018", "opens no tcp 1018-1023 to its own security group"),
        ("NodesFromLustre988", "is refused by nodes that admit no tcp 988 from the file system"),
    ],
)
def test_each_way_back_is_a_warning(judge, template, missing, message):
    del template["Resources"][missing]
    (finding,) = judge(ID, template).failures
    assert finding.severity == "warning"
    assert message in finding.message


def test_a_file_system_in_the_group_of_the_nodes_complies(judge, template):
    template["Resources"]["FileSystem"]["Properties"]["SecurityGroupIds"] = [{"Ref": "NodeGroup"}]
    assert judge(ID, template).outcome(ID) == "pass"
