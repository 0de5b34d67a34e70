from __future__ import annotations

import pytest

ID = "GroupSettings"
SUBNET = "subnet-0123456789abcdef0"
GROUP = "sg-0123456789abcdef0"


def _workers(template):
    return template["Resources"]["Cluster"]["Properties"]["InstanceGroups"][1]


def _own_network(subnet=SUBNET):
    return {"Subnets": [subnet], "SecurityGroupIds": [GROUP]}


def _volume(root=False, **more):
    return {"EbsVolumeConfig": {"RootVolume": True, **more} if root else {"VolumeSizeInGB": 500, **more}}


def test_the_same_template_complies(judge_update, baseline, template):
    report = judge_update(ID, baseline, template)
    assert report.findings == ()
    assert report.outcome(ID) == "pass"


@pytest.mark.parametrize(
    "change",
    [
        {"InstanceCount": 32},
        {"MinInstanceCount": 4},
        {"OnStartDeepHealthChecks": ["InstanceStress"]},
        {"LifeCycleConfig": {"SourceS3Uri": "s3://others/x", "OnCreate": "on_create.sh"}},
        {"SlurmConfig": {"NodeType": "Compute", "PartitionNames": ["other"]}},
    ],
    ids=lambda change: next(iter(change)),
)
def test_what_the_service_can_change_complies(judge_update, baseline, template, change):
    _workers(template).update(change)
    assert judge_update(ID, baseline, template).findings == ()


@pytest.mark.parametrize(
    ("change", "path", "words"),
    [
        ({"InstanceType": "ml.p5e.48xlarge"}, "InstanceType", "changes the instance type of group 'workers'"),
        ({"ExecutionRole": "arn:aws:iam::111122223333:role/Other"}, "ExecutionRole", "the execution role"),
        ({"ThreadsPerCore": 2}, "ThreadsPerCore", "the threads per core of group 'workers': from 1 to 2"),
        ({"SlurmConfig": {"NodeType": "Login"}}, "SlurmConfig", "the Slurm node type"),
        ({"OverrideVpcConfig": _own_network()}, "OverrideVpcConfig", "now says OverrideVpcConfig"),
        ({"CapacityRequirements": {"Spot": {}}}, "CapacityRequirements", "from the default to Spot"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_a_group_keeps_for_life_fails(judge_update, baseline, template, change, path, words):
    _workers(baseline)["ExecutionRole"] = "arn:aws:iam::111122223333:role/Nodes"
    _workers(template)["ExecutionRole"] = "arn:aws:iam::111122223333:role/Nodes"
    _workers(template).update(change)
    (finding,) = judge_update(ID, baseline, template).failures
    assert finding.path[:3] == ("InstanceGroups", 1, path)
    assert words in finding.message
    assert "add a group with a new name, such as 'workers-2'" in finding.message
    assert "use a new group name" in finding.fix


def test_another_role_of_the_template_fails(judge_update, baseline, template):
    role = template["Resources"]["NodeRole"]
    template["Resources"]["OtherRole"] = role
    _workers(template)["ExecutionRole"] = {"Fn::GetAtt": ["OtherRole", "Arn"]}
    (finding,) = judge_update(ID, baseline, template).failures
    assert "from NodeRole.Arn to OtherRole.Arn" in finding.message


def test_a_role_that_the_update_replaces_fails(judge_update, baseline, template):
    template["Resources"]["NodeRole"]["Properties"]["RoleName"] = "nodes"
    report = judge_update(ID, baseline, template)
    assert {finding.path[-1] for finding in report.findings} == {"ExecutionRole"}


def test_a_role_with_another_logical_id_and_the_same_name_complies(judge_update, baseline, template):
    baseline["Resources"]["NodeRole"]["Properties"]["RoleName"] = "nodes"
    template["Resources"]["Moved"] = template["Resources"].pop("NodeRole")
    template["Resources"]["Moved"]["Properties"]["RoleName"] = "nodes"
    for group in template["Resources"]["Cluster"]["Properties"]["InstanceGroups"]:
        group["ExecutionRole"] = {"Fn::GetAtt": ["Moved", "Arn"]}
    assert judge_update(ID, baseline, template).failures == ()


def test_a_changed_policy_of_the_role_complies(judge_update, baseline, template):
    template["Resources"]["NodeRole"]["Properties"]["Description"] = "nodes"
    assert judge_update(ID, baseline, template).findings == ()


@pytest.mark.parametrize("back", [False, True])
def test_a_switch_to_or_from_instance_requirements_fails(judge_update, baseline, template, back):
    group = _workers(template)
    group["InstanceRequirements"] = {"InstanceTypes": [group.pop("InstanceType")]}
    sides = (template, baseline) if back else (baseline, template)
    (finding,) = judge_update(ID, *sides).failures
    ways = ("InstanceRequirements", "InstanceType") if back else ("InstanceType", "InstanceRequirements")
    assert f"goes from {ways[0]} to {ways[1]}" in finding.message


def test_types_out_of_a_list_are_undetermined_and_further_ones_comply(judge_update, baseline, template):
    for side, types in ((baseline, ["ml.p5.48xlarge", "ml.p4d.24xlarge"]), (template, ["ml.p5.48xlarge"])):
        del _workers(side)["InstanceType"]
        _workers(side)["InstanceRequirements"] = {"InstanceTypes": types}
    (finding,) = judge_update(ID, baseline, template).findings
    assert finding.outcome == "undetermined"
    assert "takes ml.p4d.24xlarge out" in finding.message
    assert judge_update(ID, template, baseline).findings == ()


@pytest.mark.parametrize("root", [True, False], ids=["root", "secondary"])
def test_another_key_of_a_volume_fails(judge_update, baseline, template, root):
    _workers(baseline)["InstanceStorageConfigs"] = [_volume(root, VolumeKmsKeyId="alias/one")]
    _workers(template)["InstanceStorageConfigs"] = [_volume(root, VolumeKmsKeyId="alias/other")]
    (finding,) = judge_update(ID, baseline, template).failures
    words = "root" if root else "secondary"
    assert f"changes the key of the {words} volume of group 'workers'" in finding.message


@pytest.mark.parametrize("added", [True, False], ids=["added", "taken-away"])
def test_a_key_of_the_root_volume_that_comes_or_goes_fails(judge_update, baseline, template, added):
    """Every node has a root volume, with a key of AWS's where the group names none."""
    side = template if added else baseline
    _workers(side)["InstanceStorageConfigs"] = [_volume(True, VolumeKmsKeyId="alias/one")]
    (finding,) = judge_update(ID, baseline, template).failures
    ways = ("none", "alias/one") if added else ("alias/one", "none")
    assert f"the key of the root volume of group 'workers': from {ways[0]} to {ways[1]}" in finding.message


def test_a_secondary_volume_that_comes_complies(judge_update, baseline, template):
    _workers(template)["InstanceStorageConfigs"] = [_volume(VolumeKmsKeyId="alias/one")]
    assert judge_update(ID, baseline, template).findings == ()


def test_unresolved_volumes_are_left_to_the_review_of_each_side(judge_update, baseline, template):
    template["Parameters"] = {"All": {"Type": "CommaDelimitedList"}}
    _workers(template)["InstanceStorageConfigs"] = {"Ref": "All"}
    _workers(baseline)["InstanceStorageConfigs"] = [_volume(True, VolumeKmsKeyId="alias/one")]
    assert judge_update(ID, baseline, template).failures == ()


def test_a_group_that_becomes_a_restricted_one_fails(judge_update, baseline, template):
    properties = template["Resources"]["Cluster"]["Properties"]
    properties["RestrictedInstanceGroups"] = [properties["InstanceGroups"].pop(1)]
    (finding,) = judge_update(ID, baseline, template).failures
    assert finding.path == ("RestrictedInstanceGroups", 0)
    assert "goes from InstanceGroups to RestrictedInstanceGroups" in finding.message


def test_a_larger_volume_with_the_same_key_complies(judge_update, baseline, template):
    _workers(baseline)["InstanceStorageConfigs"] = [_volume(VolumeKmsKeyId={"Fn::GetAtt": ["Key", "Arn"]})]
    larger = _volume(VolumeKmsKeyId={"Fn::GetAtt": ["Key", "Arn"]})
    larger["EbsVolumeConfig"]["VolumeSizeInGB"] = 1000
    _workers(template)["InstanceStorageConfigs"] = [larger]
    assert judge_update(ID, baseline, template).findings == ()


def test_own_subnets_in_another_order_comply_and_others_fail(judge_update, baseline, template):
    others = ["subnet-0123456789abcdef1", SUBNET]
    _workers(baseline)["OverrideVpcConfig"] = {"Subnets": others, "SecurityGroupIds": [GROUP]}
    _workers(template)["OverrideVpcConfig"] = {"Subnets": others[::-1], "SecurityGroupIds": [GROUP]}
    assert judge_update(ID, baseline, template).findings == ()
    _workers(template)["OverrideVpcConfig"]["Subnets"] = [SUBNET]
    (finding,) = judge_update(ID, baseline, template).failures
    assert finding.path[-2:] == ("OverrideVpcConfig", "Subnets")


@pytest.mark.parametrize(
    "change",
    [
        {"InstanceType": {"Ref": "Type"}},
        {"ExecutionRole": {"Ref": "Role"}},
        {"CapacityRequirements": {"OnDemand": {}}},
    ],
    ids=lambda change: next(iter(change)),
)
def test_what_deployment_alone_can_tell_is_undetermined(judge_update, baseline, template, change):
    template["Parameters"] = {"Type": {"Type": "String"}, "Role": {"Type": "String"}}
    _workers(template).update(change)
    report = judge_update(ID, baseline, template)
    assert report.failures == ()
    assert report.outcome(ID) == "undetermined"


def test_threads_that_are_no_longer_said_are_undetermined(judge_update, baseline, template):
    del _workers(template)["ThreadsPerCore"]
    (finding,) = judge_update(ID, baseline, template).findings
    assert finding.outcome == "undetermined"
    assert "group 'workers' no longer says ThreadsPerCore" in finding.message


def test_the_same_parameter_complies_and_a_chosen_value_says_when(judge_update, baseline, template):
    for side in (baseline, template):
        side["Parameters"] = {"Type": {"Type": "String"}}
        _workers(side)["InstanceType"] = {"Ref": "Type"}
    assert judge_update(ID, baseline, template).findings == ()
    template["Parameters"] = {
        "Type": {"Type": "String"},
        "Stage": {"Type": "String", "Default": "dev", "AllowedValues": ["dev", "prod"]},
    }
    template["Conditions"] = {"Prod": {"Fn::Equals": [{"Ref": "Stage"}, "prod"]}}
    _workers(template)["InstanceType"] = {"Fn::If": ["Prod", "ml.p5.48xlarge", "ml.p4d.24xlarge"]}
    _workers(baseline)["InstanceType"] = "ml.p5.48xlarge"
    (finding,) = judge_update(ID, baseline, template).failures
    assert finding.when == "parameters and conditions have their defaults"


def test_a_group_of_a_new_name_complies(judge_update, baseline, template):
    _workers(template).update(InstanceGroupName="workers-2", InstanceType="ml.p5e.48xlarge")
    assert judge_update(ID, baseline, template).findings == ()
