"""Who may talk to the pods of a job, and whom they may call."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from constructs import Construct

from hyperpod_charts.checked_arguments import (
    check_at_least,
    check_labels,
    check_metadata,
    known,
    refuse_arguments,
)
from hyperpod_charts.kubernetes_object import KubernetesObject, given
from hyperpod_model.catalog.add_ons import ADD_ONS
from hyperpod_model.catalog.cluster_rules import training_operator_tag
from hyperpod_model.catalog.kubernetes_platform import (
    DNS_NAMESPACE,
    DNS_PODS,
    NAMESPACE_NAME_LABEL,
    POD_IDENTITY_AGENT_CIDRS,
    POD_IDENTITY_AGENT_PORT,
)
from hyperpod_model.catalog.ports import (
    DNS,
    HTTPS,
    OPERATOR_AGENT,
    TIERED_CHECKPOINTING_LISTENERS,
    PortRange,
)
from hyperpod_model.faults import UNKNOWN, Fault

_KIND = "NetworkPolicy"


class TrainingNetworkPolicy(KubernetesObject):
    """A ``NetworkPolicy`` of ``networking.k8s.io/v1`` for training pods.

    Rendezvous and process groups of PyTorch take commands from whoever connects: let nobody but the members
    of the job in. Policies add up: what one of two policies for a pod allows is allowed.

    - It does nothing until the VPC CNI enforces policies: its configuration ``enableNetworkPolicy`` is
      ``"false"`` by default.
    - It does not hold for pods in the network of their node, so neither for checkpointless jobs nor for the
      daemon of tiered checkpointing: security groups do there.
    - EFA traffic passes by it, as by the whole network of Kubernetes: ``EfaSecurityGroup`` is its boundary.
    - Processes of the node itself reach its pods in any case, as the kubelet must.

    Args:
        scope: Parent, within a ``cdk8s.Chart``.
        id: Id within the parent.
        name: Name of the policy.
        namespace: Its namespace. Default that of the chart.
        pod_labels: Labels of the pods that it is for, such as ``member_labels`` of a job.
        member_traffic: Whether these pods reach each other, at all ports: processes agree on ports when they
            start. Default True.
        operator_agent: Whether the HyperPod operator reaches the agent in the pods. Default False.
        tiered: Whether the pods reach the memory tier. Default False.
        node_cidrs: Ranges of the nodes, where that tier listens. Default any address, at its ports alone.
        egress_ports: Further TCP ports at which the pods may call anybody. Default none.
        open_egress: Whether the pods may call anybody at all. Default False: DNS, HTTPS to anybody for AWS's
            APIs and Amazon S3, credentials of EKS Pod Identity, and what is said above.
        labels: Labels of the policy. Default none.
        annotations: Annotations of the policy. Default none.

    Raises:
        InvalidInputError: With all that Kubernetes would refuse.
    """

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        name: str,
        namespace: str | None = None,
        pod_labels: Mapping[str, str],
        member_traffic: bool = True,
        operator_agent: bool = False,
        tiered: bool = False,
        node_cidrs: Sequence[str] = (),
        egress_ports: Sequence[int] = (),
        open_egress: bool = False,
        labels: Mapping[str, str] | None = None,
        annotations: Mapping[str, str] | None = None,
    ) -> None:
        refuse_arguments(
            f"{_KIND} {name!r}",
            [
                *check_metadata(name=name, namespace=namespace, labels=labels, annotations=annotations),
                *check_labels("pod_labels", pod_labels, required=True),
                *_check_cidrs(node_cidrs),
                *(fault for port in egress_ports for fault in check_at_least("egress_ports", port, 1)),
            ],
        )
        members = {"podSelector": {"matchLabels": dict(pod_labels)}}
        egress = [
            *([{"to": [members]}] if member_traffic else []),
            _dns(),
            {"ports": _ports(HTTPS)},
            {
                "to": [{"ipBlock": {"cidr": cidr}} for cidr in POD_IDENTITY_AGENT_CIDRS],
                "ports": [_tcp(POD_IDENTITY_AGENT_PORT)],
            },
            *([_tier(node_cidrs)] if tiered else []),
            *([{"ports": [_tcp(port) for port in egress_ports]}] if egress_ports else []),
        ]
        super().__init__(
            scope,
            id,
            api_version="networking.k8s.io/v1",
            kind=_KIND,
            name=name,
            namespace=namespace,
            labels=labels,
            annotations=annotations,
            body={
                "spec": {
                    "podSelector": members["podSelector"],
                    "policyTypes": ["Ingress"] if open_egress else ["Ingress", "Egress"],
                    "ingress": [
                        *([{"from": [members]}] if member_traffic else []),
                        *([_operator()] if operator_agent else []),
                    ],
                    **({} if open_egress else {"egress": egress}),
                }
            },
        )


def _dns() -> dict[str, Any]:
    resolver = {"podSelector": {"matchLabels": dict(DNS_PODS)}, **_in_namespace(DNS_NAMESPACE)}
    return {"to": [resolver], "ports": _ports(DNS)}


def _operator() -> dict[str, Any]:
    namespace = ADD_ONS[training_operator_tag()["add_on"]].namespace
    return {"from": [_in_namespace(str(namespace))], "ports": _ports(OPERATOR_AGENT)}


def _tier(node_cidrs: Sequence[str]) -> dict[str, Any]:
    return given(
        to=[{"ipBlock": {"cidr": cidr}} for cidr in node_cidrs],
        ports=_ports(TIERED_CHECKPOINTING_LISTENERS),
    )


def _in_namespace(name: str) -> dict[str, Any]:
    return {"namespaceSelector": {"matchLabels": {NAMESPACE_NAME_LABEL: name}}}


def _ports(ranges: Iterable[PortRange]) -> list[dict[str, Any]]:
    return [
        given(
            protocol=part.protocol.upper(),
            port=part.first,
            endPort=part.last if part.last > part.first else None,
        )
        for part in ranges
    ]


def _tcp(port: int) -> dict[str, Any]:
    return {"protocol": "TCP", "port": port}


def _check_cidrs(cidrs: Sequence[str]) -> list[Fault]:
    if isinstance(cidrs, str):
        return [Fault(("node_cidrs",), f"must be a list, got {cidrs!r}; put it in brackets")]
    return [
        Fault(("node_cidrs", index), f"must be a range such as '10.1.0.0/16', got {cidr!r}")
        for index, cidr in enumerate(cidrs)
        if known(cidr) is not UNKNOWN and not _is_range(cidr)
    ]


def _is_range(cidr: str) -> bool:
    try:
        ipaddress.ip_network(cidr)
    except ValueError:
        return False
    return "/" in cidr
