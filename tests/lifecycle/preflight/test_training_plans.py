"""Whether training plans fit."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from preflight_account import (
    EXISTING,
    MADE,
    PLAN,
    capacity,
    clusters,
    group,
    plan,
    restricted,
    subnet,
    with_groups,
)
from preflight_asked import all_ok, asked, only
from told_aws import Refusal, denied

NAME = "training plan"
DESCRIBE = ("sagemaker", "DescribeTrainingPlan")
SPEC = with_groups(MADE, training_plan_arn=PLAN)


def told(**more):
    return {DESCRIBE: plan(**more)}


def of(**more):
    return told(ReservedCapacitySummaries=[capacity(**more)])


def test_a_plan_that_fits():
    all_ok(asked(NAME, SPEC), "plan-1: it is Active and fits workers$")


def test_no_plan():
    only(asked(NAME, MADE), "not applicable", "no group uses one")


def test_a_plan_that_begins_later_is_well():
    begins = datetime(2026, 12, 24, 11, 30, tzinfo=UTC)
    later = told(
        Status="Scheduled",
        StartTime=begins,
        AvailableInstanceCount=0,
        ReservedCapacitySummaries=[capacity(Status="Scheduled")],
    )
    all_ok(
        asked(NAME, SPEC, later),
        "Scheduled and fits workers; nodes come when it begins, 2026-12-24 11:30 UTC",
    )


@pytest.mark.parametrize(
    ("change", "pattern"),
    [
        (told(Status="Expired"), "it is Expired; reserve another plan"),
        (told(Status="Failed", StatusMessage="card declined"), "it is Failed: card declined; reserve"),
        (told(Status="Pending"), "it is Pending: it is not paid; wait until it is Active or Scheduled"),
        (told(TargetResources=["training-job"]), "for training-job alone; reserve one for hyperpod-cluster"),
        (
            of(InstanceType="ml.p5e.48xlarge"),
            "it has ml.p5e.48xlarge, and group workers is of ml.p5.48xlarge;",
        ),
        (
            of(AvailabilityZoneId="usw2-az2"),
            "in usw2-az2, and group workers in usw2-az1; set network.availability_zone_id",
        ),
        (of(TotalInstanceCount=3), "it has 3 instances, and 4 are needed; make the groups smaller"),
        (
            told(AvailableInstanceCount=3),
            "3 of its 8 instances are free, and 4 more are needed; take the others",
        ),
    ],
)
def test_a_plan_that_does_not_fit(change, pattern):
    only(asked(NAME, SPEC, change), "problem", pattern)


def test_every_fault_of_a_plan_is_told():
    found = asked(NAME, SPEC, told(TargetResources=["endpoint"], AvailableInstanceCount=0))
    assert [each.verdict for each in found] == ["problem", "problem"]


def test_the_zone_is_that_of_the_subnet():
    spec = with_groups(EXISTING, training_plan_arn=PLAN)
    all_ok(asked(NAME, spec))
    elsewhere = {("ec2", "DescribeSubnets"): {"Subnets": [subnet(AvailabilityZoneId="usw2-az4")]}}
    only(asked(NAME, spec, elsewhere), "problem", "group workers in usw2-az4")


def test_groups_share_a_plan():
    spec = {
        **SPEC,
        "instance_groups": [*SPEC["instance_groups"], {**SPEC["instance_groups"][1], "name": "more"}],
    }
    all_ok(asked(NAME, spec), "fits workers, more")
    only(
        asked(NAME, spec, told(AvailableInstanceCount=7)),
        "problem",
        "7 of its 8 instances are free, and 8 more",
    )


def test_what_the_cluster_itself_uses_is_free():
    there = clusters(llm_train=[group("workers", "ml.p5.48xlarge", 2, TrainingPlanArn=PLAN)])
    all_ok(asked(NAME, SPEC, {**there, **told(AvailableInstanceCount=2)}))
    only(asked(NAME, SPEC, {**there, **told(AvailableInstanceCount=1)}), "problem", "and 2 more are needed")


def test_a_plan_of_another_region():
    spec = with_groups({**EXISTING, "region": None}, training_plan_arn=PLAN.replace("us-west-2", "us-east-1"))
    only(asked(NAME, spec), "problem", "it is of us-east-1, the cluster of us-west-2")


def test_a_plan_of_another_account():
    spec = with_groups(MADE, training_plan_arn=PLAN.replace("111122223333", "444455556666"))
    only(asked(NAME, spec), "cannot tell", "of account 444455556666, and the credentials are of 111122223333")


def test_no_such_plan():
    only(
        asked(NAME, SPEC, {DESCRIBE: Refusal("ResourceNotFound", status=404)}),
        "problem",
        "no such plan in us-west-2",
    )


def test_capacity_that_nobody_names():
    only(asked(NAME, SPEC, told(ReservedCapacitySummaries=[])), "cannot tell", "names no capacity")
    nowhere = capacity()
    del nowhere["AvailabilityZoneId"]
    found = asked(NAME, SPEC, told(ReservedCapacitySummaries=[nowhere]))
    only(found, "cannot tell", "the zone of the plan is unknown")


def test_the_missing_permission_is_named():
    action = "sagemaker:DescribeTrainingPlan"
    only(
        asked(NAME, SPEC, {DESCRIBE: denied(action)}), "cannot tell", f"permit {action}; ask for that action"
    )


def test_clusters_that_nobody_may_list():
    refused = {("sagemaker", "ListClusters"): denied("sagemaker:ListClusters")}
    only(
        asked(NAME, SPEC, {**refused, **told(AvailableInstanceCount=1)}),
        "cannot tell",
        "1 of its instances are fr",
    )
    all_ok(asked(NAME, SPEC, refused))


def test_a_restricted_group():
    all_ok(asked(NAME, restricted(training_plan_arn=PLAN)), "fits nova")
