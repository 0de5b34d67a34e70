"""Reads repositories of container images back."""

from __future__ import annotations

import json
from typing import Any

from read_back import Clients, reads


@reads("AWS::ECR::Repository")
def repository(clients: Clients, physical_id: str, wanted: dict[str, Any]) -> dict[str, Any]:
    """Read a repository; its policies only if the template has them."""
    ecr = clients.client("ecr")
    (found,) = ecr.describe_repositories(repositoryNames=[physical_id])["repositories"]
    told = {"RepositoryName": physical_id, "ImageTagMutability": found["imageTagMutability"]}
    if "RepositoryPolicyText" in wanted:
        policy = ecr.get_repository_policy(repositoryName=physical_id)["policyText"]
        told["RepositoryPolicyText"] = json.loads(policy)
    if "LifecyclePolicy" in wanted:
        text = ecr.get_lifecycle_policy(repositoryName=physical_id)["lifecyclePolicyText"]
        told["LifecyclePolicy"] = {"LifecyclePolicyText": text}
    return told
