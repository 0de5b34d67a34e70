from __future__ import annotations

import pytest

from hyperpod_model.catalog import endpoints, iam
from hyperpod_model.catalog.fact import UncertainFactError, UnknownNameError

SLURM = {"s3", "ec2", "sts", "logs", "monitoring", "ssm", "ssmmessages", "ec2messages", "sagemaker.api"}


def test_eks_needs_what_slurm_needs_and_more() -> None:
    slurm = {found.service for found in endpoints.required_endpoints("slurm")}
    eks = {found.service for found in endpoints.required_endpoints("eks")}
    assert slurm == SLURM
    assert eks - slurm == {"ecr.api", "ecr.dkr", "eks", "eks-auth", "lambda"}


def test_only_s3_has_a_gateway() -> None:
    gateways = [found.service for found in endpoints.ENDPOINTS.values() if found.kind == "Gateway"]
    assert gateways == ["s3"]
    assert endpoints.endpoint("s3").service_name("eu-west-1") == "com.amazonaws.eu-west-1.s3"


def test_an_unknown_service_is_named() -> None:
    with pytest.raises(
        UnknownNameError, match=r"unknown VPC endpoint service 'ecr\.dk'; did you mean ecr\.dkr"
    ):
        endpoints.endpoint("ecr.dk")


def test_optional_services_are_those_that_nobody_requires() -> None:
    assert "fsx" in endpoints.optional_services()
    assert "ec2" not in endpoints.optional_services()


def test_a_policy_is_only_said_for_services_that_take_one() -> None:
    taken = endpoints.POLICIES_TAKEN.assuming(because="the test compares the table with itself")
    with_policy = {found.service for found in endpoints.ENDPOINTS.values() if found.policy != "none"}
    assert with_policy == set(taken)


@pytest.mark.parametrize("call", endpoints.BOOT_CALLS, ids=lambda call: f"{call.action}-{call.resource}")
def test_every_boot_call_has_endpoints_of_its_orchestrators(call: endpoints.BootCall) -> None:
    for service in call.endpoints:
        assert set(call.orchestrators) <= set(endpoints.endpoint(service).required_by)
    if call.resource.partition("-")[2] and "{region" in call.resource:
        assert call.resource in {bucket.name for bucket in endpoints.AWS_OWNED_BUCKETS}


def test_every_action_of_the_nodes_managed_policy_is_a_boot_call() -> None:
    called = {call.action for call in endpoints.BOOT_CALLS if "slurm" in call.orchestrators}
    for statement in iam.CLUSTER_INSTANCE_STATEMENTS:
        actions = statement["Action"]
        assert set([actions] if isinstance(actions, str) else actions) <= called


def test_every_action_that_eks_nodes_need_of_registries_and_pods_is_a_boot_call() -> None:
    called = {call.action for call in endpoints.BOOT_CALLS if "eks" in call.orchestrators}
    assert {action.name for action in (*iam.ECR_ACTIONS, *iam.EKS_AUTH_ACTIONS)} <= called


def test_buckets_of_a_service_come_with_its_endpoint() -> None:
    def names(orchestrator: endpoints.Orchestrator, *services: str) -> set[str]:
        return {bucket.name for bucket in endpoints.aws_owned_buckets(orchestrator, services)}

    assert names("slurm") == {"amazon-ssm-{region}", "aws-ssm-{region}"}
    assert names("slurm", "ecr.dkr") - names("slurm") == {"prod-{region}-starport-layer-bucket"}
    assert "al2023-repos-{region}-de612dc2" in names("eks")


def test_that_the_lists_are_complete_is_in_doubt() -> None:
    with pytest.raises(UncertainFactError):
        endpoints.AWS_OWNED_BUCKETS_COMPLETE.value  # noqa: B018
    with pytest.raises(UncertainFactError):
        endpoints.NODE_PRINCIPALS_ARE_OURS.value  # noqa: B018
