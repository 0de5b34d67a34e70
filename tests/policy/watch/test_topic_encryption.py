from __future__ import annotations

import pytest

ID = "TopicEncryption"


def _topic(template):
    return template["Resources"]["Topic"]["Properties"]


@pytest.mark.parametrize(
    "key",
    [
        {"Ref": "TopicKey"},
        {"Fn::GetAtt": ["TopicKey", "Arn"]},
        {"Fn::ImportValue": "topic-key"},
        {"Fn::Sub": "arn:${AWS::Partition}:kms:${AWS::Region}:${AWS::AccountId}:alias/topics"},
        "alias/aws/sns",
    ],
    ids=str,
)
def test_a_topic_with_a_key_complies(judge, template, key):
    _topic(template)["KmsMasterKeyId"] = key
    assert judge(ID, template).outcome(ID) == "pass"


@pytest.mark.parametrize("key", ["", {"Ref": "AWS::NoValue"}], ids=str)
def test_a_topic_without_a_key_fails(judge, template, key):
    _topic(template)["KmsMasterKeyId"] = key
    (finding,) = judge(ID, template).failures
    assert (finding.logical_id, finding.severity) == ("Topic", "warning")
    assert "is not set, so messages lie unencrypted; expected: a KMS key" in finding.message


def test_a_key_from_a_parameter_is_undetermined(judge, template):
    template["Parameters"] = {"Key": {"Type": "String"}}
    _topic(template)["KmsMasterKeyId"] = {"Ref": "Key"}
    assert judge(ID, template).outcome(ID) == "undetermined"


def test_an_empty_default_fails(judge, template):
    template["Parameters"] = {"Key": {"Type": "String", "Default": ""}}
    _topic(template)["KmsMasterKeyId"] = {"Ref": "Key"}
    assert judge(ID, template).outcome(ID) == "fail"


def test_topics_without_a_cluster_are_left_alone(judge, template):
    del template["Resources"]["Cluster"], _topic(template)["KmsMasterKeyId"]
    assert judge(ID, template).verdicts == ()
