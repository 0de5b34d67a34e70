"""Add-ons that come once there are nodes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from aws_cdk import aws_iam as iam
from constructs import Construct, IDependable

from hyperpod_constructs.argument_faults import refuse_arguments
from hyperpod_constructs.eks_add_ons import EksAddOns
from hyperpod_constructs.tokens import known
from hyperpod_model.catalog.add_ons import AFTER_NODES, BEFORE_NODES, add_on
from hyperpod_model.checks.kubernetes import check_add_on_versions
from hyperpod_model.faults import Fault


class EksOperators(Construct):
    """CoreDNS, the FSx driver, cert-manager and the HyperPod training operator, after the nodes.

    Their pods are Deployments: without a node such an add-on stays ``DEGRADED``, so all of them come after
    the HyperPod cluster. With continuous provisioning that cluster is in service before its nodes are all
    there: give a group a ``min_instance_count``. A group of CPU instances takes their pods at once, while
    accelerated ones repel them until their deep health checks have passed.

    The training operator calls ``sagemaker:DescribeClusterNode`` with a role that only works on HyperPod
    clusters tagged ``SageMaker: true``. Its association with that role stands on its own, since versions of
    the add-on refuse one within. Source: SageMaker developer guide, sagemaker-eks-operator-install.

    Attributes:
        roles: Roles of the add-ons' pods, by name of the add-on. That of ``aws-fsx-csi-driver`` looks file
            systems up and makes none: grant it more to let claims provision file systems.

    Args:
        scope: Parent of the construct. Never the control plane: nothing may depend on both it and these.
        id: Id within the parent.
        cluster_name: Name of the EKS cluster.
        cluster_arn: Its ARN.
        after: What has to be there first: the HyperPod cluster, or several.
        add_ons: Names of the add-ons. Default: all that come after nodes.
        installed_add_ons: Names of add-ons that are in the EKS cluster already, for what the others require.
            Default: those that come before nodes.
        versions: Versions by name. Default of each: what EKS takes for its Kubernetes version.

    Raises:
        InvalidInputError: For an add-on that is unknown, comes before nodes or lacks one that it requires.
    """

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        cluster_name: str,
        cluster_arn: str,
        after: Iterable[IDependable] = (),
        add_ons: Sequence[str] = AFTER_NODES,
        installed_add_ons: Sequence[str] = (),
        versions: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(scope, id)
        chosen = {} if versions is None else versions
        refuse_arguments(
            f"EKS operators '{self.node.path}'",
            [*check_operators(add_ons, installed=installed_add_ons), *_faults(chosen)],
        )
        made = EksAddOns(
            self,
            "AddOns",
            cluster_name=cluster_name,
            cluster_arn=cluster_arn,
            names=[name for name in AFTER_NODES if name in add_ons],
            versions=chosen,
            after=after,
        )
        self.roles: Mapping[str, iam.Role] = made.roles


def check_operators(
    names: Sequence[str], *, installed: Sequence[str] = (), path: str = "add_ons"
) -> list[Fault]:
    """Check which add-ons come after nodes.

    Args:
        names: Names of add-ons.
        installed: Names of those that are there already.
        path: Name of the argument that holds them.
    """
    if isinstance(names, str):
        return [Fault((path,), f"must be a list, got {names!r}; put it in brackets")]
    present = {*names, *installed, *BEFORE_NODES}
    faults = []
    for index, name in enumerate(names):
        if name not in AFTER_NODES:
            faults.append(
                Fault(
                    (path, index),
                    f"must be an add-on that comes after nodes, got {name!r}; use {', '.join(AFTER_NODES)}",
                )
            )
            continue
        lacking = [other for other in add_on(name).requires if other not in present]
        if lacking:
            faults.append(Fault((path, index), f"{name!r} requires {', '.join(lacking)}; add it to the list"))
    return faults


def _faults(versions: Mapping[str, str]) -> list[Fault]:
    plain = {name: known(version) for name, version in versions.items()}
    return [fault._replace(path=("versions", *fault.path)) for fault in check_add_on_versions(plain)]
