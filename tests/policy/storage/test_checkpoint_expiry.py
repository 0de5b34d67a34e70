from __future__ import annotations

import pytest

ID = "CheckpointExpiry"


def _rule(template, bucket="Checkpoints", **rule):
    template["Parameters"] = {"Days": {"Type": "Number"}}
    properties = template["Resources"][bucket]["Properties"]
    properties["LifecycleConfiguration"] = {"Rules": [{"Status": "Enabled", **rule}]}


def test_expiry_of_old_versions_complies(judge, template):
    assert judge(ID, template).outcome(ID) == "pass"
    assert judge(ID, template).findings == ()


@pytest.mark.parametrize(
    ("rule", "outcome"),
    [
        ({"ExpirationInDays": 1}, "fail"),
        ({"ExpirationInDays": "29"}, "fail"),
        ({"ExpirationInDays": 30}, "pass"),
        ({"ExpirationInDays": 1, "Status": "Disabled"}, "pass"),
        ({"ExpirationInDays": {"Ref": "Days"}}, "undetermined"),
        ({"Transitions": [{"StorageClass": "DEEP_ARCHIVE", "TransitionInDays": 1}]}, "fail"),
        ({"Transition": {"StorageClass": "GLACIER", "TransitionInDays": 7}}, "fail"),
        ({"Transitions": [{"StorageClass": "GLACIER", "TransitionInDays": 90}]}, "pass"),
        ({"Transitions": [{"StorageClass": "INTELLIGENT_TIERING", "TransitionInDays": 0}]}, "pass"),
        ({"Transitions": [{"StorageClass": "GLACIER", "TransitionInDays": {"Ref": "Days"}}]}, "pass"),
    ],
    ids=str,
)
def test_how_long_checkpoints_stay(judge, template, rule, outcome):
    _rule(template, **rule)
    report = judge(ID, template)
    assert report.outcome(ID) == outcome
    assert {finding.severity for finding in report.failures} <= {"warning"}


def test_the_finding_says_how_long(judge, template):
    _rule(template, ExpirationInDays=3)
    (finding,) = judge(ID, template).failures
    assert finding.path == ("LifecycleConfiguration", "Rules", 0, "ExpirationInDays")
    assert "checkpoint bucket Checkpoints deletes current checkpoints after 3 days" in finding.message


def test_other_buckets_are_left_alone(judge, template):
    for bucket in ("Scripts", "Logs"):
        _rule(template, bucket, ExpirationInDays=1)
    assert judge(ID, template).findings == ()
