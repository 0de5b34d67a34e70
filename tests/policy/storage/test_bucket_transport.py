from __future__ import annotations

import pytest

ID = "BucketTransport"


def _denial(template, bucket="Checkpoints"):
    return template["Resources"][f"{bucket}Policy"]["Properties"]["PolicyDocument"]["Statement"][0]


def test_tls_only_complies(judge, template):
    assert judge(ID, template).outcome(ID) == "pass"


@pytest.mark.parametrize(
    ("changes", "what"),
    [
        ({"Resource": {"Fn::GetAtt": "Checkpoints.Arn"}}, "its objects"),
        ({"Resource": {"Fn::Sub": "${Checkpoints.Arn}/*"}}, "the bucket"),
        ({"Action": "s3:GetObject"}, "writes to its objects"),
        ({"Condition": {"Bool": {"aws:SecureTransport": "true"}}}, "the bucket"),
        ({"Principal": {"AWS": "arn:aws:iam::111122223333:root"}}, "the bucket"),
        (
            {
                "Condition": {
                    "Bool": {"aws:SecureTransport": "false"},
                    "IpAddress": {"aws:SourceIp": "1.2.3.4"},
                }
            },
            "its objects",
        ),
    ],
    ids=str,
)
def test_a_gap_fails(judge, template, changes, what):
    _denial(template).update(changes)
    (finding,) = judge(ID, template).failures
    assert "admits unencrypted requests to" in finding.found
    assert what in finding.found


def test_no_policy_fails_at_the_bucket(judge, template):
    del template["Resources"]["ScriptsPolicy"]
    (finding,) = judge(ID, template).failures
    assert finding.logical_id == "Scripts"


def test_an_unresolved_statement_is_undetermined(judge, template):
    template["Parameters"] = {"Statement": {"Type": "String"}}
    statements = template["Resources"]["ScriptsPolicy"]["Properties"]["PolicyDocument"]["Statement"]
    statements[0] = {"Ref": "Statement"}
    report = judge(ID, template)
    assert report.outcome(ID) == "undetermined"
    assert "depends on unresolved values" in report.text()


def test_an_unresolved_condition_is_undetermined(judge, template):
    template["Parameters"] = {"Tls": {"Type": "String"}}
    _denial(template)["Condition"] = {"Bool": {"aws:SecureTransport": {"Ref": "Tls"}}}
    assert judge(ID, template).outcome(ID) == "undetermined"


@pytest.mark.parametrize(
    "changes",
    [
        {"Condition": {"Bool": {"aws:SecureTransport": False}}},
        {"Condition": {"BoolIfExists": {"AWS:securetransport": ["false"]}}},
        {"Action": "*", "Resource": "*"},
        {"Principal": {"AWS": "*"}},
    ],
    ids=str,
)
def test_other_spellings_comply(judge, template, changes):
    _denial(template).update(changes)
    assert judge(ID, template).findings == ()


def test_other_buckets_are_left_alone(judge, template):
    template["Resources"]["Web"] = {"Type": "AWS::S3::Bucket"}
    assert judge(ID, template).findings == ()
