"""The three cases on a cluster."""

from __future__ import annotations

import re
from typing import Any

import pytest
from aws_cdk import Annotations, Fn, Token
from clusters import cluster, controller, group_of, properties_of, template_of, warnings_of, workers

from hyperpod_constructs.hyperpod_cluster import COMMISSIONING_WARNING
from hyperpod_constructs.resilience_policy import ResiliencePolicy
from hyperpod_model.faults import InvalidInputError

ON = ["InstanceStress", "InstanceConnectivity"]


@pytest.mark.parametrize(
    ("policy", "checks", "warned"),
    [
        (ResiliencePolicy(), ON, False),
        (ResiliencePolicy(spare_nodes=2), ON, False),
        (ResiliencePolicy(spare_nodes=2, replacement_wait="intolerable"), ON, False),
        (ResiliencePolicy(spare_nodes=2, replacement_wait="avoid", commissioned=True), ON, False),
        (ResiliencePolicy(replacement_wait="avoid"), ON, True),
        (ResiliencePolicy(replacement_wait="avoid", commissioned=True), None, False),
        (ResiliencePolicy(replacement_wait="intolerable"), None, False),
    ],
)
def test_cases(policy: ResiliencePolicy, checks: list[str] | None, warned: bool) -> None:
    made = cluster(resilience=policy)
    assert group_of(made).get("OnStartDeepHealthChecks") == checks
    warnings = warnings_of(made)
    assert len(warnings) == int(warned)
    if warned:
        assert warnings[0].startswith(
            "deep health checks are on until the cluster is commissioned: once the first have passed, "
            "deploy again with commissioned=True"
        )
        assert warnings[0].endswith(f"[ack: {COMMISSIONING_WARNING}]")


def test_the_second_step_can_be_acknowledged() -> None:
    made = cluster(resilience=ResiliencePolicy(replacement_wait="avoid"))
    Annotations.of(made).acknowledge_warning(COMMISSIONING_WARNING, "next week")
    assert warnings_of(made) == []


def test_the_default_is_no_spares_and_checks_throughout() -> None:
    made = cluster(resilience=None)
    assert made.resilience == ResiliencePolicy()
    assert group_of(made)["OnStartDeepHealthChecks"] == ON


def test_spares_are_on_record() -> None:
    made = cluster(resilience=ResiliencePolicy(spare_nodes=2))
    properties = properties_of(made)
    assert {"Key": "hyperpod:spare-nodes", "Value": "2"} in properties["Tags"]
    assert {"Key": "hyperpod:replacement-wait", "Value": "tolerable"} in properties["Tags"]
    (output,) = template_of(made)["Outputs"].values()
    assert output == {
        "Description": "Spare nodes of cluster llm-train: a job goes on with one of 2 spare nodes while a "
        "replacement is checked",
        "Value": "2",
    }


@pytest.mark.parametrize(
    ("policy", "words"),
    [
        (ResiliencePolicy(spare_nodes=1), "goes on with the spare node"),
        (ResiliencePolicy(), "waits about 2 hours at every replacement, until the new node is checked"),
        (ResiliencePolicy(replacement_wait="avoid"), "until commissioned=True is deployed"),
        (ResiliencePolicy(replacement_wait="avoid", commissioned=True), "which is not checked"),
        (ResiliencePolicy(replacement_wait="intolerable"), "which is not checked"),
    ],
)
def test_consequences_in_words(policy: ResiliencePolicy, words: str) -> None:
    assert words in policy.consequence


def test_recovery() -> None:
    assert properties_of(cluster())["NodeRecovery"] == "Automatic"
    made = cluster(resilience=ResiliencePolicy(node_recovery="None"))
    assert properties_of(made)["NodeRecovery"] == "None"
    (warning,) = warnings_of(made)
    assert warning.startswith("cluster 'llm-train': resilience.node_recovery 'None' only labels faulty nodes")
    assert warning.endswith("[ack: hyperpod:HyperPodCluster.NodeRecovery]")


def test_recovery_may_be_a_token() -> None:
    made = cluster(resilience=ResiliencePolicy(node_recovery=Fn.import_value("recovery")))
    assert properties_of(made)["NodeRecovery"] == {"Fn::ImportValue": "recovery"}


@pytest.mark.parametrize(
    ("props", "message"),
    [
        ({"spare_nodes": -1}, "resilience policy: spare_nodes must be 0 or more, got -1"),
        ({"spare_nodes": "2"}, "resilience policy: spare_nodes must be a whole number, got '2'"),
        (
            {"replacement_wait": "never"},
            "resilience policy: replacement_wait must be one of 'tolerable', 'avoid', 'intolerable', got",
        ),
        (
            {"node_recovery": "Auto"},
            "resilience policy: node_recovery must be one of 'Automatic', 'None', got 'Auto'",
        ),
        (
            {"spare_nodes": Token.as_number({"Ref": "Spares"})},
            "resilience policy: spare_nodes decides what is deployed, so it must be known at synthesis",
        ),
        (
            {"replacement_wait": Fn.import_value("wait")},
            "resilience policy: replacement_wait decides what is deployed, so it must be known at synthesis",
        ),
    ],
)
def test_refused(props: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInputError, match=re.escape(message)):
        ResiliencePolicy(**props)


def test_spares_must_leave_nodes_to_work() -> None:
    with pytest.raises(
        InvalidInputError,
        match=r"^cluster 'llm-train': resilience\.spare_nodes must be fewer than the accelerated nodes of "
        r"the cluster, which are 16, got 16; spares are part of instance_count$",
    ):
        cluster(resilience=ResiliencePolicy(spare_nodes=16))


def test_spares_pass_where_a_count_is_a_token() -> None:
    groups = [controller(), workers(instance_count=Token.as_number({"Ref": "Workers"}))]
    made = cluster(instance_groups=groups, resilience=ResiliencePolicy(spare_nodes=99))
    assert {"Key": "hyperpod:spare-nodes", "Value": "99"} in properties_of(made)["Tags"]
