from __future__ import annotations

import pytest

ID = "ScriptSources"
OWN = "111122223333"
STAGING = {"Fn::Sub": "cdk-hnb659fds-assets-${AWS::AccountId}-us-west-2"}

BUCKETS = [
    (STAGING, "pass"),
    (f"assets-{OWN}", "pass"),
    ({"Ref": "Logs"}, "pass"),
    ({"Fn::ImportValue": "assets"}, "pass"),
    ("somebodys-bucket", "undetermined"),
    ({"Ref": "Bucket"}, "undetermined"),
]


def _upload(template, **more):
    template["Parameters"] = {"Bucket": {"Type": "String"}}
    upload = template["Resources"]["Upload"]["Properties"]
    upload.update(ServiceToken={"Fn::GetAtt": "BackupFunction.Arn"}, **more)
    return template["Resources"]["BackupFunction"]["Properties"]


def test_an_upload_complies(judge, template):
    assert judge(ID, template).outcome(ID) == "pass"


@pytest.mark.parametrize(("bucket", "outcome"), BUCKETS, ids=str)
def test_where_scripts_come_from(judge, template, bucket, outcome):
    _upload(template, SourceBucketNames=[STAGING, bucket])
    report = judge(ID, template, account=OWN)
    assert report.outcome(ID) == outcome
    assert outcome == "pass" or "scripts come from bucket" in report.text()


@pytest.mark.parametrize(("bucket", "outcome"), BUCKETS, ids=str)
def test_where_the_code_comes_from(judge, template, bucket, outcome):
    _upload(template)["Code"] = {"S3Bucket": bucket, "S3Key": "a.zip"}
    report = judge(ID, template, account=OWN)
    assert report.outcome(ID) == outcome
    assert outcome == "pass" or "the code that uploads scripts comes from bucket" in report.text()


@pytest.mark.parametrize(("bucket", "outcome"), BUCKETS, ids=str)
def test_where_a_layer_comes_from(judge, template, bucket, outcome):
    _upload(template)["Layers"] = [{"Ref": "Layer"}]
    template["Resources"]["Layer"] = {
        "Type": "AWS::Lambda::LayerVersion",
        "Properties": {"Content": {"S3Bucket": bucket, "S3Key": "a.zip"}},
    }
    assert judge(ID, template, account=OWN).outcome(ID) == outcome


@pytest.mark.parametrize(
    ("account", "outcome"), [("444455556666", "fail"), (OWN, "pass"), (None, "undetermined")]
)
def test_a_layer_that_exists(judge, template, account, outcome):
    layer = f"arn:aws:lambda:us-west-2:{account}:layer:aws-cli:1" if account else {"Ref": "Bucket"}
    _upload(template)["Layers"] = [layer]
    report = judge(ID, template, account=OWN)
    assert report.outcome(ID) == outcome
    assert outcome != "fail" or "of another account" in report.text()


def test_code_in_the_template_complies(judge, template):
    _upload(template)["Code"] = {"ZipFile": "pass"}
    assert judge(ID, template).outcome(ID) == "pass"


def test_uploads_to_other_buckets_are_left_alone(judge, template):
    _upload(template, SourceBucketNames=["somebodys-bucket"], DestinationBucketName={"Ref": "Checkpoints"})
    assert judge(ID, template).verdicts == ()


def _administer(template):
    """The backup's function as one that administers the EKS cluster, with code from a parameter's bucket."""
    template["Parameters"] = {"Bucket": {"Type": "String"}}
    policy = "arn:aws:eks::aws:cluster-access-policy/AmazonEKSClusterAdminPolicy"
    template["Resources"]["Entry"] = {
        "Type": "AWS::EKS::AccessEntry",
        "Properties": {
            "ClusterName": {"Ref": "Eks"},
            "PrincipalArn": {"Fn::GetAtt": "BackupRole.Arn"},
            "AccessPolicies": [{"AccessScope": {"Type": "cluster"}, "PolicyArn": policy}],
        },
    }
    return template["Resources"]["BackupFunction"]["Properties"]


@pytest.mark.parametrize(("bucket", "outcome"), BUCKETS, ids=str)
def test_where_administrators_have_their_code_from(judge, eks_template, bucket, outcome):
    _administer(eks_template)["Code"] = {"S3Bucket": bucket, "S3Key": "a.zip"}
    report = judge(ID, eks_template, account=OWN)
    assert report.outcome(ID) == outcome
    assert outcome == "pass" or "the code that administers the EKS cluster comes from" in report.text()


@pytest.mark.parametrize(("resource", "outcome"), [("BackupFunction", "undetermined"), ("Other", "pass")])
def test_who_calls_an_administrator_is_one(judge, eks_template, resource, outcome):
    _administer(eks_template)
    invoke = {
        "Effect": "Allow",
        "Action": "lambda:InvokeFunction",
        "Resource": {"Fn::GetAtt": f"{resource}.Arn"},
    }
    eks_template["Resources"]["Other"] = {"Type": "AWS::Lambda::Function", "Properties": {}}
    eks_template["Resources"]["CallerRole"] = {
        "Type": "AWS::IAM::Role",
        "Properties": {"Policies": [{"PolicyDocument": {"Statement": [invoke]}}]},
    }
    eks_template["Resources"]["Caller"] = {
        "Type": "AWS::Lambda::Function",
        "Properties": {"Role": {"Fn::GetAtt": "CallerRole.Arn"}, "Code": {"S3Bucket": "somebodys-bucket"}},
    }
    assert judge(ID, eks_template).outcome(ID) == outcome


def test_other_functions_may_come_from_anywhere(judge, template):
    template["Resources"]["BackupFunction"]["Properties"]["Code"] = {"S3Bucket": "somebodys-bucket"}
    assert judge(ID, template).findings == ()


@pytest.mark.parametrize(
    ("image", "outcome"),
    [
        (f"{OWN}.dkr.ecr.us-west-2.amazonaws.com/upload@sha256:0", "pass"),
        ({"Fn::Sub": "${AWS::AccountId}.dkr.ecr.us-west-2.${AWS::URLSuffix}/upload:1"}, "pass"),
        ({"Fn::Sub": "${Repository.RepositoryUri}:1"}, "pass"),
        ("444455556666.dkr.ecr.us-west-2.amazonaws.com/upload:1", "fail"),
        ({"Fn::Sub": "${Bucket}.dkr.ecr.us-west-2.amazonaws.com/upload:1"}, "undetermined"),
    ],
    ids=str,
)
def test_where_an_image_comes_from(judge, template, image, outcome):
    template["Resources"]["Repository"] = {"Type": "AWS::ECR::Repository"}
    _upload(template)["Code"] = {"ImageUri": image}
    report = judge(ID, template, account=OWN)
    assert report.outcome(ID) == outcome
    assert outcome == "pass" or "the code that uploads scripts is image" in report.text()
