"""The role of EKS nodes writes checkpoints by no name: the cluster that uses it refuses at synthesis."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import pytest
from aws_cdk import App, Aws, Environment, Stack
from aws_cdk import aws_iam as iam
from aws_cdk import aws_s3 as s3

from hyperpod_constructs.checkpoint_bucket import CheckpointBucket
from hyperpod_constructs.cluster_network import ClusterNetwork
from hyperpod_constructs.efa_security_group import EfaSecurityGroup
from hyperpod_constructs.execution_role import ExecutionRole
from hyperpod_constructs.hyperpod_cluster import HyperPodCluster
from hyperpod_constructs.instance_group import InstanceGroup
from hyperpod_constructs.orchestrator import Orchestrator
from hyperpod_constructs.slurm_node_type import SlurmNodeType

ACCOUNT = "111122223333"
REGION = "us-west-2"
NODES = f"arn:aws:iam::{ACCOUNT}:role/nodes"
REFUSED = "must not write the checkpoints of '[^']*Checkpoints'"


class Parts(NamedTuple):
    stack: Stack
    network: ClusterNetwork
    nodes: EfaSecurityGroup
    bucket: CheckpointBucket

    def node_role(self, **props: Any) -> ExecutionRole:
        return ExecutionRole(
            self.stack,
            "Role",
            subnets=[self.network.accelerator_subnet],
            security_groups=[self.nodes],
            **props,
        )

    def plain_role(self, **props: Any) -> iam.Role:
        return iam.Role(
            self.stack, "Role", assumed_by=iam.ServicePrincipal("sagemaker.amazonaws.com"), **props
        )

    def imported(self, id: str, arn: str) -> iam.IRole:
        return iam.Role.from_role_arn(self.stack, id, arn)

    def cluster(self, role: iam.IRole | None, *, group_role: iam.IRole | None = None, **props: Any) -> None:
        group: dict[str, Any] = {} if group_role is None else {"execution_role": group_role}
        eks = Orchestrator.eks(f"arn:aws:eks:{REGION}:{ACCOUNT}:cluster/training")
        if "orchestrator" in props:
            group["slurm_node_type"] = SlurmNodeType.CONTROLLER
        HyperPodCluster(
            self.stack,
            "Cluster",
            cluster_name="training",
            network=self.network,
            security_groups=[self.nodes],
            execution_role=role,
            instance_groups=[
                InstanceGroup(name="workers", instance_type="ml.m5.2xlarge", instance_count=1, **group)
            ],
            **{"orchestrator": eks, **props},
        )

    def synth(self) -> None:
        app = self.stack.node.root
        assert isinstance(app, App)
        app.synth()


def parts(account: str | None = ACCOUNT) -> Parts:
    stack = Stack(App(), "Training", env=Environment(account=account, region=REGION))
    network = ClusterNetwork(stack, "Network", availability_zone_id="usw2-az1")
    nodes = EfaSecurityGroup(stack, "Nodes", vpc=network.vpc)
    return Parts(stack, network, nodes, CheckpointBucket(stack, "Checkpoints"))


def _role_for_slurm(made: Parts) -> None:
    made.cluster(made.node_role(checkpoint_bucket=made.bucket))


def _plain_role(made: Parts) -> None:
    role = made.plain_role()
    made.cluster(role)
    made.bucket.grant_checkpointing(role)


def _role_of_one_group(made: Parts) -> None:
    role = made.plain_role()
    made.bucket.grant_checkpointing(role)
    made.cluster(made.imported("Others", NODES), group_role=role)


def _imported_twice(made: Parts) -> None:
    made.cluster(made.imported("Nodes1", NODES))
    made.bucket.let_existing_roles_checkpoint([made.imported("Nodes2", NODES)])


def _name_of_a_role_made_here(made: Parts) -> None:
    made.cluster(made.plain_role(role_name="nodes"))
    made.bucket.add_writer(made.imported("Nodes2", NODES))


def _arn_with_pseudo_parameters(made: Parts) -> None:
    made.cluster(made.imported("Nodes1", f"arn:{Aws.PARTITION}:iam::{Aws.ACCOUNT_ID}:role/team/nodes"))
    made.bucket.add_writer(made.imported("Nodes2", NODES.replace("role/", "role/team/")))


def _immutable_wrapper(made: Parts) -> None:
    role = made.node_role(orchestrator="eks")
    made.cluster(role)
    made.bucket.add_writer(role.without_policy_updates())


def _alias_of_a_role_made_here(made: Parts) -> None:
    role = made.node_role(orchestrator="eks")
    made.cluster(role)
    made.bucket.add_writer(made.imported("Alias", role.role_arn))


def _constructor_argument(made: Parts) -> None:
    role = made.plain_role()
    CheckpointBucket(made.stack, "OtherCheckpoints", writers=[role])
    made.cluster(role)


def _imported_bucket(made: Parts) -> None:
    bucket = s3.Bucket.from_bucket_name(made.stack, "Theirs", "sagemaker-theirs")
    role = made.plain_role()
    CheckpointBucket.from_bucket(made.stack, "TheirCheckpoints", bucket=bucket).grant_checkpointing(role)
    made.cluster(role)


@pytest.mark.parametrize(
    "attack",
    [
        _role_for_slurm,
        _plain_role,
        _role_of_one_group,
        _imported_twice,
        _name_of_a_role_made_here,
        _arn_with_pseudo_parameters,
        _immutable_wrapper,
        _alias_of_a_role_made_here,
        _constructor_argument,
        _imported_bucket,
    ],
)
def test_refuses_the_nodes_role_as_a_writer(attack: Callable[[Parts], None]) -> None:
    made = parts()
    attack(made)
    with pytest.raises(RuntimeError, match=REFUSED):
        made.synth()


def test_refuses_a_namesake_where_the_account_is_not_known() -> None:
    made = parts(account=None)
    made.cluster(made.plain_role(role_name="nodes"))
    made.bucket.add_writer(made.imported("Nodes2", NODES))
    with pytest.raises(RuntimeError, match=REFUSED):
        made.synth()


@pytest.mark.parametrize(
    ("nodes", "writer"),
    [
        (NODES, NODES.replace("nodes", "trainer")),
        (NODES, NODES.replace("nodes", "more-nodes")),
        (NODES, NODES.replace(ACCOUNT, "999988887777")),
    ],
)
def test_takes_other_roles_as_writers(nodes: str, writer: str) -> None:
    made = parts()
    made.cluster(made.imported("Nodes1", nodes))
    made.bucket.add_writer(made.imported("Writer", writer))
    made.synth()


def test_takes_the_nodes_role_as_a_reader() -> None:
    made = parts()
    role = made.node_role(orchestrator="eks")
    made.cluster(role)
    made.bucket.grant_read(role)
    made.synth()


def test_takes_the_nodes_role_as_a_writer_on_slurm() -> None:
    made = parts()
    made.cluster(made.node_role(checkpoint_bucket=made.bucket), orchestrator=Orchestrator.slurm())
    made.synth()
