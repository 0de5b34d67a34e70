"""Whether service quotas hold the cluster."""

from __future__ import annotations

import pytest
from preflight_account import CLUSTER_QUOTAS, MADE, PLAN, clusters, group, quota, restricted, with_groups
from preflight_asked import all_ok, asked, only
from told_aws import Refusal, denied

NAME = "quota"
APPLIED = ("service-quotas", "ListServiceQuotas")
DEFAULTS = ("service-quotas", "ListAWSDefaultServiceQuotas")
P5 = "ml.p5.48xlarge for cluster usage"


def quotas(**values):
    """The good account's quotas, some changed by the last part of their code."""
    rows = [{**row, "Value": values.get(row["QuotaCode"][2:], row["Value"])} for row in CLUSTER_QUOTAS]
    return {APPLIED: {"Quotas": [row for row in rows if row["Value"] is not None]}}


def test_all_quotas_hold():
    found = asked(NAME, MADE)
    all_ok(found, f"{P5}: it is 8, 4 needed$", "per SageMaker HyperPod cluster: it is 20, 5 needed$", "EBS")
    assert len(found) == 5


def test_what_other_clusters_use_counts():
    there = clusters(
        another=[
            group("a", "ml.p5.48xlarge", 3),
            group("b", "ml.p5.48xlarge", 2),
            group("c", "ml.m5.large", 9),
        ]
    )
    found = only(
        asked(NAME, MADE, there), "problem", "it is 8, 4 needed and 5 used by other clusters; ask for 9"
    )
    assert found.subject == P5
    assert found.remedy.endswith("--quota-code L-P5 --desired-value 9 --region us-west-2")


def test_a_group_counts_what_it_is_to_have():
    there = clusters(another=[{**group("a", "ml.p5.48xlarge", 0), "TargetCount": 6}])
    only(asked(NAME, MADE, there), "problem", "6 used by other clusters")


def test_as_much_as_there_is_will_do():
    all_ok(asked(NAME, MADE, quotas(P5=4, M5=1, ONE=5, ALL=5, EBS=500)))


def test_restricted_groups_count():
    only(asked(NAME, restricted(), quotas(P5=3)), "problem", "it is 3, 4 needed")
    there = clusters(another=[])
    describe = there["sagemaker", "DescribeCluster"]
    row = group("nova", "ml.p5.48xlarge", 7)
    there["sagemaker", "DescribeCluster"] = lambda asked: {
        **describe(asked),
        "RestrictedInstanceGroups": [row],
    }
    only(asked(NAME, MADE, there), "problem", "4 needed and 7 used by other clusters")


def test_flexible_groups_count():
    flexible = {
        "InstanceGroupName": "flexible",
        "CurrentCount": 4,
        "TargetCount": 5,
        "InstanceRequirements": {"CurrentInstanceTypes": ["ml.p5.48xlarge", "ml.m5.large"]},
        "InstanceTypeDetails": [
            {"InstanceType": "ml.p5.48xlarge", "CurrentCount": 3},
            {"InstanceType": "ml.m5.large", "CurrentCount": 1},
        ],
    }
    there = clusters(another=[flexible])
    all_ok(asked(NAME, MADE, there), f"{P5}: it is 8, 4 needed and 4 used by other clusters")


def test_a_flexible_group_of_which_nothing_is_told():
    row = {"InstanceGroupName": "flexible", "CurrentCount": 0, "TargetCount": 50, "InstanceRequirements": {}}
    found = only(
        asked(NAME, MADE, clusters(another=[row])), "problem", "5 needed and 50 used by other clusters"
    )
    assert found.subject.startswith("Total number of instances")


def test_the_cluster_itself_does_not_count_twice():
    all_ok(
        asked(NAME, MADE, clusters(llm_train=[group("workers", "ml.p5.48xlarge", 8)])), "it is 8, 4 needed$"
    )


def test_a_quota_of_nothing():
    only(
        asked(NAME, MADE, quotas(P5=0)), "problem", "it is 0, 4 needed; ask for 4: aws service-quotas request"
    )


@pytest.mark.parametrize(
    ("code", "value", "subject"),
    [
        ("ONE", 4, "Maximum number instances allowed per SageMaker HyperPod cluster"),
        ("ALL", 4, "Total number of instances allowed across SageMaker HyperPod clusters"),
        ("EBS", 499, "Maximum size of EBS volume in GB for a SageMaker HyperPod cluster instance"),
    ],
)
def test_the_other_quotas(code, value, subject):
    found = only(asked(NAME, MADE, quotas(**{code: value})), "problem", f"it is {value}, (5|500) needed")
    assert found.subject == subject


def test_a_default_stands_where_none_was_applied():
    default = {DEFAULTS: {"Quotas": [quota(P5, 2, "L-P5")]}}
    only(asked(NAME, MADE, {**quotas(P5=None), **default}), "problem", "it is 2, 4 needed")
    all_ok(asked(NAME, MADE, default))


def test_names_match_whatever_their_case_and_blanks():
    rows = [
        quota(" ".join(row["QuotaName"].upper().split(" ")) + " ", row["Value"]) for row in CLUSTER_QUOTAS
    ]
    all_ok(asked(NAME, MADE, {APPLIED: {"Quotas": rows}}))


def test_a_quota_that_nobody_lists():
    only(
        asked(NAME, MADE, quotas(P5=None)),
        "cannot tell",
        f"{P5}: Service Quotas lists none of this name in us-w",
    )


def test_reserved_capacity_may_not_count():
    spec = with_groups(MADE, training_plan_arn=PLAN)
    only(
        asked(NAME, spec, quotas(P5=3)),
        "cannot tell",
        "4 needed, 4 of them reserved or spare: no source says",
    )
    all_ok(asked(NAME, spec))


SPARE = with_groups(MADE, capacity_type="spot")
SPOT_ROW = group("a", "ml.p5.48xlarge", 5, CapacityRequirements={"Spot": {}})


class TestSpareCapacity:
    def test_it_has_quotas_of_its_own(self):
        found = asked(NAME, SPARE, quotas(P5=0))
        all_ok(
            found,
            "^ml.p5.48xlarge for cluster spot instance usage: it is 8, 4 needed$",
            "^Total number of Spot instances .*: it is 9, 4 needed$",
        )
        assert P5 not in [each.subject for each in found]

    @pytest.mark.parametrize(
        ("code", "subject"),
        [("SPOT", "ml.p5.48xlarge for cluster spot instance usage"), ("SPOTS", "Total number of Spot inst")],
    )
    def test_too_small(self, code, subject):
        found = only(asked(NAME, SPARE, quotas(**{code: 3})), "problem", "it is 3, 4 needed; ask for 4: aws")
        assert found.subject.startswith(subject)

    def test_spare_instances_of_others_count_for_it_alone(self):
        found = [
            each for each in asked(NAME, SPARE, clusters(another=[SPOT_ROW])) if each.verdict == "problem"
        ]
        assert [each.message for each in found] == ["it is 8, 4 needed and 5 used by other clusters"]
        all_ok(asked(NAME, MADE, clusters(another=[SPOT_ROW])), f"{P5}: it is 8, 4 needed$")

    def test_other_instances_of_others_do_not_count(self):
        there = clusters(another=[group("a", "ml.p5.48xlarge", 8)])
        all_ok(asked(NAME, SPARE, there), "spot instance usage: it is 8, 4 needed$")

    def test_whether_it_counts_among_all_is_unknown(self):
        only(asked(NAME, SPARE, quotas(ONE=3)), "cannot tell", "5 needed, 4 of them reserved or spare")

    def test_a_quota_that_nobody_lists(self):
        said = (
            "ml.p5.48xlarge for cluster spot .* lists none of this name in us-west-2: perhaps HyperPod lacks"
        )
        only(asked(NAME, SPARE, quotas(SPOT=None)), "cannot tell", said)
        said = "Total number of Spot instances .* lists none of this name in us-west-2$"
        only(asked(NAME, SPARE, quotas(SPOTS=None)), "cannot tell", said)


def flexible(count, **more):
    (controller, workers) = MADE["instance_groups"]
    workers = {
        name: value for name, value in workers.items() if name not in ("instance_type", "instance_count")
    }
    return {
        **MADE,
        "node_provisioning_mode": "Continuous",
        "instance_groups": [
            {**controller, "instance_type": "ml.m5.large"},
            {
                **workers,
                "instance_types": ["ml.p5.48xlarge", "ml.m5.2xlarge"],
                "instance_count": count,
                **more,
            },
        ],
    }


LARGE = quota("ml.m5.large for cluster usage", 5, "L-LARGE")


class TestFlexibleGroups:
    def asked(self, count, *, more=None, **values):
        rows = quotas(**values)[APPLIED]["Quotas"]
        return asked(NAME, flexible(count), {APPLIED: {"Quotas": [*rows, LARGE]}, **(more or {})})

    def test_each_type_has_room(self):
        all_ok(
            self.asked(2), f"{P5}: it is 8, 2 needed$", "ml.m5.2xlarge for cluster usage: it is 2, 2 needed$"
        )

    @pytest.mark.parametrize("count", [4, 10])
    def test_one_type_has_no_room_for_all(self, count):
        found = [each for each in self.asked(count) if each.verdict != "ok"]
        assert {each.verdict for each in found} == {"cannot tell"}
        assert f"{count} needed, {count} of them perhaps of other types of their group" in found[-1].message

    def test_no_type_has_room(self):
        found = [each for each in self.asked(12, ONE=50, ALL=50) if each.verdict == "problem"]
        assert [each.subject for each in found] == ["ml.p5.48xlarge or ml.m5.2xlarge for workers"]
        assert found[0].message == "the quotas of its types leave room for 10, 12 needed"
        assert "--quota-code L-P5 --desired-value 10 " in found[0].remedy

    def test_what_others_use_leaves_no_room(self):
        there = clusters(another=[group("a", "ml.p5.48xlarge", 8), group("b", "ml.m5.2xlarge", 2)])
        found = [each for each in self.asked(1, more=there) if each.verdict == "problem"]
        assert [each.message for each in found] == ["the quotas of its types leave room for 0, 1 needed"]

    def test_a_quota_that_nobody_lists(self):
        found = [each for each in self.asked(12, ONE=50, ALL=50, M5=None) if each.verdict != "ok"]
        assert {each.verdict for each in found} == {"cannot tell"}

    def test_what_others_use_is_unknown(self):
        refused = {("sagemaker", "ListClusters"): denied("sagemaker:ListClusters")}
        assert "problem" not in {each.verdict for each in self.asked(10, more=refused)}


def test_reserved_capacity_of_others_may_not_count():
    there = clusters(another=[group("a", "ml.p5.48xlarge", 5, TrainingPlanArn=PLAN)])
    only(asked(NAME, MADE, there), "cannot tell", "5 of them reserved or spare")


def test_what_others_use_is_unknown():
    refused = {("sagemaker", "DescribeCluster"): denied("sagemaker:DescribeCluster")}
    there = {**clusters(another=[group("a", "ml.p5.48xlarge", 1)]), **refused}
    found = asked(NAME, MADE, there)
    assert [each.verdict for each in found] == ["cannot tell", "cannot tell", "ok", "cannot tell", "ok"]
    assert "unknown: the AWS credentials do not permit sagemaker:DescribeCluster" in found[0].text
    assert asked(NAME, MADE, {**there, **quotas(P5=3)})[1].verdict == "problem"


def test_a_group_without_instances_needs_no_quota():
    spec = with_groups(MADE, instance_count=0)
    all_ok(asked(NAME, spec, quotas(P5=0)))


@pytest.mark.parametrize("which", [APPLIED, DEFAULTS])
def test_the_missing_permission_is_named(which):
    action = f"servicequotas:{which[1]}"
    only(
        asked(NAME, MADE, {which: Refusal("AccessDeniedException", "no", 403)}),
        "cannot tell",
        f"permit {action};",
    )
