from __future__ import annotations

import pytest

ID = "EksSecretsEncryption"


def _eks(template):
    return template["Resources"]["Eks"]["Properties"]


def test_a_key_for_secrets_complies(judge, eks_template):
    assert judge(ID, eks_template).outcome(ID) == "pass"


@pytest.mark.parametrize(
    "config",
    [
        None,
        [],
        [{"Resources": [], "Provider": {"KeyArn": "k"}}],
        [{"Resources": ["secrets"], "Provider": {}}],
    ],
)
def test_no_key_for_secrets_fails(judge, eks_template, config):
    del _eks(eks_template)["EncryptionConfig"]
    if config is not None:
        _eks(eks_template)["EncryptionConfig"] = config
    (finding,) = judge(ID, eks_template).failures
    assert finding.path == ("EncryptionConfig",)
    assert "names no key for secrets" in finding.message


def test_an_absent_value_fails(judge, eks_template):
    _eks(eks_template)["EncryptionConfig"] = {"Ref": "AWS::NoValue"}
    assert judge(ID, eks_template).outcome(ID) == "fail"


def test_an_unresolved_configuration_is_undetermined(judge, eks_template):
    _eks(eks_template)["EncryptionConfig"] = [{"Fn::Transform": {"Name": "Macro"}}]
    assert judge(ID, eks_template).outcome(ID) == "undetermined"


def test_an_existing_eks_cluster_is_undetermined(judge, eks_template):
    del eks_template["Resources"]["Eks"]
    assert judge(ID, eks_template).outcome(ID) == "undetermined"
