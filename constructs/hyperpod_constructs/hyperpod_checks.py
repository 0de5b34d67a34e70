"""The policy rules as a pack that judges every stack at synthesis."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import jsii
from aws_cdk import (
    IPolicyValidationContext,
    IPolicyValidationPlugin,
    PolicyValidationPluginReport,
    PolicyViolatingResource,
    PolicyViolation,
)
from constructs import IConstruct

from hyperpod_policy import Document, Finding, Report, Rule, UpdateRule, compare, review
from hyperpod_policy.assembly import read_stack
from hyperpod_policy.baseline import read_baseline
from hyperpod_policy.registry import RULES, UPDATE_RULES
from hyperpod_policy.update import holds_cluster_of

PACK_NAME = "HyperPodChecks"
"""Prefix of acknowledgement ids: ``HyperPodChecks::EfaSelfTraffic``."""

_DISTRIBUTION = "cdk-hyperpod"


@jsii.implements(IPolicyValidationPlugin)
class HyperPodChecks:
    """Judges HyperPod clusters and what they use, in every stack, nested stack and Stage of an app.

    Register it beside the packs of cdk-nag::

        Validations.of(app).add_plugins(AwsSolutionsChecks(app), HyperPodChecks(app))

    All stacks are reviewed together, after synthesis and in one go, so that a reference from one to another
    counts. A broken promise of severity ``error`` fails the synthesis unless it is acknowledged where it is
    or above::

        Validations.of(bucket).acknowledge(
            Acknowledgment(id="HyperPodChecks::BucketAccessLogs", reason="CloudTrail data events cover it")
        )

    Warnings, advice, and what only deployment can tell (both severity ``info``) stand in the report and fail
    nothing.
    Stacks without a HyperPod cluster have no findings.

    With a baseline, the stack that has the baseline's clusters is also judged as an update of it: what
    would replace the cluster or a file system, or ask of the service what it refuses for an existing group.

    Args:
        scope: Taken as cdk-nag's packs do. What is judged depends on where the pack is registered: an app or
            a Stage.
        rules: Rules to apply. Default: all.
        baseline: Template that one of the stacks was deployed from: a JSON file of an earlier ``cdk.out``, or
            what ``aws cloudformation get-template`` printed. Default: none, nothing is compared.
        update_rules: Rules about the update to apply. Default: all.

    Raises:
        InvalidInputError: If the baseline is no template.
    """

    def __init__(
        self,
        scope: IConstruct | None = None,
        *,
        rules: Sequence[Rule] | None = None,
        baseline: Path | str | None = None,
        update_rules: Sequence[UpdateRule] | None = None,
    ) -> None:
        del scope
        self._rules = RULES if rules is None else tuple(rules)
        self._update_rules = UPDATE_RULES if update_rules is None else tuple(update_rules)
        self._baseline = None if baseline is None else read_baseline(baseline)

    @property
    def name(self) -> str:
        """Name of the pack in reports and acknowledgements."""
        return PACK_NAME

    @property
    def version(self) -> str:
        """Version of the installed distribution."""
        try:
            return version(_DISTRIBUTION)
        except PackageNotFoundError:  # a source checkout that was never installed
            return "0.0.0"

    @property
    def rule_ids(self) -> list[str]:
        """Ids of the rules it applies."""
        names = [rule.id for rule in self._rules]
        if self._baseline is not None:
            names += [rule.id for rule in self._update_rules]
        return names

    def validate(self, context: IPolicyValidationContext) -> PolicyValidationPluginReport:
        """Judge the synthesized templates; called by the CDK.

        Args:
            context: The stacks of the app or Stage.
        """
        documents = [
            read_stack(Path(stack.template_path), region=stack.region, account=stack.account_id)
            for stack in context.stack_templates
        ]
        report = review(documents, rules=self._rules)
        findings = [*report.findings]
        limits = [*report.limits]
        if self._baseline is not None and documents:
            update = self._compared(self._baseline, documents)
            findings += update.findings
            limits += (limit for limit in update.limits if limit not in limits)
        metadata = {f"not reviewed {number}": limit for number, limit in enumerate(limits, start=1)}
        return PolicyValidationPluginReport(
            success=not any(_severity(finding) == "error" for finding in findings),
            violations=[_violation(finding) for finding in findings],
            plugin_version=self.version,
            metadata=metadata if metadata else None,
        )

    def _compared(self, baseline: Document, documents: Sequence[Document]) -> Report:
        """Compare the stack that has a cluster of the baseline, or else the first that has any."""
        ranks = [holds_cluster_of(document, baseline) for document in documents]
        best = max(range(len(documents)), key=lambda position: ranks[position])
        after = documents[best]
        return compare(
            replace(baseline, region=after.region, account=after.account), after, rules=self._update_rules
        )


def _severity(finding: Finding) -> str:
    if finding.outcome != "fail" or finding.severity == "advice":
        return "info"
    return finding.severity


def _description(finding: Finding) -> str:
    # Why is for who must act: on a terminal, a page of reasons hides the one finding that counts.
    if finding.label == "advice":
        return f"advice: {finding.found}"
    text = f"{finding.title}: {finding.message}"
    return f"{text}. {finding.why}" if _severity(finding) == "error" else text


def _violation(finding: Finding) -> PolicyViolation:
    location = ".".join(("Properties", *(str(step) for step in finding.path)))
    return PolicyViolation(
        rule_name=finding.rule_id,
        description=_description(finding),
        fix=finding.fix,
        severity=_severity(finding),
        rule_metadata={"outcome": finding.outcome, "source": finding.source, "why": finding.why},
        violating_resources=[
            PolicyViolatingResource(
                resource_logical_id=finding.logical_id,
                template_path=finding.file,
                locations=[location] if finding.path else [],
            )
        ],
    )
