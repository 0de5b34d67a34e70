"""Comparison of a template with what is deployed: what an update would destroy, or fail to change."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from hyperpod_policy.choices import World
from hyperpod_policy.documents import Document
from hyperpod_policy.report import Report
from hyperpod_policy.review import documents_of, judged_in_all_worlds
from hyperpod_policy.rule import Promise, Verdict
from hyperpod_policy.template import Template
from hyperpod_policy.update import Update, UpdateRule


def compare(
    baseline: Mapping[str, Any] | Document,
    template: Mapping[str, Any] | Document,
    *,
    rules: Sequence[UpdateRule] | None = None,
    region: str | None = None,
    account: str | None = None,
    parameters: Mapping[str, Any] | None = None,
    file: str | None = None,
    baseline_file: str | None = None,
) -> Report:
    """Compare the template of a stack with the one that it was deployed from.

    Resources are matched by logical id, clusters also by their name, instance groups by theirs. What
    parameters and conditions leave open has one value on both sides: an update keeps parameter values.

    Args:
        baseline: What is deployed, decoded, or a document that knows its nested stacks.
        template: What is to be deployed.
        rules: Rules to apply. By default all.
        region: Region of decoded templates. By default unknown.
        account: Account id of decoded templates. By default unknown.
        parameters: Parameter values of decoded templates, by name. By default those the templates tell.
        file: File the decoded template was read from, for reports. By default none.
        baseline_file: File the decoded baseline was read from. By default none.

    Returns:
        Every rule's answers; none for a baseline without a HyperPod cluster or file system.
    """
    if rules is None:
        from hyperpod_policy.registry import UPDATE_RULES

        rules = UPDATE_RULES
    applied = tuple(rules)
    before = documents_of(baseline, region=region, account=account, parameters=parameters, file=baseline_file)
    after = documents_of(template, region=region, account=account, parameters=parameters, file=file)

    def judge(world: World) -> Iterable[tuple[Promise, Verdict]]:
        update = Update(Template(before, world=world), Template(after, world=world))
        return ((rule, verdict) for rule in applied for verdict in rule.check(update))

    return judged_in_all_worlds(judge, (*before, *after))
