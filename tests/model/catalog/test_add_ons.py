from __future__ import annotations

import pytest

from hyperpod_model.catalog import add_ons
from hyperpod_model.catalog.add_ons import ADD_ONS, AFTER_NODES, BEFORE_NODES, add_on, kubectl_layer
from hyperpod_model.catalog.fact import UncertainFactError, UnknownNameError
from hyperpod_model.catalog.ports import EKS_CONTROL_PLANE, TIERED_CHECKPOINTING
from hyperpod_model.catalog.versions import KUBEFLOW_TRAINING_OPERATORS, MIN_VPC_CNI


def test_daemon_sets_come_before_nodes_and_deployments_after() -> None:
    assert BEFORE_NODES == ("vpc-cni", "kube-proxy", "eks-pod-identity-agent")
    assert AFTER_NODES == (
        "coredns",
        "aws-fsx-csi-driver",
        "cert-manager",
        "amazon-sagemaker-hyperpod-training-operator",
    )
    assert set(BEFORE_NODES) | set(AFTER_NODES) == set(ADD_ONS)


def test_whatever_an_add_on_requires_stands_before_it() -> None:
    names = list(ADD_ONS)
    for name, found in ADD_ONS.items():
        assert all(names.index(required) < names.index(name) for required in found.requires), name
    assert add_on("amazon-sagemaker-hyperpod-training-operator").requires == (
        "cert-manager",
        "eks-pod-identity-agent",
    )


def test_the_least_version_of_the_cni_is_said_once_in_effect() -> None:
    assert add_on("vpc-cni").minimum == MIN_VPC_CNI == "1.18.3"


def test_no_webhook_reaches_the_ports_of_checkpoints() -> None:
    webhooks = [found.webhooks for found in ADD_ONS.values()] + [add_ons.CHART_WEBHOOKS]
    for fact in webhooks:
        for ports in fact.assuming(because="compared only"):
            assert not any(ports.overlaps(*closed) for closed in TIERED_CHECKPOINTING)


def test_cert_manager_needs_no_port_beyond_the_documented_ones() -> None:
    (webhook,) = add_on("cert-manager").webhooks.value
    assert webhook in EKS_CONTROL_PLANE


def test_what_is_not_documented_is_in_doubt() -> None:
    with pytest.raises(UncertainFactError, match="names no port"):
        _ = add_on("amazon-sagemaker-hyperpod-training-operator").webhooks.value
    with pytest.raises(UncertainFactError, match="names no version of the EFA device plugin"):
        _ = add_ons.EFA_DEVICE_PLUGIN.value
    assert KUBEFLOW_TRAINING_OPERATORS == ("1.7.0", "1.8.0", "1.8.1")


def test_an_unknown_add_on_is_refused_with_close_matches() -> None:
    with pytest.raises(UnknownNameError, match="did you mean vpc-cni"):
        add_on("vpc-cnii")


def test_the_kubectl_layer_follows_the_version() -> None:
    assert kubectl_layer("1.33") == (
        "aws-cdk.lambda-layer-kubectl-v33",
        "aws_cdk.lambda_layer_kubectl_v33",
        "KubectlV33Layer",
    )
