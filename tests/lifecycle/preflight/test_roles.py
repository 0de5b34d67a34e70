"""Whether roles exist and trust who is to take them."""

from __future__ import annotations

import pytest
from preflight_account import MADE, ON_EKS, ROLE, SCALER, allow, role, with_groups
from preflight_asked import all_ok, asked, only
from told_aws import Refusal, denied

NAME = "role"
GET = ("iam", "GetRole")
SPEC = with_groups(MADE, execution_role_arn=ROLE)
SAGEMAKER = "sagemaker.amazonaws.com"


def statements(*rows):
    return {GET: role(ROLE, *rows)}


def told(service=SAGEMAKER, **more):
    return statements(allow(service, **more))


def test_a_role_of_nodes():
    all_ok(asked(NAME, SPEC), rf"^{ROLE}: it exists and trusts sagemaker.amazonaws.com \(nodes\)")


def test_each_role_is_asked_for_once():
    spec = {
        **SPEC,
        "instance_groups": [{**row, "execution_role_arn": ROLE} for row in SPEC["instance_groups"]],
    }
    assert len(asked(NAME, spec)) == 1


@pytest.mark.parametrize("more", [{"Action": ["sts:TagSession", "sts:AssumeRole"]}, {"Action": "sts:*"}])
def test_other_ways_to_say_it(more):
    all_ok(asked(NAME, SPEC, told(**more)))


def test_several_services():
    all_ok(asked(NAME, SPEC, told(service=["ec2.amazonaws.com", SAGEMAKER])))


@pytest.mark.parametrize(
    "change",
    [told(service="ec2.amazonaws.com"), told(Action="sts:TagSession"), told(Effect="Deny"), statements()],
)
def test_a_role_that_does_not_trust_sagemaker(change):
    only(
        asked(NAME, SPEC, change),
        "problem",
        "does not trust sagemaker.amazonaws.com .nodes.; allow sts:AssumeRole",
    )


def test_a_role_that_trusts_an_account_alone():
    found = statements(allow(SAGEMAKER, Principal={"AWS": "arn:aws:iam::111122223333:root"}))
    only(asked(NAME, SPEC, found), "problem", "does not trust")


def test_trust_on_conditions():
    condition = {"StringEquals": {"aws:SourceAccount": "111122223333"}}
    only(
        asked(NAME, SPEC, told(Condition=condition)),
        "cannot tell",
        "trusts sagemaker.amazonaws.com on conditions",
    )
    all_ok(asked(NAME, SPEC, statements(allow(SAGEMAKER, Condition=condition), allow(SAGEMAKER))))


def test_trust_and_denial():
    only(
        asked(NAME, SPEC, statements(allow(SAGEMAKER), allow(SAGEMAKER, Effect="Deny"))),
        "cannot tell",
        "denies sagemaker.amazonaws",
    )


def test_a_role_that_is_not_there():
    found = asked(NAME, SPEC, {GET: Refusal("NoSuchEntity", status=404)})
    only(found, "problem", "there is no such role .nodes.; make it")


def test_a_role_with_another_path():
    found = asked(NAME, SPEC, {GET: role(ROLE.replace("role/", "role/teams/"), allow(SAGEMAKER))})
    only(found, "problem", "the role of that name is arn:aws:iam::111122223333:role/teams/nodes")


def test_a_role_of_another_account():
    reader = "arn:aws:iam::444455556666:role/reader"
    spec = {**MADE, "checkpoint_bucket": {"reader_role_arns": [reader]}}
    only(asked(NAME, spec), "cannot tell", "of another account than 111122223333 .reader of checkpoints.")


def test_the_role_of_autoscaling_is_another_services():
    spec = {**ON_EKS, "auto_scaling": {"role_arn": SCALER}}
    spec["instance_groups"] = [{**ON_EKS["instance_groups"][0], "instance_count": 0}]
    all_ok(asked(NAME, spec), "trusts hyperpod.sagemaker.amazonaws.com .autoscaling.")
    only(
        asked(NAME, spec, {GET: role(SCALER, allow(SAGEMAKER))}),
        "problem",
        "does not trust hyperpod.sagemaker",
    )


def test_other_roles_must_only_exist():
    arn = "arn:aws:iam::111122223333:role/"
    spec = {
        **MADE,
        "administrator_role_arns": [arn + "admin"],
        "checkpoint_signing_key": {"verifier_role_arns": [arn + "verifier"]},
    }
    all_ok(
        asked(NAME, spec),
        "admin: it exists .administrator.$",
        "verifier: it exists .verifier of checkpoints.$",
    )


def test_no_role():
    only(asked(NAME, MADE), "not applicable", "no existing role is named")


def test_the_missing_permission_is_named():
    only(
        asked(NAME, SPEC, {GET: denied("iam:GetRole")}),
        "cannot tell",
        "permit iam:GetRole; ask for that action",
    )


def test_the_installer_of_the_chart_must_exist():
    eks = {
        "cluster_arn": ON_EKS["eks"]["cluster_arn"],
        "kubectl_role_arn": "arn:aws:iam::111122223333:role/admin",
        "cluster_security_group_id": "sg-0fedcba9876543210",
        "dependency_chart": {"oci_uri": "oci://r.example.com/c", "version": "0.1.0"},
    }
    all_ok(asked(NAME, {**ON_EKS, "eks": eks}), "admin: it exists .installer of the chart.$")
