from __future__ import annotations

import pytest

ID = "BucketPublicAccess"
BLOCKS = ["BlockPublicAcls", "BlockPublicPolicy", "IgnorePublicAcls", "RestrictPublicBuckets"]


def _properties(template):
    return template["Resources"]["Checkpoints"]["Properties"]


def test_all_blocks_and_owner_enforced_comply(judge, template):
    assert judge(ID, template).outcome(ID) == "pass"


@pytest.mark.parametrize("block", BLOCKS)
@pytest.mark.parametrize("value", [False, "false", None])
def test_each_open_block_fails(judge, template, block, value):
    blocks = _properties(template)["PublicAccessBlockConfiguration"]
    if value is None:
        del blocks[block]
    else:
        blocks[block] = value
    (finding,) = judge(ID, template).failures
    assert finding.path == ("PublicAccessBlockConfiguration", block)
    assert "checkpoint bucket Checkpoints has it off" in finding.message


def test_acls_fail(judge, template):
    _properties(template)["OwnershipControls"]["Rules"][0]["ObjectOwnership"] = "ObjectWriter"
    (finding,) = judge(ID, template).failures
    assert "has ObjectWriter" in finding.message


@pytest.mark.parametrize("member", ["PublicAccessBlockConfiguration", "OwnershipControls"])
def test_the_default_of_s3_is_a_warning(judge, template, member):
    del _properties(template)[member]
    (finding,) = judge(ID, template).failures
    assert finding.severity == "warning"
    assert "leaves it to the default of S3" in finding.message


@pytest.mark.parametrize("block", BLOCKS)
def test_a_parameter_is_undetermined(judge, template, block):
    template["Parameters"] = {"Block": {"Type": "String"}}
    _properties(template)["PublicAccessBlockConfiguration"][block] = {"Ref": "Block"}
    assert judge(ID, template).outcome(ID) == "undetermined"


def test_both_branches_count(judge, template):
    template["Conditions"] = {"Private": {"Fn::Equals": [{"Ref": "AWS::AccountId"}, "111122223333"]}}
    blocks = _properties(template)["PublicAccessBlockConfiguration"]
    blocks["BlockPublicAcls"] = {"Fn::If": ["Private", True, False]}
    (finding,) = judge(ID, template).failures
    assert finding.when
    assert judge(ID, template, account="111122223333").findings == ()


def test_text_counts_as_boolean(judge, template):
    blocks = _properties(template)["PublicAccessBlockConfiguration"]
    blocks.update(dict.fromkeys(BLOCKS, "true"))
    assert judge(ID, template).findings == ()


def test_other_buckets_are_left_alone(judge, template):
    template["Resources"]["Web"] = {"Type": "AWS::S3::Bucket"}
    assert judge(ID, template).findings == ()


def _allow(template, **changes):
    statements = template["Resources"]["CheckpointsPolicy"]["Properties"]["PolicyDocument"]["Statement"]
    statements.append(
        {
            "Effect": "Allow",
            "Principal": "*",
            "Action": ["s3:GetObject", "s3:PutObject"],
            "Resource": {"Fn::Sub": "${Checkpoints.Arn}/*"},
            **changes,
        }
    )


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"Principal": {"AWS": "*"}},
        {"Principal": {"AWS": ["arn:aws:iam::111122223333:root", "*"]}},
        {"Condition": {"Bool": {"aws:SecureTransport": "true"}}},
    ],
    ids=str,
)
def test_a_policy_that_allows_everybody_fails(judge, template, changes):
    _allow(template, **changes)
    (finding,) = judge(ID, template).failures
    assert finding.logical_id == "CheckpointsPolicy"
    assert finding.path == ("PolicyDocument", "Statement", 4)
    assert "allows s3:GetObject, s3:PutObject on checkpoint bucket Checkpoints to everybody, other" in (
        finding.message
    )


def test_a_policy_that_allows_all_but_somebody_fails(judge, template):
    _allow(template, NotPrincipal={"AWS": "arn:aws:iam::111122223333:root"})
    del template["Resources"]["CheckpointsPolicy"]["Properties"]["PolicyDocument"]["Statement"][4][
        "Principal"
    ]
    (finding,) = judge(ID, template).failures
    assert "to everybody, other accounts" in finding.message


@pytest.mark.parametrize(
    "changes",
    [
        {"Principal": {"AWS": "arn:aws:iam::111122223333:root"}},
        {"Principal": {"Service": "sagemaker.amazonaws.com"}},
        {"Principal": {"AWS": {"Fn::ImportValue": "trainer"}}},
        {"Condition": {"StringEquals": {"aws:PrincipalOrgID": "o-1234567890"}}},
        {"Effect": "Deny"},
    ],
    ids=str,
)
def test_a_policy_that_allows_listed_principals_complies(judge, template, changes):
    _allow(template, **changes)
    assert judge(ID, template).findings == ()
