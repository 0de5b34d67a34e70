"""What `hyperpod-review` does, from options to exit code."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from hyperpod_model.command_line.output import columns, emit, has_colour, write
from hyperpod_model.command_line.parser import UsageError
from hyperpod_model.faults import InvalidInputError
from hyperpod_policy.acknowledgements import ACKNOWLEDGEMENT_RULES, Acknowledgement, acknowledge
from hyperpod_policy.command.arguments import DEFAULT_PATH
from hyperpod_policy.command.parameters import refuse_wrong_parameters
from hyperpod_policy.command.processes import reader
from hyperpod_policy.command.progress import tracked
from hyperpod_policy.command.reviewing import Task, reports
from hyperpod_policy.command.selection import Selection, group_names, selected
from hyperpod_policy.documents import Document
from hyperpod_policy.report import Report, merged
from hyperpod_policy.reports.subject import Subject, summary
from hyperpod_policy.review_sources import review_manifests
from hyperpod_policy.sources import Sources, load
from hyperpod_policy.units import units

_RANK: Final = ("error", "warning", "advice")


def run(options: Namespace) -> int:
    """Do what the options ask for.

    Returns:
        The exit code: 0 clean, 1 findings.

    Raises:
        UsageError: If an option is wrong.
        UnusableInputError: If the input cannot be reviewed.
    """
    if options.list_rules or options.explain is not None:
        from hyperpod_policy.command.catalogue import explained, listed

        text = (
            listed(options.format) if options.list_rules else explained(options.explain, columns(sys.stdout))
        )
        _deliver(text, options, line="")
        return 0
    selection = selected(options.rules, updates=options.baseline is not None)
    sources = _loaded(options)
    if options.trust_map and options.format != "html":
        from hyperpod_policy.command.mapping import mapped

        _deliver(mapped(sources, options), options, line="")
        return 0
    report = _reviewed(sources, selection, options)
    subject = Subject(
        templates=len(list(_all(sources.documents))),
        manifests=len(sources.manifests),
        rules=len(selection.promises),
    )
    code = int(_fails(report, options.fail_on))
    _deliver(
        _rendered(report, subject, sources, selection, options, code), options, line=summary(report, subject)
    )
    return code


def _loaded(options: Namespace) -> Sources:
    paths = [Path(path) for path in options.paths]
    if not paths:
        if not Path(DEFAULT_PATH).is_dir():
            raise UsageError(
                f"name a template, a manifest or a directory that holds some; there is no {DEFAULT_PATH} here"
            )
        paths = [Path(DEFAULT_PATH)]
    sources = load(
        paths,
        region=options.region,
        account=options.account,
        parameters=dict(options.parameter),
        apply=reader(options.jobs),
    )
    refuse_wrong_parameters(options.parameter, sources.documents)
    return sources


def _reviewed(sources: Sources, selection: Selection, options: Namespace) -> Report:
    names = tuple(options.checkpoint_bucket)
    tasks = [
        Task(tuple(unit), frozenset(rule.id for rule in selection.rules), names)
        for unit in units(sources.documents)
    ]
    found = [
        *tracked(reports(tasks, jobs=options.jobs), total=len(tasks), wanted=not options.quiet),
        review_manifests(sources.manifests, rules=selection.manifest_rules),
        *_updates(sources, selection, options),
    ]
    report = merged([*found, Report((), (*sources.limits, *_unknown_buckets(sources, names)))])
    if options.no_acknowledgements:
        return report
    return acknowledge(
        report,
        _acknowledgements(sources, options),
        applied={promise.id for promise in selection.promises},
        known=set(group_names()),
        files={document.file for document in _all(sources.documents) if document.file is not None}
        | {manifest.file for manifest in sources.manifests if manifest.file is not None},
        today=datetime.now(UTC).date(),
    )


def _updates(sources: Sources, selection: Selection, options: Namespace) -> Iterator[Report]:
    if options.baseline is None:
        return
    from hyperpod_policy.comparison import compare
    from hyperpod_policy.update import holds_cluster_of

    old = load(
        [Path(options.baseline)],
        region=options.region,
        account=options.account,
        parameters=dict(options.parameter),
    )
    if not sources.documents or not old.documents:
        raise UsageError("--baseline compares templates, and one of the sides has none")
    for before in old.documents:
        after = max(sources.documents, key=lambda document: holds_cluster_of(document, before))
        yield compare(before, after, rules=selection.update_rules)


def _acknowledgements(sources: Sources, options: Namespace) -> list[Acknowledgement]:
    found = [*sources.acknowledgements]
    from hyperpod_policy.acknowledgement_file import DEFAULT_FILE, read_acknowledgements

    path = Path(DEFAULT_FILE if options.acknowledgements is None else options.acknowledgements)
    if options.acknowledgements is not None or path.is_file():
        try:
            found += read_acknowledgements(path)
        except InvalidInputError as error:
            raise UsageError("; ".join(f"{path}: {fault}" for fault in error.faults)) from error
    return found


def _unknown_buckets(sources: Sources, names: Sequence[str]) -> Iterator[str]:
    """Say which names that a user gave are those of no bucket: mistyped, they would protect nothing."""
    if not names:
        return
    from hyperpod_policy.buckets import BUCKET
    from hyperpod_policy.template import Template

    template = Template(sources.documents)
    known = {
        str(name)
        for bucket in template.of_type(BUCKET)
        for name in (bucket.logical_id, bucket.get("BucketName"))
    }
    for name in names:
        if name not in known:
            yield f"checkpoint bucket {name}: no template makes a bucket with that logical id or name"


def _fails(report: Report, fail_on: str) -> bool:
    if fail_on == "never":
        return False
    counted = _RANK[: _RANK.index(fail_on) + 1]
    return any(finding.label in counted for finding in report.open)


def _rendered(
    report: Report,
    subject: Subject,
    sources: Sources,
    selection: Selection,
    options: Namespace,
    code: int,
) -> str:
    if options.format == "json":
        from hyperpod_policy.reports import json_report

        return json_report.render(report, subject, verbose=options.verbose)
    if options.format == "sarif":
        from hyperpod_model.command_line.version import version
        from hyperpod_policy.reports import sarif

        return sarif.render(
            report,
            promises=(*selection.promises, *ACKNOWLEDGEMENT_RULES),
            groups=group_names(),
            root=Path.cwd(),
            version=version(),
            exit_code=code,
            verbose=options.verbose,
        )
    if options.format == "markdown":
        from hyperpod_policy.reports import markdown

        return markdown.render(report, subject, verbose=options.verbose)
    if options.format == "html":
        from hyperpod_model.command_line.version import version
        from hyperpod_policy.reports import html
        from hyperpod_policy.trust_map import trust_map

        found = trust_map(sources.documents, checkpoint_buckets=options.checkpoint_bucket)
        return html.render(report, sources, found, subject=subject, groups=group_names(), version=version())
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


def _deliver(text: str, options: Namespace, *, line: str) -> None:
    """Write to the file that was asked for and one line to standard output, or all to standard output."""
    if options.output is None:
        emit(text)
        return
    write(text, options.output)
    if line and not options.quiet:
        emit(f"{line}; report: {options.output}\n")


def _all(documents: Iterable[Document]) -> Iterator[Document]:
    """Yield templates with those of their nested stacks."""
    for document in documents:
        yield document
        yield from _all(document.nested.values())
