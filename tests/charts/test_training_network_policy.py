"""Who may talk to training pods, and whom they may call."""

from __future__ import annotations

from typing import Any

import pytest
from charted import TOKEN, object_of

from hyperpod_charts import TrainingNetworkPolicy, member_labels
from hyperpod_model.catalog.ports import TIERED_CHECKPOINTING_LISTENERS
from hyperpod_model.faults import InvalidInputError

LABELS = member_labels("llama")
MEMBERS = {"podSelector": {"matchLabels": LABELS}}
DNS_PORTS = [{"protocol": "TCP", "port": 53}, {"protocol": "UDP", "port": 53}]


def policy(**changes: Any) -> dict[str, Any]:
    said: dict[str, Any] = {"name": "llama", "namespace": "training", "pod_labels": LABELS}
    return object_of(lambda chart: TrainingNetworkPolicy(chart, "Policy", **(said | changes)))


def spec(**changes: Any) -> dict[str, Any]:
    return dict(policy(**changes)["spec"])


def test_kind_and_metadata():
    made = policy()
    assert (made["apiVersion"], made["kind"]) == ("networking.k8s.io/v1", "NetworkPolicy")
    assert made["metadata"] == {"name": "llama", "namespace": "training"}


def test_it_is_for_the_pods_with_the_labels():
    assert spec()["podSelector"] == {"matchLabels": LABELS}


def test_only_members_come_in():
    assert spec()["ingress"] == [{"from": [MEMBERS]}]
    assert "Ingress" in spec()["policyTypes"]


def test_members_reach_each_other_at_all_ports():
    """Processes agree on ports when they start: a list of ports would cut them off."""
    (rule,) = spec()["ingress"]
    assert "ports" not in rule
    assert {"to": [MEMBERS]} in spec()["egress"]


def test_nobody_comes_in_without_member_traffic():
    made = spec(member_traffic=False)
    assert made["ingress"] == []
    assert {"to": [MEMBERS]} not in made["egress"]


def test_the_operator_reaches_the_agent_and_nothing_else():
    assert spec(operator_agent=True)["ingress"][1:] == [
        {
            "from": [{"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "aws-hyperpod"}}}],
            "ports": [{"protocol": "TCP", "port": 8080}],
        }
    ]


def test_pods_resolve_names():
    assert {
        "to": [
            {
                "podSelector": {"matchLabels": {"k8s-app": "kube-dns"}},
                "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "kube-system"}},
            }
        ],
        "ports": DNS_PORTS,
    } in spec()["egress"]


def test_pods_reach_aws_and_their_credentials():
    made = spec()
    assert made["policyTypes"] == ["Ingress", "Egress"]
    assert {"ports": [{"protocol": "TCP", "port": 443}]} in made["egress"]
    assert {
        "to": [{"ipBlock": {"cidr": "169.254.170.23/32"}}, {"ipBlock": {"cidr": "fd00:ec2::23/128"}}],
        "ports": [{"protocol": "TCP", "port": 80}],
    } in made["egress"]


def test_nothing_more_goes_out_than_is_said():
    assert len(spec()["egress"]) == 4
    assert not any(rule == {} for rule in spec()["egress"])


def test_pods_reach_the_memory_tier_on_the_nodes():
    (rule,) = spec(tiered=True, node_cidrs=["10.1.0.0/16"])["egress"][4:]
    assert rule["to"] == [{"ipBlock": {"cidr": "10.1.0.0/16"}}]
    reached = {
        (said["protocol"].lower(), port)
        for said in rule["ports"]
        for port in range(said["port"], said.get("endPort", said["port"]) + 1)
    }
    assert reached == {
        (part.protocol, port)
        for part in TIERED_CHECKPOINTING_LISTENERS
        for port in range(part.first, part.last + 1)
    }


def test_the_memory_tier_is_at_any_address_where_the_nodes_are_not_known():
    (rule,) = spec(tiered=True)["egress"][4:]
    assert rule.keys() == {"ports"}


def test_further_ports():
    assert spec(egress_ports=[5000])["egress"][4:] == [{"ports": [{"protocol": "TCP", "port": 5000}]}]


def test_open_egress_leaves_out_the_half_about_it():
    """An empty list with the policy type would close what is meant to be open."""
    made = spec(open_egress=True)
    assert made["policyTypes"] == ["Ingress"]
    assert "egress" not in made


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"pod_labels": {}}, "NetworkPolicy 'llama': pod_labels: is empty, which would select every pod"),
        ({"pod_labels": {"a b": "c"}}, "pod_labels.a b: must be"),
        ({"name": "Llama"}, "name: must be .* got 'Llama'"),
        ({"node_cidrs": "10.0.0.0/8"}, "node_cidrs: must be a list, got '10.0.0.0/8'"),
        ({"node_cidrs": ["10.0.0.1/8"]}, r"node_cidrs\[0\]: must be a range such as .* got '10.0.0.1/8'"),
        ({"node_cidrs": ["10.0.0.1"]}, r"node_cidrs\[0\]: must be a range"),
        ({"egress_ports": [0]}, "egress_ports: .* at least 1, got 0"),
    ],
)
def test_a_wrong_policy_is_refused(change: dict[str, Any], message: str):
    with pytest.raises(InvalidInputError, match=message):
        policy(**change)


def test_a_range_that_is_not_known_yet_passes():
    (rule,) = spec(tiered=True, node_cidrs=[TOKEN])["egress"][4:]
    assert rule["to"] == [{"ipBlock": {"cidr": TOKEN}}]
