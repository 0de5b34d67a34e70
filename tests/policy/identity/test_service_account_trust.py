from __future__ import annotations

import json

import pytest

ID = "ServiceAccountTrust"
ISSUER = "oidc.eks.us-west-2.amazonaws.com/id/EXAMPLED539D4633E53DE1B716D3041E"


def _role(template):
    return template["Resources"]["TokenRole"]["Properties"]


def _statement(template):
    return _role(template)["AssumeRolePolicyDocument"]["Statement"][0]


def _condition(
    subject="system:serviceaccount:train:job", audience="sts.amazonaws.com", operator="StringEquals"
):
    return {operator: {f"{ISSUER}:aud": audience, f"{ISSUER}:sub": subject}}


def test_exact_claims_comply(judge, eks_template):
    assert judge(ID, eks_template).outcome(ID) == "pass"


def test_several_exact_subjects_comply(judge, eks_template):
    subjects = [f"system:serviceaccount:train:{name}" for name in ("one", "other")]
    _statement(eks_template)["Condition"] = _condition(subjects)
    assert judge(ID, eks_template).findings == ()


def test_the_pattern_operator_without_a_pattern_complies(judge, eks_template):
    _statement(eks_template)["Condition"] = _condition(operator="StringLike")
    assert judge(ID, eks_template).findings == ()


@pytest.mark.parametrize(
    ("condition", "words"),
    [
        (
            _condition("system:serviceaccount:train:*", operator="StringLike"),
            "takes sub system:serviceaccount:train:*",
        ),
        (_condition("system:serviceaccount:*:job"), "takes sub system:serviceaccount:*:job"),
        (_condition("repo:example/training"), "takes sub repo:example/training"),
        (_condition(audience="sigstore"), "takes aud sigstore"),
        ({"StringEquals": {f"{ISSUER}:aud": "sts.amazonaws.com"}}, "takes tokens whatever their sub is"),
        (
            {"StringEquals": {f"{ISSUER}:sub": "system:serviceaccount:train:job"}},
            "takes tokens whatever their aud is",
        ),
        (
            {
                "StringEquals": {f"{ISSUER}:aud": "sts.amazonaws.com"},
                "StringNotEquals": {f"{ISSUER}:sub": "system:serviceaccount:train:other"},
            },
            "only asks for StringNotEquals",
        ),
        (
            {
                "StringEquals": {f"{ISSUER}:aud": "sts.amazonaws.com"},
                "StringEqualsIfExists": {f"{ISSUER}:sub": "system:serviceaccount:train:job"},
            },
            "only asks for StringEqualsIfExists",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_looser_trust_fails(judge, eks_template, condition, words):
    _statement(eks_template)["Condition"] = condition
    (finding,) = judge(ID, eks_template).failures
    assert words in finding.message
    assert finding.path[-1] == "Condition"


def test_no_condition_at_all_fails_for_both_claims(judge, eks_template):
    del _statement(eks_template)["Condition"]
    assert len(judge(ID, eks_template).failures) == 2


def _through_json(template, subject):
    """As the CDK writes it where the issuer is known at deployment only."""
    resources = template["Resources"]
    issuer = {"Fn::Select": [1, {"Fn::Split": ["//", {"Fn::GetAtt": ["Eks", "OpenIdConnectIssuerUrl"]}]}]}
    claims = json.dumps({"ISSUER:aud": "sts.amazonaws.com", "ISSUER:sub": subject})
    parts = claims.split("ISSUER")
    resources["Conditions"] = {
        "Type": "Custom::AWSCDKCfnJson",
        "Properties": {"Value": {"Fn::Join": ["", [parts[0], issuer, parts[1], issuer, parts[2]]]}},
    }
    resources["Provider"] = {
        "Type": "AWS::IAM::OIDCProvider",
        "Properties": {"Url": {"Fn::GetAtt": ["Eks", "OpenIdConnectIssuerUrl"]}},
    }
    _statement(template)["Principal"] = {"Federated": {"Ref": "Provider"}}
    _statement(template)["Condition"] = {"StringEquals": {"Fn::GetAtt": ["Conditions", "Value"]}}


def test_conditions_of_a_custom_resource_are_read(judge, eks_template):
    _through_json(eks_template, "system:serviceaccount:train:job")
    assert judge(ID, eks_template).outcome(ID) == "pass"
    _through_json(eks_template, "system:serviceaccount:train:*")
    (finding,) = judge(ID, eks_template).failures
    assert "takes sub system:serviceaccount:train:*" in finding.message


def test_conditions_of_another_resource_are_undetermined(judge, eks_template):
    _through_json(eks_template, "system:serviceaccount:train:job")
    eks_template["Resources"]["Conditions"]["Type"] = "Custom::Other"
    assert judge(ID, eks_template).outcome(ID) == "undetermined"


def test_a_subject_from_a_parameter_is_undetermined_and_a_name_in_it_complies(judge, eks_template):
    eks_template["Parameters"] = {"Subject": {"Type": "String"}}
    _statement(eks_template)["Condition"] = _condition({"Ref": "Subject"})
    assert judge(ID, eks_template).outcome(ID) == "undetermined"
    _statement(eks_template)["Condition"] = _condition({"Fn::Sub": "system:serviceaccount:train:${Subject}"})
    assert judge(ID, eks_template).findings == ()


def test_another_issuer_is_not_judged(judge, eks_template):
    _statement(eks_template)["Principal"] = {
        "Federated": "arn:aws:iam::111122223333:oidc-provider/token.actions.githubusercontent.com"
    }
    _statement(eks_template)["Condition"] = {
        "StringLike": {"token.actions.githubusercontent.com:sub": "repo:example/training:*"}
    }
    assert judge(ID, eks_template).verdicts == ()
