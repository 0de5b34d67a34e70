"""Resource types that the region may not have."""

from __future__ import annotations

from typing import Final

from aws_cdk import Annotations, Stack, Token
from constructs import Construct

from hyperpod_model.catalog.resource_types import NOT_LISTED

UNLISTED_TYPE_WARNING: Final = "hyperpod:unlistedResourceType"


def warn_of_unlisted_type(scope: Construct, kind: str) -> None:
    """Warn where the registry of the stack's region did not list a resource type when it was read.

    Args:
        scope: The construct that makes such a resource.
        kind: The CloudFormation type.
    """
    region = Stack.of(scope).region
    regions = NOT_LISTED[kind].assuming(because="a warning names the doubt and the way to check")
    if Token.is_unresolved(region) or region not in regions:
        return
    Annotations.of(scope).add_warning_v2(
        f"{UNLISTED_TYPE_WARNING}.{kind.replace('::', '-')}",
        f"{region} may not have the resource type {kind}: its registry did not list it on "
        f"{NOT_LISTED[kind].checked_on}. Check with: aws cloudformation describe-type --type RESOURCE "
        f"--type-name {kind} --region {region}; if that answers, acknowledge this, else leave the resource "
        "out",
    )
