from __future__ import annotations

import pytest

ID = "LustreSettings"


def _properties(template):
    return template["Resources"]["FileSystem"]["Properties"]


def test_legal_settings_comply(judge, template):
    assert judge(ID, template).outcome(ID) == "pass"


def test_an_illegal_capacity_fails(judge, template):
    _properties(template)["StorageCapacity"] = 5000
    (finding,) = judge(ID, template).failures
    assert finding.path == ("StorageCapacity",)
    assert "must be 1200 or a multiple of 2400 GiB for PERSISTENT_2, got 5000" in finding.message


@pytest.mark.parametrize("throughput", [50, 2000, None])
def test_an_illegal_throughput_fails(judge, template, throughput):
    configuration = _properties(template)["LustreConfiguration"]
    del configuration["PerUnitStorageThroughput"]
    if throughput is not None:
        configuration["PerUnitStorageThroughput"] = throughput
    (finding,) = judge(ID, template).failures
    assert finding.path == ("LustreConfiguration", "PerUnitStorageThroughput")


def test_efa_on_the_wrong_type_fails(judge, template):
    configuration = _properties(template)["LustreConfiguration"]
    configuration |= {"DeploymentType": "PERSISTENT_1", "PerUnitStorageThroughput": 100, "EfaEnabled": True}
    (finding,) = judge(ID, template).failures
    assert "PERSISTENT_1 cannot be reached through EFA" in finding.message


def test_an_unresolved_capacity_is_undetermined(judge, template):
    template["Parameters"] = {"Capacity": {"Type": "Number"}}
    _properties(template)["StorageCapacity"] = {"Ref": "Capacity"}
    (finding,) = judge(ID, template).findings
    assert (finding.outcome, finding.path) == ("undetermined", ("StorageCapacity",))


def test_a_capacity_from_a_parameter_counts(judge, template):
    template["Parameters"] = {"Capacity": {"Type": "Number", "Default": 4800}}
    _properties(template)["StorageCapacity"] = {"Ref": "Capacity"}
    assert judge(ID, template).outcome(ID) == "pass"
    assert judge(ID, template, parameters={"Capacity": "5000"}).outcome(ID) == "fail"


def test_text_counts_as_number(judge, template):
    _properties(template)["StorageCapacity"] = "4800"
    assert judge(ID, template).findings == ()


def test_a_file_system_from_a_backup_has_the_capacity_of_the_backup(judge, template):
    _properties(template).update(BackupId="backup-0123456789abcdef0", StorageCapacity=5000)
    assert judge(ID, template).outcome(ID) == "pass"


@pytest.mark.parametrize(
    ("storage", "configuration", "outcome", "words"),
    [
        ("HDD", {"DeploymentType": "PERSISTENT_1"}, "pass", ""),
        ("HDD", {"DeploymentType": "PERSISTENT_2"}, "fail", "PERSISTENT_2 takes no HDD storage"),
        (
            "HDD",
            {"DeploymentType": "PERSISTENT_1", "EfaEnabled": True},
            "fail",
            "cannot be reached through EFA",
        ),
        ("HDD", {"DeploymentType": {"Ref": "Given"}}, "undetermined", "is parameter Given"),
        ("INTELLIGENT_TIERING", {"DeploymentType": "PERSISTENT_2", "EfaEnabled": True}, "pass", ""),
        (
            "INTELLIGENT_TIERING",
            {"DeploymentType": "SCRATCH_2"},
            "fail",
            "takes no INTELLIGENT_TIERING storage",
        ),
        ("TAPE", {}, "fail", "is TAPE; expected: SSD, HDD, INTELLIGENT_TIERING"),
        ({"Ref": "Given"}, {}, "undetermined", "is parameter Given"),
    ],
    ids=str,
)
def test_other_storage(judge, template, storage, configuration, outcome, words):
    template["Parameters"] = {"Given": {"Type": "String"}}
    _properties(template)["StorageType"] = storage
    _properties(template)["LustreConfiguration"] = configuration
    report = judge(ID, template)
    assert report.outcome(ID) == outcome
    assert words in report.text()
