from __future__ import annotations

import pytest

ID = "BucketNames"


def _name(template, name, **more):
    template["Resources"]["Checkpoints"]["Properties"].update(BucketName=name, **more)


def test_names_that_cloudformation_makes_comply(judge, template):
    assert judge(ID, template).outcome(ID) == "pass"
    assert judge(ID, template).findings == ()


@pytest.mark.parametrize(
    "name",
    [
        "sagemaker-checkpoints",
        {"Fn::Sub": "sagemaker-ckpt-${AWS::AccountId}-${AWS::Region}"},
        {"Fn::Join": ["-", ["ckpt", {"Ref": "AWS::StackName"}]]},
        {"Ref": "Name"},
    ],
    ids=str,
)
def test_a_name_that_others_can_guess_is_a_warning(judge, template, name):
    template["Parameters"] = {"Name": {"Type": "String", "Default": "our-checkpoints"}}
    _name(template, name)
    (finding,) = judge(ID, template).failures
    assert (finding.logical_id, finding.path, finding.severity) == ("Checkpoints", ("BucketName",), "warning")


@pytest.mark.parametrize(
    ("name", "more"),
    [
        ("ckpt-111122223333-us-west-2-an", {"BucketNamespace": "account-regional"}),
        ({"Ref": "AWS::NoValue"}, {"BucketNamePrefix": "ckpt-", "BucketNamespace": "account-regional"}),
        (
            {
                "Fn::Join": [
                    "-",
                    [
                        "ckpt",
                        {
                            "Fn::Select": [
                                2,
                                {"Fn::Split": ["/", {"Ref": "AWS::StackId"}]},
                            ]
                        },
                    ],
                ]
            },
            {},
        ),
    ],
    ids=str,
)
def test_other_ways_to_a_name_of_ones_own_comply(judge, template, name, more):
    _name(template, name, **more)
    assert judge(ID, template).findings == ()


@pytest.mark.parametrize(
    ("name", "more"),
    [
        ({"Ref": "Name"}, {}),
        ({"Fn::Sub": "ckpt-${Name}"}, {}),
        ({"Fn::ImportValue": "name"}, {}),
        ("ckpt", {"BucketNamespace": {"Ref": "Name"}}),
    ],
    ids=str,
)
def test_a_name_that_deployment_alone_knows_is_undetermined(judge, template, name, more):
    template["Parameters"] = {"Name": {"Type": "String"}}
    _name(template, name, **more)
    assert judge(ID, template).outcome(ID) == "undetermined"


def test_buckets_of_others_are_left_alone(judge, template):
    template["Resources"]["Logs"]["Properties"] = {"BucketName": "logs"}
    assert judge(ID, template).findings == ()
