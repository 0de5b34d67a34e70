"""What a map keeps off, what it leaves open, and how it is written."""

from __future__ import annotations

import copy
import json
from itertools import pairwise

import pytest
from told_ways import lines_of, new_lines

from hyperpod_policy.documents import Document
from hyperpod_policy.trust_map import TrustMap, svg, trust_map

CHECKPOINTS = "write-objects Checkpoints"


def _att(name, attribute="Arn"):
    return {"Fn::GetAtt": [name, attribute]}


def _allow(actions, resource="*", **more):
    return {"Effect": "Allow", "Action": actions, "Resource": resource, **more}


def _role(*statements, **more):
    return {
        "Type": "AWS::IAM::Role",
        "Properties": {"Policies": [{"PolicyDocument": {"Statement": list(statements)}}], **more},
    }


ADMINISTRATOR = "arn:aws:iam::aws:policy/AdministratorAccess"
WRITES = _allow("sagemaker:UpdateCluster")


@pytest.mark.parametrize(
    "role",
    [
        _role(_allow("kms:Decrypt", _att("Key"))),
        _role(_allow(["s3:Get*", "s3:List*"])),
        _role(_allow("s3:*")),  # the buckets' policies deny it
        _role(_allow("s3:*", "arn:aws:s3:::another/*")),
        _role(_allow("iam:PassRole", _att("NodeRole"))),
        _role(_allow("iam:PassRole", "arn:aws:iam::*:role/another"), _allow("sagemaker:CreateTrainingJob")),
        _role(WRITES, {"Effect": "Deny", "Action": "sagemaker:*", "Resource": "*"}),
        _role(_allow("lambda:InvokeFunction")),
        _role(_allow("ec2:CreateNetworkInterface")),
        _role(ManagedPolicyArns=["arn:aws:iam::aws:policy/ReadOnlyAccess"]),
        _role(ManagedPolicyArns=["arn:aws:iam::aws:policy/service-role/AWSLambdaBasicExecutionRole"]),
    ],
    ids=lambda role: json.dumps(role["Properties"])[:80],
)
def test_who_gets_nowhere_is_not_on_the_map(template, role):
    before = trust_map(copy.deepcopy(template))
    template["Resources"]["Other"] = role
    assert new_lines(before, trust_map(template)) == set()


def test_a_permissions_boundary_holds(template):
    template["Resources"] |= {
        "Boundary": {
            "Type": "AWS::IAM::ManagedPolicy",
            "Properties": {"PolicyDocument": {"Statement": [_allow("s3:*")]}},
        },
        "Bound": _role(WRITES, PermissionsBoundary={"Ref": "Boundary"}),
        "Unbound": _role(WRITES),
        "Perhaps": _role(WRITES, PermissionsBoundary="arn:aws:iam::111122223333:policy/limits"),
    }
    found = trust_map(template)
    assert lines_of(found, "Bound") == set()
    assert lines_of(found, "Unbound") == {"yes: change-cluster Cluster"}
    assert lines_of(found, "Perhaps") == {"undetermined: change-cluster Cluster"}


def test_an_administrator_of_the_template_can_do_everything_but_write_locked_buckets(template):
    template["Resources"]["Admin"] = _role(ManagedPolicyArns=[ADMINISTRATOR])
    lines = lines_of(trust_map(template), "Admin")
    assert {
        "yes: change-cluster Cluster",
        "yes: open-session Cluster",
        "yes: change-key Key",
        "yes: change-ports NodeGroup",
        "yes: join-group NodeGroup",
        f"yes: change-trust NodeRole, {CHECKPOINTS}",
        f"yes: pass NodeRole, {CHECKPOINTS}",
        "yes: escalate administrators of the account",
    } <= lines
    assert f"yes: {CHECKPOINTS}" not in lines
    assert "yes: change-bucket Checkpoints" not in lines


def test_an_aws_managed_policy_is_quoted_where_it_is_attached(template):
    template["Resources"]["Admin"] = _role(ManagedPolicyArns=[ADMINISTRATOR])
    found = trust_map(template)
    (way,) = (way for way in found.ways_of("Admin") if way.steps[0].ability == "change-cluster")
    (evidence,) = way.steps[0].evidence
    assert (evidence.logical_id, evidence.path) == ("Admin", ("ManagedPolicyArns", 0))
    assert evidence.text == "Allow * on *"


@pytest.mark.parametrize(
    ("condition", "certainty"),
    [
        ({"StringEquals": {"sts:ExternalId": "x"}}, "undetermined"),
        ({"ArnEquals": {"aws:PrincipalArn": _att("Taker")}}, "yes"),
        ({"ArnEquals": {"aws:PrincipalArn": "arn:aws:iam::111122223333:role/Else"}}, None),
    ],
    ids=str,
)
def test_conditions_of_a_trust_count(template, condition, certainty):
    template["Resources"]["Taker"] = _role()
    template["Resources"]["NodeRole"]["Properties"]["AssumeRolePolicyDocument"]["Statement"].append(
        {
            "Effect": "Allow",
            "Principal": {"AWS": _att("Taker")},
            "Action": "sts:AssumeRole",
            "Condition": condition,
        }
    )
    expected = set() if certainty is None else {f"{certainty}: assume NodeRole, {CHECKPOINTS}"}
    assert lines_of(trust_map(template), "Taker") == expected


def test_a_denial_in_a_trust_policy_counts(template):
    template["Resources"]["Taker"] = _role()
    template["Resources"]["NodeRole"]["Properties"]["AssumeRolePolicyDocument"]["Statement"] += [
        {"Effect": effect, "Principal": {"AWS": _att("Taker")}, "Action": "sts:AssumeRole"}
        for effect in ("Allow", "Deny")
    ]
    assert lines_of(trust_map(template), "Taker") == set()


def test_wildcards_in_generated_names_cannot_be_told(template):
    template["Resources"]["Guess"] = _role(_allow("iam:UpdateAssumeRolePolicy", "arn:aws:iam::*:role/Train*"))
    template["Resources"]["Literal"] = _role(
        _allow("iam:UpdateAssumeRolePolicy", "arn:aws:iam::*:role/Train")
    )
    found = trust_map(template)
    assert lines_of(found, "Guess") == {
        f"undetermined: change-trust NodeRole, {CHECKPOINTS}",
        "undetermined: change-trust UploadRole, write-objects Scripts",
    }
    assert lines_of(found, "Literal") == set()


def test_a_bucket_name_prefix_is_a_name_as_far_as_it_goes(template):
    resources = template["Resources"]
    del resources["ScriptsPolicy"]["Properties"]["PolicyDocument"]["Statement"][2]
    resources["Scripts"]["Properties"] |= {"BucketNamePrefix": "sagemaker-lcs-"}
    resources["Sure"] = _role(_allow("s3:PutObject", "arn:aws:s3:::sagemaker-*"))
    resources["Perhaps"] = _role(_allow("s3:PutObject", "arn:aws:s3:::sagemaker-lcs-7*"))
    resources["Never"] = _role(_allow("s3:PutObject", "arn:aws:s3:::logs-*"))
    found = trust_map(template)
    assert lines_of(found, "Sure") == {"yes: write-objects Scripts"}
    assert lines_of(found, "Perhaps") == {"undetermined: write-objects Scripts"}
    assert lines_of(found, "Never") == set()


def test_a_parameter_as_principal_cannot_be_told(template):
    template["Parameters"] = {"Partner": {"Type": "String"}}
    template["Resources"]["NodeRole"]["Properties"]["AssumeRolePolicyDocument"]["Statement"].append(
        {"Effect": "Allow", "Principal": {"AWS": {"Ref": "Partner"}}, "Action": "sts:AssumeRole"}
    )
    found = trust_map(template)
    assert lines_of(found, "parameter Partner") == {f"undetermined: assume NodeRole, {CHECKPOINTS}"}


def test_an_unresolved_policy_leaves_its_bucket_open(template):
    template["Parameters"] = {"Document": {"Type": "String"}}
    template["Resources"]["CheckpointsPolicy"]["Properties"]["PolicyDocument"] = {"Ref": "Document"}
    found = trust_map(template)
    assert f"undetermined: {CHECKPOINTS}" in lines_of(found, "administrators of the account")
    assert "the policy of Checkpoints has statements that are not in the templates" in found.limits


def test_what_a_parameter_decides_says_when(template):
    template["Parameters"] = {
        "Stage": {"Type": "String", "Default": "prod", "AllowedValues": ["prod", "dev"]}
    }
    template["Conditions"] = {"IsDev": {"Fn::Equals": [{"Ref": "Stage"}, "dev"]}}
    template["Resources"]["Developer"] = {**_role(WRITES), "Condition": "IsDev"}
    found = trust_map(template)
    (way,) = found.ways_of("Developer")
    assert (way.certainty, way.steps[0].when) == ("undetermined", "parameter Stage is dev")
    assert "(when parameter Stage is dev)" in " ".join(found.text().split())
    given = trust_map(template, parameters={"Stage": "dev"})
    assert lines_of(given, "Developer") == {"yes: change-cluster Cluster"}


def test_templates_are_read_together(template):
    role = template["Resources"].pop("UploadRole")
    template["Resources"]["ScriptsPolicy"]["Properties"]["PolicyDocument"]["Statement"].pop(2)
    template["Outputs"] = {"Scripts": {"Value": _att("Scripts"), "Export": {"Name": "scripts"}}}
    role["Properties"]["Policies"] = [
        {
            "PolicyDocument": {
                "Statement": [
                    _allow("s3:PutObject", {"Fn::Join": ["", [{"Fn::ImportValue": "scripts"}, "/*"]]})
                ]
            }
        }
    ]
    other = {"Resources": {"Upload": role}}
    found = trust_map([Document(body=template, file="one"), Document(body=other, file="two")])
    assert lines_of(found, "Upload") == {"yes: write-objects Scripts"}
    (way,) = found.ways_of("Upload")
    assert way.steps[0].evidence[0].file == "two"


def test_a_template_without_cluster_has_no_map():
    found = trust_map({"Resources": {"Admin": _role(ManagedPolicyArns=[ADMINISTRATOR])}})
    assert found == TrustMap()
    assert found.text().endswith("nothing to say: no HyperPod cluster is at hand")
    assert found.to_json()["ways"] == []
    assert svg(found).startswith("<svg")


def test_a_closed_bucket_says_no_and_why(template):
    found = trust_map(template)
    (way,) = (
        way
        for way in found.ways
        if way.certainty == "no" and way.target == "Checkpoints" and way.steps[0].ability == "write-objects"
    )
    (evidence,) = way.steps[0].evidence
    assert (evidence.logical_id, evidence.path) == ("CheckpointsPolicy", ("PolicyDocument", "Statement", 2))
    assert "may not write checkpoint bucket Checkpoints" in found.text()


def test_json_has_its_documented_members(template):
    said = json.loads(json.dumps(trust_map(template).to_json()))
    assert said.keys() == {"version", "counts", "nodes", "steps", "ways", "limits"}
    assert said["version"] == 1
    ids = {node["id"] for node in said["nodes"]}
    for step in said["steps"]:
        assert {step["source"], step["target"]} <= ids
        assert step.keys() == {
            "source", "ability", "target", "certainty", "actions", "evidence", "note", "when",
        }  # fmt: skip
        for evidence in step["evidence"]:
            assert evidence.keys() == {"resource", "resource_type", "path", "sid", "text", "file", "line"}
    for way in said["ways"]:
        steps = [said["steps"][number] for number in way["steps"]]
        assert steps[0]["source"] == way["principal"]
        assert steps[-1]["target"] == way["target"]
        for one, other in pairwise(steps):
            assert one["target"] == other["source"]
    assert sum(said["counts"].values()) == len(said["ways"])


def test_the_same_template_says_the_same(template):
    assert trust_map(template).to_json() == trust_map(copy.deepcopy(template)).to_json()


STACK = "arn:aws:cloudformation:us-west-2:${AWS::AccountId}:stack/"


@pytest.mark.parametrize(
    ("action", "stack", "deploys"),
    [
        ("cloudformation:UpdateStack", {"Ref": "AWS::StackId"}, True),
        ("cloudformation:*", {"Fn::Sub": STACK + "*"}, True),
        ("cloudformation:ExecuteChangeSet", {"Fn::Sub": STACK + "${AWS::StackName}/*"}, True),
        ("cloudformation:DescribeStacks", {"Ref": "AWS::StackId"}, False),
        ("cloudformation:UpdateStack", "arn:aws:cloudformation:us-west-2:444455556666:stack/x/*", False),
    ],
    ids=str,
)
def test_who_updates_the_stack_changes_everything(template, action, stack, deploys):
    template["Resources"]["Deployer"] = _role(_allow(action, stack))
    lines = lines_of(trust_map(template, region="us-west-2", account="111122223333"), "Deployer")
    assert lines == ({"undetermined: deploy the stacks under review"} if deploys else set())


@pytest.mark.parametrize(
    ("image", "name"), [("ami-0123456789abcdef0", "ami-0123456789abcdef0"), ({"Ref": "Image"}, "Image")]
)
def test_whoever_makes_the_image_of_a_group_is_on_the_map(template, image, name):
    template["Parameters"] = {"Image": {"Type": "String"}}
    before = trust_map(copy.deepcopy(template))
    template["Resources"]["Cluster"]["Properties"]["InstanceGroups"][1]["ImageId"] = image
    found = trust_map(template)
    assert new_lines(before, found) == {f"{name} undetermined: lead-to-code training nodes"}
    (way,) = (way for way in found.ways if way.principal == f"image {name}")
    assert way.steps[0].evidence[0].path == ("InstanceGroups", 1, "ImageId")
    assert "what it holds runs as root" in found.text()
    assert name in svg(found)
