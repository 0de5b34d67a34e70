"""Reads the cluster, asks the account, and says what was found."""

from __future__ import annotations

import json
import re
import sys
from argparse import Namespace
from typing import Final

from hyperpod_lifecycle.operations.aws import Aws
from hyperpod_lifecycle.operations.errors import OperationError, code_of
from hyperpod_lifecycle.operations.kubernetes_reads import KubernetesReads
from hyperpod_lifecycle.operations.kubernetes_token import token_for
from hyperpod_lifecycle.preflight.checks import findings_of
from hyperpod_lifecycle.preflight.policy import policy_of
from hyperpod_lifecycle.preflight.reads import Reads
from hyperpod_lifecycle.preflight.report import data_of, text_of
from hyperpod_lifecycle.preflight.situation import Situation
from hyperpod_lifecycle.preflight.wanted import Wanted
from hyperpod_model.catalog.preflight import CODES_OF_CLOSED_REGIONS
from hyperpod_model.cluster_spec import ClusterSpec, load_cluster
from hyperpod_model.command_line.output import columns, emit, has_colour
from hyperpod_model.command_line.parser import UsageError
from hyperpod_model.faults import InvalidInputError

# The specification's own messages speak of the CDK's context.
_OF_THE_CDK: Final = re.compile(r"-c (region|availability_zone_id)=(\S+)")
_OPTIONS: Final = {"region": "--region", "availability_zone_id": "--zone-id"}


def run(options: Namespace) -> int:
    """Ask.

    Args:
        options: What the user said.

    Returns:
        The exit code.

    Raises:
        UsageError: If the file cannot be used, or AWS cannot be asked at all.
    """
    spec = None if options.file is None else _spec(options)
    if options.print_policy:
        emit(f"{json.dumps(policy_of(_wanted_offline(spec)), indent=2)}\n")
        return 0
    assert spec is not None
    try:
        situation = _situation(spec, options)
    except OperationError as error:
        raise UsageError(f"{error}{_of_closed_region(spec, error)}") from error
    findings = findings_of(situation)
    if options.format == "json":
        emit(f"{json.dumps(data_of(situation, findings), indent=2)}\n")
    else:
        emit(text_of(situation, findings, has_colour=has_colour(sys.stdout), columns=columns(sys.stdout)))
    verdicts = {finding.verdict for finding in findings}
    return int("problem" in verdicts or (options.strict and "cannot tell" in verdicts))


def _spec(options: Namespace) -> ClusterSpec:
    try:
        return load_cluster(options.file, region=options.region, availability_zone_id=options.zone_id).spec
    except InvalidInputError as error:
        faults = [_OF_THE_CDK.sub(_option, f"{options.file}: {fault}") for fault in error.faults]
        raise UsageError("\n".join(faults)) from error


def _option(match: re.Match[str]) -> str:
    value = match[2]
    return f"{_OPTIONS[match[1]]} {value}"


def _of_closed_region(spec: ClusterSpec, error: OperationError) -> str:
    """What else it may be where credentials are refused: AWS does not say that the region is not enabled."""
    if code_of(error.__cause__) not in CODES_OF_CLOSED_REGIONS.value:
        return ""
    region = "REGION" if spec.region is None else spec.region
    return (
        "; a region that is not enabled for the account refuses them, too: "
        f"aws account get-region-opt-status --region-name {region} --region us-east-1"
    )


def _wanted_offline(spec: ClusterSpec | None) -> Wanted | None:
    """The cluster, in whatever region where nobody names one."""
    return None if spec is None else Wanted(spec, "*" if spec.region is None else spec.region)


def _situation(spec: ClusterSpec, options: Namespace) -> Situation:
    aws = Aws(region=spec.region, profile=options.profile)
    reads = Reads(aws)
    account = str(reads.one("sts", "GetCallerIdentity")["Account"])
    wanted = Wanted(spec, aws.region)
    situation = Situation(wanted, account, reads)
    name = wanted.existing_eks_name
    if name is None:
        return situation
    kubernetes = KubernetesReads(
        name=name,
        describe=situation.eks_cluster,
        token=lambda: token_for(aws, name),
        context=options.kube_context,
    )
    return Situation(wanted, account, reads, kubernetes)
