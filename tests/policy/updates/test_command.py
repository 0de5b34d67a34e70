"""`hyperpod-review --baseline OLD NEW` shows what is fixed for a group, though not for CloudFormation."""

from __future__ import annotations

import copy
import json

from hyperpod_model.catalog.updates import FIXED_GROUP_SETTINGS
from hyperpod_policy.command import main

_ROLE = "arn:aws:iam::111122223333:role/"


def _group(name, **more):
    return {
        "InstanceGroupName": name,
        "InstanceType": "ml.p5.48xlarge",
        "InstanceCount": 2,
        "ExecutionRole": f"{_ROLE}Nodes",
        "ThreadsPerCore": 1,
        "SlurmConfig": {"NodeType": "Compute", "PartitionNames": ["train"]},
        "OverrideVpcConfig": {
            "Subnets": ["subnet-0123456789abcdef0"],
            "SecurityGroupIds": ["sg-0123456789abcdef0"],
        },
        "InstanceStorageConfigs": [{"EbsVolumeConfig": {"RootVolume": True, "VolumeKmsKeyId": "alias/one"}}],
        **more,
    }


_CHANGES = {
    ("InstanceType",): "ml.p5e.48xlarge",
    ("ExecutionRole",): f"{_ROLE}Others",
    ("ThreadsPerCore",): 2,
    ("OverrideVpcConfig", "Subnets"): ["subnet-0123456789abcdef1"],
    ("OverrideVpcConfig", "SecurityGroupIds"): ["sg-0123456789abcdef1"],
    ("SlurmConfig", "NodeType"): "Login",
    ("InstanceStorageConfigs", 0, "EbsVolumeConfig", "VolumeKmsKeyId"): "alias/other",
    ("CapacityRequirements",): {"Spot": {}},
}


def test_every_fixed_setting_is_changed_below():
    assert {setting.path for setting in FIXED_GROUP_SETTINGS} <= set(_CHANGES)


def test_each_changed_setting_is_shown_with_its_line(tmp_path, template, capsys):
    properties = template["Resources"]["Cluster"]["Properties"]
    properties["InstanceGroups"] = [_group(f"group-{number}") for number in range(len(_CHANGES))]
    properties["InstanceGroups"].append(_group("switched"))
    old = tmp_path / "old.json"
    old.write_text(json.dumps(template))
    changed = copy.deepcopy(template)
    groups = changed["Resources"]["Cluster"]["Properties"]["InstanceGroups"]
    for group, (path, value) in zip(groups, _CHANGES.items(), strict=False):
        place = group
        for step in path[:-1]:
            place = place[step]
        place[path[-1]] = value
    groups[-1]["InstanceRequirements"] = {"InstanceTypes": [groups[-1].pop("InstanceType")]}
    new = tmp_path / "new.json"
    new.write_text(json.dumps(changed, indent=1))
    code = main(["--baseline", str(old), str(new), "--format", "json", "--rules", "GroupSettings"])
    findings = json.loads(capsys.readouterr().out)["findings"]
    assert code == 1
    assert {finding["rule_id"] for finding in findings} == {"GroupSettings"}
    assert [finding["path"].partition("]")[0] for finding in findings] == [
        f"InstanceGroups[{number}" for number in range(len(_CHANGES) + 1)
    ]
    lines = new.read_text().splitlines()
    for finding, (path, _) in zip(findings, _CHANGES.items(), strict=False):
        assert f'"{path[-1]}"' in lines[finding["line"] - 1]
    assert main(["--baseline", str(old), str(old), "--rules", "GroupSettings"]) == 0
