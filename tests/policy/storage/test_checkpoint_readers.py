from __future__ import annotations

import pytest

ID = "CheckpointReaders"


def _statements(template):
    return template["Resources"]["CheckpointsPolicy"]["Properties"]["PolicyDocument"]["Statement"]


def test_listed_readers_comply(judge, template):
    assert judge(ID, template).outcome(ID) == "pass"


def test_no_denial_is_a_warning(judge, template):
    del _statements(template)[3]
    (finding,) = judge(ID, template).failures
    assert finding.severity == "warning"
    assert (
        "checkpoint bucket Checkpoints leaves to whoever has them in an identity policy s3:GetObject"
        in finding.message
    )


@pytest.mark.parametrize(
    "changes",
    [
        {"Action": "s3:GetObject"},
        {"Resource": {"Fn::Sub": "${Checkpoints.Arn}/public/*"}},
        {"Condition": {"ArnNotLike": {"aws:PrincipalArn": "*"}}},
        {"Condition": {"StringNotEquals": {"aws:SourceVpc": "vpc-0123456789abcdef0"}}},
    ],
    ids=str,
)
def test_a_weaker_denial_fails(judge, template, changes):
    _statements(template)[3].update(changes)
    assert judge(ID, template).outcome(ID) == "fail"


def test_readers_from_a_parameter_are_undetermined(judge, template):
    template["Parameters"] = {"Readers": {"Type": "CommaDelimitedList"}}
    _statements(template)[3]["Condition"]["ArnNotEquals"]["aws:PrincipalArn"] = {"Ref": "Readers"}
    assert judge(ID, template).outcome(ID) == "undetermined"


@pytest.mark.parametrize(
    "changes",
    [
        {"Action": "s3:Get*"},
        {"Action": ["s3:*"]},
        {"Resource": {"Fn::Join": ["", [{"Fn::GetAtt": "Checkpoints.Arn"}, "/*"]]}},
    ],
    ids=str,
)
def test_wider_denials_comply(judge, template, changes):
    statements = _statements(template)
    statements.append({**statements[3], **changes})
    assert judge(ID, template).findings == ()


def test_scripts_may_be_read(judge, template):
    del template["Resources"]["ScriptsPolicy"]["Properties"]["PolicyDocument"]["Statement"][3]
    assert judge(ID, template).findings == ()
