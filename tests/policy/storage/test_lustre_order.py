from __future__ import annotations

ID = "LustreOrder"


def test_waiting_for_every_rule_complies(judge, template):
    assert judge(ID, template).outcome(ID) == "pass"


def test_a_rule_beside_fails(judge, template):
    template["Resources"]["FileSystem"]["DependsOn"].remove("LustreFromNodes988")
    (finding,) = judge(ID, template).failures
    assert "does not wait for the security-group rules LustreFromNodes988" in finding.message


def test_waiting_through_another_resource_complies(judge, template):
    resources = template["Resources"]
    resources["FileSystem"]["DependsOn"] = "Gate"
    resources["Gate"] = {
        "Type": "AWS::CloudFormation::WaitConditionHandle",
        "DependsOn": [name for name in resources if name.startswith("LustreFrom") or "LustreTo" in name],
    }
    assert judge(ID, template).findings == ()


def test_inline_rules_need_no_waiting(judge, template):
    resources = template["Resources"]
    resources["LustreGroup"]["Properties"]["SecurityGroupIngress"] = [
        {"IpProtocol": "tcp", "FromPort": 988, "ToPort": 988, "SourceSecurityGroupId": {"Ref": "NodeGroup"}}
    ]
    assert judge(ID, template).findings == ()


def test_a_rule_of_an_unresolved_group_is_not_asked_for(judge, template):
    template["Parameters"] = {"Group": {"Type": "String"}}
    template["Resources"]["LustreFromNodes988"]["Properties"]["GroupId"] = {"Ref": "Group"}
    template["Resources"]["FileSystem"]["DependsOn"].remove("LustreFromNodes988")
    assert judge(ID, template).findings == ()


def test_a_rule_that_does_not_exist_is_not_asked_for(judge, template):
    template["Conditions"] = {"Never": {"Fn::Equals": ["a", "b"]}}
    template["Resources"]["LustreFromNodes988"]["Condition"] = "Never"
    template["Resources"]["FileSystem"]["DependsOn"].remove("LustreFromNodes988")
    assert judge(ID, template).findings == ()


def test_rules_of_other_groups_are_not_asked_for(judge, template):
    assert "SelfIngress" not in template["Resources"]["FileSystem"]["DependsOn"]
    assert judge(ID, template).findings == ()
