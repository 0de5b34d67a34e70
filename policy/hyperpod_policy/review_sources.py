"""Review of everything that was loaded: templates by their rules, manifests by theirs."""

from __future__ import annotations

from collections.abc import Sequence

from hyperpod_policy.manifests.manifest import Manifest
from hyperpod_policy.manifests.rule import ManifestRule, finding_of
from hyperpod_policy.manifests.unjudged import unjudged
from hyperpod_policy.report import Finding, Report, merged
from hyperpod_policy.review import review
from hyperpod_policy.rule import Rule
from hyperpod_policy.sources.loading import Sources
from hyperpod_policy.units import units


def review_sources(
    sources: Sources,
    *,
    rules: Sequence[Rule] | None = None,
    manifest_rules: Sequence[ManifestRule] | None = None,
    checkpoint_buckets: Sequence[str] = (),
) -> Report:
    """Review templates and manifests.

    Templates that know each other are reviewed together, others apart. Acknowledgements are not applied.

    Args:
        sources: What was loaded.
        rules: Rules on templates. By default all.
        manifest_rules: Rules on manifests. By default all.
        checkpoint_buckets: Logical ids or names of buckets that hold checkpoints, in addition to those that
            are recognised as such. By default none.

    Returns:
        Every rule's answers, and what was not reviewed.
    """
    reports = [
        review(unit, rules=rules, checkpoint_buckets=checkpoint_buckets) for unit in units(sources.documents)
    ]
    reports.append(review_manifests(sources.manifests, rules=manifest_rules))
    reports.append(Report((), sources.limits))
    return merged(reports)


def review_manifests(manifests: Sequence[Manifest], *, rules: Sequence[ManifestRule] | None = None) -> Report:
    """Review Kubernetes manifests, all together.

    Args:
        manifests: What was loaded.
        rules: Rules to apply. By default all.
    """
    if rules is None:
        from hyperpod_policy.registry import MANIFEST_RULES

        rules = MANIFEST_RULES
    if not manifests:
        return Report(())
    verdicts = [(rule, verdict) for rule in rules for verdict in rule.check(manifests)]
    findings: dict[int, Finding] = {}
    # Lines are looked up object by object, since only the last few documents of a stream stay decoded.
    place = {id(manifest): position for position, manifest in enumerate(manifests)}
    for number in sorted(range(len(verdicts)), key=lambda each: place.get(id(verdicts[each][1].manifest), 0)):
        findings[number] = finding_of(*verdicts[number])
    passed_over = unjudged(manifests)
    return Report(
        tuple(findings[number] for number in range(len(verdicts))),
        () if passed_over is None else (passed_over,),
    )
