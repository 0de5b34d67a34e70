from __future__ import annotations

import pytest

ID = "BucketWriters"
BUCKETS = {"Scripts": "lifecycle script", "Checkpoints": "checkpoint"}


def _denial(template, bucket="Checkpoints"):
    return template["Resources"][f"{bucket}Policy"]["Properties"]["PolicyDocument"]["Statement"][2]


def test_listed_writers_comply(judge, template):
    report = judge(ID, template)
    assert report.outcome(ID) == "pass"
    assert {verdict.logical_id for verdict in report.verdicts} == {"ScriptsPolicy", "CheckpointsPolicy"}


@pytest.mark.parametrize("bucket", BUCKETS)
def test_no_policy_at_all_fails(judge, template, bucket):
    del template["Resources"][f"{bucket}Policy"]
    (finding,) = judge(ID, template).failures
    assert finding.logical_id == bucket
    assert f"{BUCKETS[bucket]} bucket {bucket} has no bucket policy" in finding.message


@pytest.mark.parametrize("bucket", BUCKETS)
def test_no_denial_fails(judge, template, bucket):
    del template["Resources"][f"{bucket}Policy"]["Properties"]["PolicyDocument"]["Statement"][2]
    (finding,) = judge(ID, template).failures
    assert "leaves to whoever has them in an identity policy s3:AbortMultipartUpload" in finding.message


@pytest.mark.parametrize(
    ("pattern", "action"),
    [
        ("s3:DeleteObject*", "s3:DeleteObject"),
        ("s3:PutObject*", "s3:PutObject"),
        ("s3:Replicate*", "s3:ReplicateObject"),
    ],
)
def test_each_missing_action_fails(judge, template, pattern, action):
    _denial(template)["Action"].remove(pattern)
    (finding,) = judge(ID, template).failures
    assert action in finding.found


@pytest.mark.parametrize(
    "changes",
    [
        {"Action": ["s3:PutObject"]},
        {"Effect": "Allow"},
        {"Principal": {"AWS": "arn:aws:iam::111122223333:role/Old"}},
        {"Principal": {"Service": "ec2.amazonaws.com"}},
        {"Resource": {"Fn::GetAtt": ["Checkpoints", "Arn"]}},
        {"Resource": {"Fn::Sub": "${Checkpoints.Arn}/runs/*"}},
        {"Resource": "arn:aws:s3:::some-other-bucket/*"},
        {"Condition": {"StringNotEquals": {"aws:PrincipalAccount": {"Ref": "AWS::AccountId"}}}},
        {"Condition": {"ArnNotLike": {"aws:PrincipalArn": "arn:aws:iam::*:role/*"}}},
        {"Condition": {"ArnNotEquals": {"aws:PrincipalArn": "*"}}},
        {"Condition": {"StringNotLike": {"aws:PrincipalArn": ["arn:aws:iam::111122223333:*"]}}},
        {"Condition": {"StringNotEquals": {"aws:SourceVpce": "vpce-0123456789abcdef0"}}},
        {"Condition": {"NotIpAddress": {"aws:SourceIp": "10.0.0.0/8"}}},
        {"Condition": {"Bool": {"aws:PrincipalIsAWSService": "true"}}},
        {"Condition": {"Null": {"aws:PrincipalArn": "true"}}},
        {"Condition": {"ArnEquals": {"aws:PrincipalArn": "arn:aws:iam::111122223333:role/Old"}}},
    ],
    ids=str,
)
def test_a_weaker_denial_fails(judge, template, changes):
    _denial(template).update(changes)
    assert judge(ID, template).outcome(ID) == "fail"


def test_a_weak_condition_is_pointed_at(judge, template):
    _denial(template)["Condition"] = {"StringNotEquals": {"aws:SourceVpce": "vpce-0123456789abcdef0"}}
    (finding,) = judge(ID, template).failures
    assert finding.path == ("PolicyDocument", "Statement", 2)
    assert "holds only if StringNotEquals aws:SourceVpce vpce-0123456789abcdef0" in finding.message


def test_not_action_that_leaves_writes_out_fails(judge, template):
    denial = _denial(template)
    del denial["Action"]
    denial["NotAction"] = ["s3:PutObject", "s3:GetObject"]
    (finding,) = judge(ID, template).failures
    assert finding.found.startswith(
        "checkpoint bucket Checkpoints leaves to whoever has them in an identity policy s3:PutObject;"
    )


def test_an_exempt_pattern_is_a_warning(judge, template):
    _denial(template)["Condition"] = {
        "ArnNotLike": {"aws:PrincipalArn": [{"Fn::Sub": "arn:aws:iam::${AWS::AccountId}:role/Train*"}]}
    }
    (finding,) = judge(ID, template).failures
    assert finding.severity == "warning"
    assert "exempts every principal whose ARN matches" in finding.message


@pytest.mark.parametrize(
    "changes",
    [
        {"Action": "s3:*"},
        {"Action": "*"},
        {"Principal": {"AWS": "*"}},
        {"Principal": {"AWS": ["*"]}},
        {"Resource": "*"},
        {"Resource": {"Fn::Sub": "arn:${AWS::Partition}:s3:::${Checkpoints}/*"}},
        {"Resource": {"Fn::Join": ["/", [{"Fn::GetAtt": "Checkpoints.Arn"}, "*"]]}},
        {"Condition": {"StringNotEquals": {"aws:PrincipalArn": {"Fn::GetAtt": ["NodeRole", "Arn"]}}}},
        {"Condition": {"ArnNotEqualsIfExists": {"aws:PrincipalArn": {"Fn::GetAtt": ["NodeRole", "Arn"]}}}},
        {"Condition": {"ArnNotLike": {"AWS:principalarn": {"Fn::GetAtt": ["NodeRole", "Arn"]}}}},
        {
            "Condition": {
                "ArnNotEquals": {"aws:PrincipalArn": {"Fn::ImportValue": "trainer-role"}},
                "BoolIfExists": {"aws:PrincipalIsAWSService": "false"},
            }
        },
    ],
    ids=str,
)
def test_other_spellings_of_the_same_denial_comply(judge, template, changes):
    _denial(template).update(changes)
    assert judge(ID, template).findings == ()


def test_one_denial_may_be_split(judge, template):
    statements = template["Resources"]["CheckpointsPolicy"]["Properties"]["PolicyDocument"]["Statement"]
    denial = statements.pop(2)
    statements += [{**denial, "Action": action} for action in denial["Action"]]
    assert judge(ID, template).findings == ()


def test_not_action_without_writes_complies(judge, template):
    denial = _denial(template)
    del denial["Action"]
    denial["NotAction"] = ["s3:GetObject", "s3:ListBucket"]
    assert judge(ID, template).findings == ()


def test_a_named_bucket_is_known_by_its_name(judge, template):
    template["Resources"]["Checkpoints"]["Properties"]["BucketName"] = "sagemaker-checkpoints"
    _denial(template)["Resource"] = "arn:aws:s3:::sagemaker-checkpoints/*"
    report = judge(ID, template)
    assert report.findings == ()
    assert len(report.verdicts) == len(BUCKETS)


def test_writers_from_a_parameter_are_undetermined(judge, template):
    template["Parameters"] = {"Writers": {"Type": "CommaDelimitedList"}}
    _denial(template)["Condition"]["ArnNotEquals"]["aws:PrincipalArn"] = {"Ref": "Writers"}
    report = judge(ID, template)
    assert report.outcome(ID) == "undetermined"
    assert "depends on unresolved values" in report.text()


def test_scripts_elsewhere_are_undetermined(judge, template):
    for group in template["Resources"]["Cluster"]["Properties"]["InstanceGroups"]:
        group["LifeCycleConfig"]["SourceS3Uri"] = "s3://sagemaker-shared-scripts/abc"
    findings = judge(ID, template).findings
    assert {finding.outcome for finding in findings} == {"undetermined"}
    assert "the bucket of s3://sagemaker-shared-scripts/abc is not in this template" in findings[0].message


def test_a_denial_in_one_branch_only_says_when(judge, template):
    template["Conditions"] = {"Locked": {"Fn::Equals": [{"Ref": "AWS::Region"}, "us-west-2"]}}
    statements = template["Resources"]["CheckpointsPolicy"]["Properties"]["PolicyDocument"]["Statement"]
    statements[2] = {"Fn::If": ["Locked", statements[2], {"Ref": "AWS::NoValue"}]}
    (finding,) = judge(ID, template).failures
    assert finding.when == "parameters and conditions have their defaults"
    assert judge(ID, template, region="us-west-2").findings == ()


def test_a_bucket_that_nodes_only_read_is_left_alone(judge, template):
    del template["Resources"]["CheckpointsPolicy"]
    statements = template["Resources"]["NodePolicy"]["Properties"]["PolicyDocument"]["Statement"]
    statements[1]["Action"] = ["s3:GetObject"]
    assert judge(ID, template).findings == ()


def test_a_tag_names_a_checkpoint_bucket(judge, template):
    statements = template["Resources"]["NodePolicy"]["Properties"]["PolicyDocument"]["Statement"]
    del statements[1], template["Resources"]["CheckpointsPolicy"]
    assert judge(ID, template).findings == ()
    template["Resources"]["Checkpoints"]["Properties"]["Tags"] = [
        {"Key": "hyperpod:checkpoint-bucket", "Value": "true"}
    ]
    assert judge(ID, template).outcome(ID) == "fail"


def test_a_name_that_is_part_of_another_is_no_name(judge, template):
    """A grant on bucket ``x-logs`` does not make bucket ``x`` a checkpoint bucket."""
    resources = template["Resources"]
    del resources["CheckpointsPolicy"]
    resources["Checkpoints"]["Properties"]["BucketName"] = "sagemaker-x"
    statements = resources["NodePolicy"]["Properties"]["PolicyDocument"]["Statement"]
    statements[1]["Resource"] = "arn:aws:s3:::sagemaker-x-logs/*"
    assert judge(ID, template).findings == ()
    statements[1]["Resource"] = "arn:aws:s3:::sagemaker-x/*"
    assert judge(ID, template).outcome(ID) == "fail"


def test_a_wildcard_names_no_bucket(judge, template):
    del template["Resources"]["CheckpointsPolicy"]
    statements = template["Resources"]["NodePolicy"]["Properties"]["PolicyDocument"]["Statement"]
    statements[1]["Resource"] = "*"
    assert judge(ID, template).findings == ()


def test_a_denial_without_exemption_shuts_writers_out(judge, template):
    del _denial(template)["Condition"]
    (finding,) = judge(ID, template).failures
    assert (finding.logical_id, finding.path) == ("CheckpointsPolicy", ("PolicyDocument", "Statement", 2))
    assert "denies object writes and deletes to everybody, its writers included" in finding.message


@pytest.mark.parametrize("member", ["Principal", "Resource"])
def test_a_denial_that_s3_refuses_is_none(judge, template, member):
    del _denial(template)[member]
    assert judge(ID, template).outcome(ID) == "fail"


def test_a_lock_that_opens_through_services_fails(judge, template):
    statement = template["Resources"]["CheckpointsPolicy"]["Properties"]["PolicyDocument"]["Statement"][2]
    statement["Condition"]["Bool"] = {"aws:ViaAWSService": "false"}
    (finding,) = judge(ID, template).failures
    assert "the denial holds only if" in finding.message
    assert "Bool aws:ViaAWSService false" in finding.message


@pytest.mark.parametrize(
    "exempt",
    [
        "${aws:PrincipalArn}",
        {"Fn::Sub": "arn:aws:iam::${AWS::AccountId}:role/${!aws:PrincipalTag/team}"},
        {"Fn::Sub": "arn:aws:iam::${AWS::AccountId}:${!aws:PrincipalTag/kind}"},
    ],
    ids=str,
)
@pytest.mark.parametrize("operator", ["ArnNotEquals", "StringNotLike"])
def test_a_policy_variable_of_the_callers_choice_exempts_everybody(judge, template, operator, exempt):
    _denial(template)["Condition"] = {operator: {"aws:PrincipalArn": [exempt]}}
    failures = judge(ID, template).failures
    assert any("leaves to whoever has them in an identity policy" in found.message for found in failures)


@pytest.mark.parametrize("exempt", ["${aws:PrincipalAccount}", "${aws:SourceVpce, 'none'}"])
def test_a_policy_variable_that_is_no_arn_exempts_nobody(judge, template, exempt):
    _denial(template)["Condition"]["ArnNotEquals"]["aws:PrincipalArn"].append(exempt)
    assert judge(ID, template).failures == ()


@pytest.mark.parametrize("bucket", BUCKETS)
def test_of_two_policies_one_is_lost(judge, template, bucket):
    resources = template["Resources"]
    resources["Another"] = {
        "Type": "AWS::S3::BucketPolicy",
        "Properties": {**resources[f"{bucket}Policy"]["Properties"]},
    }
    (finding,) = judge(ID, template).failures
    assert (finding.logical_id, finding.path) == ("Another", ("Bucket",))
    assert f"has {bucket}Policy as well, and S3 keeps one policy only" in finding.message


def test_policies_of_two_buckets_are_no_two_policies(judge, template):
    template["Resources"]["Another"] = {
        "Type": "AWS::S3::BucketPolicy",
        "Properties": {"Bucket": {"Fn::ImportValue": "a"}, "PolicyDocument": {"Statement": []}},
    }
    assert judge(ID, template).findings == ()


def test_of_two_policies_with_opposite_conditions_one_exists(judge, template):
    resources = template["Resources"]
    template["Parameters"] = {"Stage": {"Type": "String"}}
    template["Conditions"] = {
        "Prod": {"Fn::Equals": [{"Ref": "Stage"}, "prod"]},
        "Test": {"Fn::Not": [{"Condition": "Prod"}]},
    }
    resources["Another"] = {**resources["ScriptsPolicy"], "Condition": "Test"}
    resources["ScriptsPolicy"] = {**resources["ScriptsPolicy"], "Condition": "Prod"}
    assert judge(ID, template).failures == ()
