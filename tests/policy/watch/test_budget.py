from __future__ import annotations

import pytest

ID = "Budget"


def _notification(template):
    return template["Resources"]["Budget"]["Properties"]["NotificationsWithSubscribers"][0]


def _subscribe(template, *addresses):
    _notification(template)["Subscribers"] = [
        {"SubscriptionType": "EMAIL", "Address": address} for address in addresses
    ]


def test_a_budget_that_tells_somebody_complies(judge, template):
    assert judge(ID, template).outcome(ID) == "pass"


def test_no_budget_fails_at_the_cluster(judge, template):
    del template["Resources"]["Budget"]
    (finding,) = judge(ID, template).failures
    assert (finding.logical_id, finding.severity) == ("Cluster", "warning")
    assert "this template has no budget" in finding.message


@pytest.mark.parametrize("given", [None, []])
def test_a_budget_without_notification_fails(judge, template, given):
    template["Resources"]["Budget"]["Properties"]["NotificationsWithSubscribers"] = given
    (finding,) = judge(ID, template).failures
    assert (finding.logical_id, finding.found) == ("Budget", "names no notification")


def test_a_notification_without_subscriber_fails(judge, template):
    _subscribe(template)
    (finding,) = judge(ID, template).failures
    assert finding.path == ("NotificationsWithSubscribers", 0, "Subscribers")
    assert "names nobody" in finding.message


@pytest.mark.parametrize(
    "address",
    ["training@example.com", "arn:aws:sns:us-west-2:111122223333:costs", {"Ref": "Address"}],
    ids=["mail", "topic", "parameter"],
)
def test_a_subscriber_elsewhere_complies(judge, template, address):
    template["Parameters"] = {"Address": {"Type": "String"}}
    _subscribe(template, address)
    assert judge(ID, template).outcome(ID) == "pass"


def test_a_topic_that_carries_nothing_fails(judge, template, obstacle):
    change, words = obstacle
    change(template["Resources"])
    (finding,) = judge(ID, template).failures
    assert words in finding.message


def test_a_topic_with_its_default_policy_fails(judge, template):
    del template["Resources"]["TopicPolicy"]
    (finding,) = judge(ID, template).failures
    assert "so budgets.amazonaws.com may not publish" in finding.message


def test_other_ways_of_the_same_comply(judge, template, benign):
    benign(template["Resources"])
    assert judge(ID, template).outcome(ID) == "pass"


def test_what_deployment_alone_can_tell_is_undetermined(judge, template, unclear):
    unclear(template["Resources"])
    assert judge(ID, template).failures == ()
    assert judge(ID, template).outcome(ID) == "undetermined"


def test_one_subscriber_that_hears_is_enough(judge, template):
    del template["Resources"]["TopicPolicy"]
    _subscribe(template, {"Ref": "Topic"}, "training@example.com")
    assert judge(ID, template).findings == ()


def test_unresolved_notifications_are_undetermined(judge, template):
    template["Parameters"] = {"All": {"Type": "CommaDelimitedList"}}
    template["Resources"]["Budget"]["Properties"]["NotificationsWithSubscribers"] = {"Ref": "All"}
    assert judge(ID, template).outcome(ID) == "undetermined"


def test_both_branches_are_judged(judge, template):
    template["Conditions"] = {"Told": {"Fn::Equals": [{"Ref": "AWS::Region"}, "us-east-1"]}}
    subscribers = [{"SubscriptionType": "EMAIL", "Address": "training@example.com"}]
    _notification(template)["Subscribers"] = {"Fn::If": ["Told", subscribers, {"Ref": "AWS::NoValue"}]}
    (finding,) = judge(ID, template).failures
    assert finding.when == "parameters and conditions have their defaults"


def test_a_template_without_cluster_has_no_verdicts(judge, template):
    del template["Resources"]["Cluster"]
    assert judge(ID, template).verdicts == ()


def test_a_condition_on_the_source_admits_the_account(judge, template, for_the_account):
    for_the_account(template["Resources"])
    assert judge(ID, template).outcome(ID) == "pass"


def _limits(template, **limits):
    template["Resources"]["Budget"]["Properties"]["Budget"] = limits


def _tag(template, key, value):
    template["Resources"]["Cluster"]["Properties"]["Tags"] = [{"Key": key, "Value": value}]


@pytest.mark.parametrize(
    ("limits", "path", "words"),
    [
        ({"BudgetType": "SAVINGS_PLANS_UTILIZATION"}, ("BudgetType",), "which counts no spending"),
        (
            {"CostFilters": {"Service": ["Amazon Elastic Compute Cloud - Compute"]}},
            ("CostFilters", "Service"),
            "nodes of HyperPod are charged as SageMaker",
        ),
        (
            {"CostFilters": {"TagKeyValue": ["user:project$speech"]}},
            ("CostFilters", "TagKeyValue"),
            "is user:project$speech, and the cluster has another value of that tag",
        ),
    ],
    ids=["type", "service", "tag"],
)
def test_a_budget_of_something_else_fails(judge, template, limits, path, words):
    _tag(template, "project", "llm")
    _limits(template, **limits)
    (finding,) = judge(ID, template).failures
    assert (finding.logical_id, finding.path) == ("Budget", ("Budget", *path))
    assert words in finding.message


@pytest.mark.parametrize(
    "limits",
    [
        {"BudgetType": "COST"},
        {"CostFilters": {"Service": ["Amazon SageMaker", "Amazon FSx"]}},
        {"CostFilters": {"Service": [{"Fn::ImportValue": "service"}]}},
        {"CostFilters": {"TagKeyValue": ["user:project$speech", "user:project$llm"]}},
        {"CostFilters": {"TagKeyValue": ["aws:cloudformation:stack-name$training"]}},
    ],
    ids=str,
)
def test_a_budget_that_counts_the_cluster_complies(judge, template, limits):
    _tag(template, "project", "llm")
    _limits(template, **limits)
    assert judge(ID, template).outcome(ID) == "pass"


@pytest.mark.parametrize(
    "tag", ["user:team$llm", {"Fn::Sub": "user:project$${Project}"}, {"Ref": "Project"}], ids=str
)
def test_a_tag_that_the_stack_may_have_is_undetermined(judge, template, tag):
    template["Parameters"] = {"Project": {"Type": "String"}}
    _tag(template, "project", "llm")
    _limits(template, CostFilters={"TagKeyValue": [tag]})
    report = judge(ID, template)
    assert report.failures == ()
    assert report.outcome(ID) == "undetermined"


@pytest.mark.parametrize("operator", ["LESS_THAN", "EQUAL_TO"])
def test_an_alert_on_little_spending_fails(judge, template, operator):
    _notification(template)["Notification"] = {"ComparisonOperator": operator}
    (finding,) = judge(ID, template).failures
    assert finding.found == f"is {operator}, which tells of other spending than of too much"


@pytest.mark.parametrize("operator", ["GREATER_THAN", {"Fn::ImportValue": "operator"}], ids=str)
def test_an_alert_on_much_spending_complies(judge, template, operator):
    _notification(template)["Notification"] = {"ComparisonOperator": operator}
    assert judge(ID, template).outcome(ID) == "pass"
