"""Control over the nodes: actions, services and policies by which a principal gets to run code there."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from hyperpod_model.catalog._tables import table

_TABLE = table("control")


def _actions(*path: str) -> tuple[str, ...]:
    found: Any = _TABLE
    for step in path:
        found = found[step]
    return tuple(found)


ROLE_TRUST_ACTIONS = _actions("role", "trust")
"""Who may do this to a role may let anybody take it, themselves too."""

ROLE_PERMISSION_ACTIONS = _actions("role", "permissions")
"""Who may do this to a role decides what it may do, not who takes it."""

PASS_ROLE_ACTION: str = _TABLE["role"]["pass"]
USER_CREDENTIAL_ACTIONS = _actions("user", "take")
"""Who may do this to a user may act as that user."""

USER_PERMISSION_ACTIONS = _actions("user", "permissions")
GROUP_PERMISSION_ACTIONS = _actions("group", "permissions")
MANAGED_POLICY_ACTIONS = _actions("managed_policy")
"""On a customer managed policy, to say something else for all that it is attached to."""

STARTS_WITH_ROLE: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {service: tuple(actions) for service, actions in _TABLE["starts_with_role"].items()}
)
"""What runs a caller's code with a passed role, by the service that the role must trust."""

BUCKET_CONTROL_ACTIONS = _actions("bucket", "control")
"""On a bucket, to change who may write it: policy, ACL, ownership, public access, or the bucket made anew."""

BUCKET_ROOT_USER_ACTIONS = _actions("bucket", "root_user")
"""What S3 lets the root user of a bucket's account do, whatever the bucket's policy denies."""

KEY_CONTROL_ACTIONS = _actions("key")
"""On a KMS key, to change who may use it."""

FUNCTION_INVOKE_ACTIONS = _actions("function", "invoke")
FUNCTION_CHANGE_ACTIONS = _actions("function", "change")
"""On a Lambda function, to run other code with its role, or to let others invoke it."""

CLUSTER_CONTROL_ACTIONS = _actions("cluster")
"""On a HyperPod cluster, to name other lifecycle scripts or run them again."""

STACK_CHANGE_ACTIONS = _actions("stack")
"""On a CloudFormation stack, to change its resources, with the role that the stack has if it has one."""

NODE_SESSION_ACTIONS = _actions("node_session")
"""A shell on a node; permitted by the ARN of the cluster or by ``*``."""

KUBERNETES_ACCESS_ACTIONS = _actions("kubernetes")
"""On an EKS cluster, to let a principal administer it."""

POD_RUNNING_ACCESS_POLICIES = frozenset(_TABLE["kubernetes_access_policies"]["run_pods"])
"""EKS access policies that create pods, run commands in them or change workloads."""

READING_ACCESS_POLICIES = frozenset(_TABLE["kubernetes_access_policies"]["read"])
"""EKS access policies that only read."""

PORT_CHANGE_ACTIONS = _actions("ports", "change")
"""On a security group, to admit others."""

GROUP_JOIN_ACTIONS = _actions("ports", "join")
"""On a security group, to become one of its members."""

GROUP_INTERFACE_ACTIONS = _actions("ports", "interface")
"""On a security group, to make an interface in it, which something must still use."""

INTERFACE_USE_ACTIONS = _actions("ports", "use")
"""On an interface, to let something use it: an instance, or another account."""

CDK_STAGING_BUCKET: str = _TABLE["cdk_bootstrap"]["staging_bucket"]
"""How the name of the bucket begins that ``cdk bootstrap`` makes for assets; a regular expression."""

CDK_DEPLOYING_ROLE: str = _TABLE["cdk_bootstrap"]["deploys"]
"""Part of the name of the role that CloudFormation deploys with, by default an administrator."""

CDK_DEPLOYMENT_STARTING_ROLE: str = _TABLE["cdk_bootstrap"]["starts_deployments"]
CDK_STAGING_WRITER_ROLE: str = _TABLE["cdk_bootstrap"]["writes_staging"]

MANAGED_POLICY_STATEMENTS: Mapping[str, tuple[Mapping[str, Any], ...]] = MappingProxyType(
    {
        name: tuple(MappingProxyType(statement) for statement in statements)
        for name, statements in _TABLE["managed_policy_statements"].items()
    }
)
"""What well-known AWS managed policies allow of the actions of this table and of writing objects.

A policy without statements allows none of that; of a policy that is not here nothing is known.
"""
