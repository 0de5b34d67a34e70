"""Buckets from which functions take what they upload or run, and the roles that ``cdk bootstrap`` makes."""

from __future__ import annotations

import re
from typing import Any

from hyperpod_model.catalog.control import (
    CDK_DEPLOYING_ROLE,
    CDK_DEPLOYMENT_STARTING_ROLE,
    CDK_STAGING_BUCKET,
    CDK_STAGING_WRITER_ROLE,
)
from hyperpod_model.faults import FaultPath
from hyperpod_policy.buckets import BUCKET
from hyperpod_policy.template import Resource
from hyperpod_policy.trust_map.bucket_steps import add_bucket, add_outside_bucket
from hyperpod_policy.trust_map.draft import STACK, Draft
from hyperpod_policy.trust_map.model import Certainty, Node
from hyperpod_policy.trust_map.sayings import of_property, say
from hyperpod_policy.values import Pseudo, Text, concatenated

_ROLE = "staging bucket"
_BY_DEFAULT = "by the defaults of cdk bootstrap; its policies are not in the templates"


def add_feed(
    draft: Draft,
    name: Any,
    target: str,
    holder: Resource,
    path: FaultPath,
    *,
    note: str,
    certainty: Certainty,
) -> None:
    """Add a bucket that something is copied from, and who writes it.

    Args:
        draft: The map.
        name: Name of the bucket, as resolved.
        target: Id of what copies from it.
        holder: Resource that says so.
        path: Where in it.
        note: What comes from there.
        certainty: Whether what is written there gets further.
    """
    bucket = draft.template.resource(name, BUCKET)
    if bucket is None:
        source = add_outside_bucket(draft, say(name), name, role=_ROLE)
        _add_bootstrap_roles(draft, name, source)
    else:
        source = add_bucket(draft, bucket, role=_ROLE)
    evidence = [of_property(holder, path, f"is {say(name)}")]
    draft.step(source, "feed", target, certainty, evidence=evidence, note=note)


def _add_bootstrap_roles(draft: Draft, name: Any, staging: str) -> None:
    parts = name.parts if isinstance(name, Text) else (name,)
    start = parts[0] if isinstance(parts[0], str) else ""
    match = re.match(CDK_STAGING_BUCKET, start)
    if match is None:
        return
    qualifier = match["qualifier"]
    rest = (start[match.end() :], *parts[1:])
    account = str(rest[0]).partition("-")[0] or Pseudo("AWS::AccountId")

    def role(kind: str, words: str) -> str:
        arn = concatenated(
            ("arn:", Pseudo("AWS::Partition"), ":iam::", account, f":role/cdk-{qualifier}-{kind}-", *rest)
        )
        note = "its policies are not in the templates"
        return draft.node(Node(say(arn), "identity", say(arn), role=words, outside=True, note=note))

    draft.step(
        role(CDK_STAGING_WRITER_ROLE, "publishing role of cdk bootstrap"),
        "write-objects",
        staging,
        "undetermined",
        actions=["s3:PutObject"],
        note=_BY_DEFAULT,
    )
    if STACK in draft.nodes:
        deployer = role(CDK_DEPLOYING_ROLE, "CloudFormation's role of cdk bootstrap")
        draft.step(deployer, "deploy", STACK, "undetermined", note=_BY_DEFAULT)
        draft.step(
            role(CDK_DEPLOYMENT_STARTING_ROLE, "deploying role of cdk bootstrap"),
            "pass",
            deployer,
            "undetermined",
            actions=["cloudformation:CreateChangeSet", "cloudformation:ExecuteChangeSet", "iam:PassRole"],
            note=f"to CloudFormation, {_BY_DEFAULT}",
        )
