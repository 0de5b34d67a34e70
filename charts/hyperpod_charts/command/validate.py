"""`hyperpod-jobs validate`: what is wrong with jobs, and with manifests written elsewhere."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from hyperpod_charts.command.inputs import cluster_of
from hyperpod_charts.command.job_findings import GROUP, JOB_PROMISES, SPECIFICATION, findings_of
from hyperpod_charts.command.manifests_on_cluster import RULE_ID, rules_with
from hyperpod_charts.command.reviewed_files import ReviewedFiles, read_files
from hyperpod_model.command_line.output import columns, emit, has_colour, write
from hyperpod_model.command_line.parser import UsageError
from hyperpod_model.faults import InvalidInputError
from hyperpod_policy.acknowledgement_file import DEFAULT_FILE, read_acknowledgements
from hyperpod_policy.acknowledgements import ACKNOWLEDGEMENT_RULES, acknowledge
from hyperpod_policy.command.selection import MANIFESTS, group_names
from hyperpod_policy.manifests.registry import MANIFEST_RULES
from hyperpod_policy.manifests.rule import ManifestRule
from hyperpod_policy.report import Finding, Report, merged
from hyperpod_policy.reports.subject import Subject, summary
from hyperpod_policy.review_sources import review_manifests

_RANK: Final = ("error", "warning", "advice")


def run(options: Namespace) -> int:
    """Validate jobs and manifests.

    Returns:
        The exit code: 0, or 1 for findings.

    Raises:
        UsageError: If an option is wrong.
        UnusableInputError: If something cannot be read.
    """
    cluster = cluster_of(options.cluster)
    files = read_files(options.paths, cluster)
    rules = rules_with(cluster, MANIFEST_RULES)
    report = _accepted(_reviewed(files, rules), files, rules, options)
    subject = Subject(
        templates=0,
        manifests=len(files.manifests),
        rules=len(rules if files.manifests else ()) + (len(JOB_PROMISES) if files.jobs else 0),
        jobs=len(files.jobs),
    )
    counted = () if options.fail_on == "never" else _RANK[: _RANK.index(options.fail_on) + 1]
    code = int(any(finding.label in counted for finding in report.open))
    text = _rendered(report, subject, rules, options, code)
    if options.output is None:
        emit(text)
        return code
    write(text, options.output)
    if not options.quiet:
        emit(f"{summary(report, subject)}; report: {options.output}\n")
    return code


def _reviewed(files: ReviewedFiles, rules: Sequence[ManifestRule]) -> Report:
    jobs = [finding for name, job in files.jobs for finding in findings_of(job, name)]
    return merged(
        [
            Report(tuple(jobs), files.limits),
            review_manifests(files.manifests, rules=rules),
        ]
    )


def _accepted(
    report: Report, files: ReviewedFiles, rules: Sequence[ManifestRule], options: Namespace
) -> Report:
    path = Path(DEFAULT_FILE if options.acknowledgements is None else options.acknowledgements)
    if options.no_acknowledgements or (options.acknowledgements is None and not path.is_file()):
        return report
    try:
        said = read_acknowledgements(path)
    except InvalidInputError as error:
        raise UsageError("; ".join(f"{path}: {fault}" for fault in error.faults)) from error
    # One acknowledgement is about all findings on a job, and render refuses a job with errors all the same.
    others = tuple(finding for finding in report.verdicts if not _is_error_in_job(finding))
    accepted = acknowledge(
        replace(report, verdicts=others),
        said,
        applied={promise.id for promise in (*rules, *JOB_PROMISES)},
        known={*group_names(), RULE_ID, *(promise.id for promise in JOB_PROMISES)},
        files={name for name, _ in files.jobs}
        | {manifest.file for manifest in files.manifests if manifest.file is not None},
        today=datetime.now(UTC).date(),
    )
    return replace(accepted, verdicts=(*filter(_is_error_in_job, report.verdicts), *accepted.verdicts))


def _is_error_in_job(finding: Finding) -> bool:
    return finding.rule_id == SPECIFICATION.id and finding.label == "error"


def _rendered(
    report: Report, subject: Subject, rules: Sequence[ManifestRule], options: Namespace, code: int
) -> str:
    if options.format == "json":
        from hyperpod_policy.reports import json_report

        return json_report.render(report, subject, verbose=options.verbose)
    if options.format == "sarif":
        from hyperpod_model.command_line.version import version
        from hyperpod_policy.reports import sarif

        return sarif.render(
            report,
            promises=(*rules, *JOB_PROMISES, *ACKNOWLEDGEMENT_RULES),
            groups={rule.id: MANIFESTS for rule in rules} | {promise.id: GROUP for promise in JOB_PROMISES},
            root=Path.cwd(),
            version=version(),
            exit_code=code,
            verbose=options.verbose,
        )
    if options.format == "markdown":
        from hyperpod_policy.reports import markdown

        return markdown.render(report, subject, verbose=options.verbose)
    from hyperpod_policy.reports import text

    if options.quiet:
        return text.one_a_line(report)
    to_file = options.output is not None
    return text.render(
        report,
        subject,
        width=None if to_file else columns(sys.stdout),
        colour=not to_file and has_colour(sys.stdout),
        verbose=options.verbose,
    )
