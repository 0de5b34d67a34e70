"""Each weakening of a template puts whom it lets in on the map, with the statement that does."""

from __future__ import annotations

import copy

import pytest
from told_ways import line_of, name_of, new_lines

from hyperpod_policy.trust_map import trust_map

OTHER = "444455556666"
ROLE_OF_OTHER = f"arn:aws:iam::{OTHER}:role/somebody"
ADMINISTRATORS = "administrators of the account"
CHECKPOINTS = "write-objects Checkpoints"
SCRIPTS = "write-objects Scripts"


def _att(name, attribute="Arn"):
    return {"Fn::GetAtt": [name, attribute]}


def _root(account="${AWS::AccountId}"):
    return {"Fn::Sub": f"arn:${{AWS::Partition}}:iam::{account}:root"}


def _objects(bucket):
    return {"Fn::Sub": f"${{{bucket}.Arn}}/*"}


def _denials(resources, bucket):
    return resources[f"{bucket}Policy"]["Properties"]["PolicyDocument"]["Statement"]


def _role(*statements, service="ec2.amazonaws.com", **more):
    return {
        "Type": "AWS::IAM::Role",
        "Properties": {
            "AssumeRolePolicyDocument": {
                "Statement": [
                    {"Effect": "Allow", "Principal": {"Service": service}, "Action": "sts:AssumeRole"}
                ]
            },
            "Policies": [{"PolicyName": "p", "PolicyDocument": {"Statement": list(statements)}}],
            **more,
        },
    }


def _allow(actions, resource="*", **more):
    return {"Effect": "Allow", "Action": actions, "Resource": resource, **more}


def _admit(resources, bucket, principal, actions="s3:PutObject", **more):
    _denials(resources, bucket).append(
        {"Effect": "Allow", "Principal": principal, "Action": actions, "Resource": _objects(bucket), **more}
    )


def _unlock(resources, bucket, position=2):
    del _denials(resources, bucket)[position]


def no_denial_of_writes(resources):
    _unlock(resources, "Checkpoints")


def no_denial_of_configuration(resources):
    _unlock(resources, "Scripts", 1)


def no_bucket_policy(resources):
    del resources["CheckpointsPolicy"]


def denial_without_put(resources):
    _denials(resources, "Checkpoints")[2]["Action"].remove("s3:PutObject*")


def a_role_of_another_account_is_exempt_and_admitted(resources):
    _denials(resources, "Checkpoints")[2]["Condition"]["ArnNotEquals"]["aws:PrincipalArn"].append(
        ROLE_OF_OTHER
    )
    _admit(resources, "Checkpoints", {"AWS": ROLE_OF_OTHER})


def a_role_outside_the_template_is_exempt(resources):
    _denials(resources, "Scripts")[2]["Condition"]["ArnNotEquals"]["aws:PrincipalArn"].append(
        "arn:aws:iam::111122223333:role/ci"
    )


def a_pattern_is_exempt(resources):
    _denials(resources, "Scripts")[2]["Condition"] = {
        "ArnNotLike": {"aws:PrincipalArn": ["arn:aws:iam::*:role/team-*"]}
    }


def everybody_is_admitted(resources):
    _unlock(resources, "Checkpoints")
    _admit(resources, "Checkpoints", "*")
    block = resources["Checkpoints"]["Properties"]["PublicAccessBlockConfiguration"]
    block.update(BlockPublicPolicy=False, RestrictPublicBuckets=False)


def a_public_acl(resources):
    _unlock(resources, "Checkpoints")
    properties = resources["Checkpoints"]["Properties"]
    properties["AccessControl"] = "PublicReadWrite"
    properties["OwnershipControls"]["Rules"][0]["ObjectOwnership"] = "ObjectWriter"
    properties["PublicAccessBlockConfiguration"]["IgnorePublicAcls"] = False


def a_service_is_admitted(resources):
    lock = _denials(resources, "Checkpoints")[2]
    lock["Condition"] = {"BoolIfExists": {"aws:PrincipalIsAWSService": "false"}, **lock["Condition"]}
    _admit(resources, "Checkpoints", {"Service": "delivery.logs.amazonaws.com"})


def key_policy_of_another_account(resources):
    resources["Key"]["Properties"]["KeyPolicy"] = {
        "Statement": [
            {"Effect": "Allow", "Principal": {"AWS": _root()}, "Action": "kms:*", "Resource": "*"},
            {"Effect": "Allow", "Principal": {"AWS": OTHER}, "Action": "kms:CreateGrant", "Resource": "*"},
        ]
    }


def a_role_may_change_the_key_policy(resources):
    resources["KeyKeeper"] = _role(_allow("kms:Put*", _att("Key")))


def trust_of_another_account(resources):
    _trust(resources, "NodeRole").append(
        {"Effect": "Allow", "Principal": {"AWS": OTHER}, "Action": "sts:AssumeRole"}
    )


def trust_of_everybody(resources):
    _trust(resources, "NodeRole").append(
        {"Effect": "Allow", "Principal": {"AWS": "*"}, "Action": "sts:AssumeRole"}
    )


def trust_of_a_role_that_another_role_may_take(resources):
    resources["Middle"] = _role()
    resources["Far"] = _role()
    for taken, taker in (("NodeRole", "Middle"), ("Middle", "Far")):
        _trust(resources, taken).append(
            {"Effect": "Allow", "Principal": {"AWS": _att(taker)}, "Action": "sts:AssumeRole"}
        )


def trust_of_the_account_and_a_role_that_may_assume(resources):
    _trust(resources, "NodeRole").append(
        {"Effect": "Allow", "Principal": {"AWS": _root()}, "Action": "sts:AssumeRole"}
    )
    resources["Taker"] = _role(_allow("sts:AssumeRole", "arn:aws:iam::*:role/*"))


def trust_of_a_provider(resources):
    _trust(resources, "NodeRole").append(
        {
            "Effect": "Allow",
            "Principal": {
                "Federated": "arn:aws:iam::111122223333:oidc-provider/token.actions.githubusercontent.com"
            },
            "Action": "sts:AssumeRoleWithWebIdentity",
            "Condition": {"StringLike": {"token.actions.githubusercontent.com:sub": "repo:acme/*"}},
        }
    )


def _trust(resources, name):
    return resources[name]["Properties"]["AssumeRolePolicyDocument"]["Statement"]


def pass_role_star(resources):
    resources["Passer"] = _role(_allow(["iam:PassRole", "sagemaker:CreateTrainingJob"]))


def pass_role_to_lambda_only(resources):
    resources["Passer"] = _role(
        _allow(
            "iam:PassRole", "*", Condition={"StringEquals": {"iam:PassedToService": "lambda.amazonaws.com"}}
        ),
        _allow("sagemaker:*"),
    )


def a_role_may_change_the_trust_of_the_nodes_role(resources):
    resources["Truster"] = _role(_allow("iam:UpdateAssumeRolePolicy", _att("NodeRole")))


def a_role_may_change_the_policy_of_the_nodes_role(resources):
    resources["Widener"] = _role(_allow("iam:CreatePolicyVersion", {"Ref": "NodePolicy"}))


def a_role_may_widen_itself(resources):
    resources["Climber"] = _role(_allow("iam:PutRolePolicy"))


def a_user_may_make_keys_of_a_writer(resources):
    resources["Writer"] = {
        "Type": "AWS::IAM::User",
        "Properties": {"Policies": [{"PolicyDocument": {"Statement": [_allow("sagemaker:UpdateCluster")]}}]},
    }
    resources["Helpdesk"] = _role(_allow("iam:CreateAccessKey", _att("Writer")))


def a_group_is_administrator(resources):
    resources["Team"] = {
        "Type": "AWS::IAM::Group",
        "Properties": {"ManagedPolicyArns": ["arn:aws:iam::aws:policy/AmazonSSMFullAccess"]},
    }
    resources["Member"] = {"Type": "AWS::IAM::User", "Properties": {"Groups": [{"Ref": "Team"}]}}


def _upload_function(resources):
    resources["UploadRole"] = _role(
        _allow("s3:PutObject", _objects("Scripts")), service="lambda.amazonaws.com"
    )
    resources["UploadFunction"] = {
        "Type": "AWS::Lambda::Function",
        "Properties": {"Role": _att("UploadRole"), "Code": {"S3Bucket": "staging", "S3Key": "a.zip"}},
    }
    resources["Upload"]["Properties"] |= {
        "ServiceToken": _att("UploadFunction"),
        "SourceBucketNames": ["staging"],
    }


def lambda_permission(resources):
    _upload_function(resources)
    resources["Permission"] = {
        "Type": "AWS::Lambda::Permission",
        "Properties": {
            "FunctionName": {"Ref": "UploadFunction"},
            "Action": "lambda:InvokeFunction",
            "Principal": OTHER,
        },
    }


def a_role_may_change_the_upload(resources):
    _upload_function(resources)
    resources["Developer"] = _role(_allow("lambda:Update*", "arn:aws:lambda:*:*:function:*"))


def a_role_writes_the_staging_bucket(resources):
    _upload_function(resources)
    resources["Publisher"] = _role(_allow("s3:PutObject", "arn:aws:s3:::staging/*"))


def ssh_from_a_range(resources):
    resources["NodeGroup"]["Properties"]["SecurityGroupIngress"] = [
        {"IpProtocol": "tcp", "FromPort": 22, "ToPort": 22, "CidrIp": "10.0.0.0/8"}
    ]


def a_role_opens_ports(resources):
    resources["NetworkAdmin"] = _role(_allow("ec2:AuthorizeSecurityGroupIngress"))


def a_role_updates_clusters(resources):
    resources["Operator"] = _role(
        _allow(["sagemaker:Update*", "ssm:StartSession"], "arn:aws:sagemaker:*:*:cluster/*")
    )


def an_unknown_policy(resources):
    resources["Mystery"] = _role(ManagedPolicyArns=["arn:aws:iam::111122223333:policy/mystery"])


def a_file_system_exports(resources):
    resources["Link"] = {
        "Type": "AWS::FSx::DataRepositoryAssociation",
        "Properties": {
            "FileSystemId": {"Ref": "FileSystem"},
            "DataRepositoryPath": {"Fn::Sub": "s3://${Checkpoints}/export"},
            "S3": {"AutoExportPolicy": {"Events": ["NEW"]}},
        },
    }


def scripts_of_another_bucket(resources):
    for group in resources["Cluster"]["Properties"]["InstanceGroups"]:
        group["LifeCycleConfig"]["SourceS3Uri"] = "s3://elsewhere/scripts"


RUN_AS = f"run-as UploadRole, {SCRIPTS}"

WEAKENINGS = [
    (no_denial_of_writes, f"{ADMINISTRATORS} yes: {CHECKPOINTS}", "CheckpointsPolicy"),
    (no_denial_of_configuration, f"{ADMINISTRATORS} yes: change-bucket Scripts", "ScriptsPolicy"),
    (no_bucket_policy, f"{ADMINISTRATORS} yes: {CHECKPOINTS}", "Checkpoints"),
    (denial_without_put, f"{ADMINISTRATORS} yes: {CHECKPOINTS}", "CheckpointsPolicy"),
    (
        a_role_of_another_account_is_exempt_and_admitted,
        f"{ROLE_OF_OTHER} yes: {CHECKPOINTS}",
        "CheckpointsPolicy",
    ),
    (
        a_role_outside_the_template_is_exempt,
        f"arn:aws:iam::111122223333:role/ci undetermined: {SCRIPTS}",
        "ScriptsPolicy",
    ),
    (
        a_pattern_is_exempt,
        f"principals named arn:aws:iam::*:role/team-* undetermined: {SCRIPTS}",
        "ScriptsPolicy",
    ),
    (everybody_is_admitted, f"anyone, also outside AWS yes: {CHECKPOINTS}", "CheckpointsPolicy"),
    (a_public_acl, f"anyone, also outside AWS yes: {CHECKPOINTS}", "Checkpoints"),
    (a_service_is_admitted, f"service delivery.logs.amazonaws.com yes: {CHECKPOINTS}", "CheckpointsPolicy"),
    (key_policy_of_another_account, f"account {OTHER} yes: change-key Key", "Key"),
    (a_role_may_change_the_key_policy, "KeyKeeper yes: change-key Key", "KeyKeeper"),
    (trust_of_another_account, f"account {OTHER} yes: assume NodeRole, {CHECKPOINTS}", "NodeRole"),
    (trust_of_everybody, f"anyone, also outside AWS yes: assume NodeRole, {CHECKPOINTS}", "NodeRole"),
    (
        trust_of_a_role_that_another_role_may_take,
        f"Far yes: assume Middle, assume NodeRole, {CHECKPOINTS}",
        "Middle",
    ),
    (
        trust_of_the_account_and_a_role_that_may_assume,
        f"Taker yes: assume NodeRole, {CHECKPOINTS}",
        "Taker",
    ),
    (
        trust_of_a_provider,
        "federated by arn:aws:iam::111122223333:oidc-provider/token.actions.githubusercontent.com "
        f"yes: assume NodeRole, {CHECKPOINTS}",
        "NodeRole",
    ),
    (pass_role_star, f"Passer yes: pass NodeRole, {CHECKPOINTS}", "Passer"),
    (
        a_role_may_change_the_trust_of_the_nodes_role,
        f"Truster yes: change-trust NodeRole, {CHECKPOINTS}",
        "Truster",
    ),
    (
        a_role_may_change_the_policy_of_the_nodes_role,
        f"Widener undetermined: change-permissions NodeRole, {CHECKPOINTS}",
        "Widener",
    ),
    (a_role_may_widen_itself, f"Climber yes: escalate {ADMINISTRATORS}", "Climber"),
    (
        a_user_may_make_keys_of_a_writer,
        "Helpdesk yes: take-credentials Writer, change-cluster Cluster",
        "Helpdesk",
    ),
    (a_group_is_administrator, "Member yes: open-session Cluster", "Team"),
    (lambda_permission, f"account {OTHER} yes: invoke UploadFunction, {RUN_AS}", "Permission"),
    (a_role_may_change_the_upload, f"Developer yes: change-function UploadFunction, {RUN_AS}", "Developer"),
    (
        a_role_writes_the_staging_bucket,
        f"Publisher yes: write-objects staging bucket staging, feed UploadFunction, {RUN_AS}",
        "Publisher",
    ),
    (ssh_from_a_range, "addresses in 10.0.0.0/8 yes: reach NodeGroup", "NodeGroup"),
    (a_role_opens_ports, "NetworkAdmin yes: change-ports NodeGroup", "NetworkAdmin"),
    (a_role_updates_clusters, "Operator yes: change-cluster Cluster", "Operator"),
    (a_role_updates_clusters, "Operator yes: open-session Cluster", "Operator"),
    (an_unknown_policy, "Mystery undetermined: unknown training nodes", "Mystery"),
    (
        a_file_system_exports,
        f"users of file system FileSystem undetermined: {CHECKPOINTS}",
        "Link",
    ),
    (
        scripts_of_another_bucket,
        f"{ADMINISTRATORS} yes: write-objects lifecycle script bucket elsewhere",
        None,
    ),
]


@pytest.mark.parametrize(
    ("weaken", "line", "holder"), WEAKENINGS, ids=lambda item: getattr(item, "__name__", None)
)
def test_whom_a_weakening_lets_in_is_on_the_map(template, weaken, line, holder):
    before = trust_map(copy.deepcopy(template))
    weaken(template["Resources"])
    after = trust_map(template)
    assert line in new_lines(before, after)
    (way,) = (
        way
        for way in after.ways
        if f"{name_of(after.nodes[way.principal])} {way.certainty}: {line_of(after, way)}" == line
    )
    if holder is not None:
        assert holder in {item.logical_id for item in way.steps[0].evidence}
    assert after.nodes[way.principal].words in after.text()


def test_a_role_may_be_passed_only_to_services_that_it_trusts(template):
    before = trust_map(copy.deepcopy(template))
    pass_role_to_lambda_only(template["Resources"])
    assert new_lines(before, trust_map(template)) == {
        "Passer yes: change-cluster Cluster",
        f"{ADMINISTRATORS} yes: change-trust Passer, change-cluster Cluster",
        f"{ADMINISTRATORS} yes: pass Passer, change-cluster Cluster",
        "service ec2.amazonaws.com yes: assume Passer, change-cluster Cluster",
    }


def test_a_chain_names_each_statement(template):
    trust_of_a_role_that_another_role_may_take(template["Resources"])
    (way,) = trust_map(template).ways_of("Far")
    assert [(step.evidence[0].logical_id, step.evidence[0].path) for step in way.steps] == [
        ("Middle", ("AssumeRolePolicyDocument", "Statement", 1)),
        ("NodeRole", ("AssumeRolePolicyDocument", "Statement", 1)),
        ("NodePolicy", ("PolicyDocument", "Statement", 1)),
    ]
