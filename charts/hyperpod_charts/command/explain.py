"""`hyperpod-jobs explain`: what a job becomes and why, or what a field takes."""

from __future__ import annotations

import json
import sys
import textwrap
from argparse import Namespace
from collections.abc import Iterable
from pathlib import Path

from hyperpod_charts.command.explanation import Reason, explained
from hyperpod_charts.command.fault_lines import show
from hyperpod_charts.command.fields import field_words
from hyperpod_charts.command.inputs import cluster_of, job_content_of, judged
from hyperpod_model.command_line.output import columns, emit
from hyperpod_policy.sources.text import STANDARD_INPUT, is_file


def run(options: Namespace) -> int:
    """Explain a job or a field.

    Returns:
        The exit code: 0, or 1 for a job that is refused.

    Raises:
        UsageError: If an option is wrong, or there is no such field.
        UnusableInputError: If the job cannot be read.
    """
    if not _is_job(options.subject):
        emit(field_words(options.subject, columns(sys.stdout), as_json=options.format == "json"))
        return 0
    cluster = cluster_of(options.cluster)
    content, name = job_content_of(options.subject)
    job = judged(content, name, cluster)
    show(job.faults, name, sys.stderr)
    if job.spec is None:
        return 1
    topics = list(explained(job.spec, job.node))
    emit(_as_json(topics) if options.format == "json" else _as_text(topics, columns(sys.stdout)))
    return int(job.is_refused)


def _is_job(subject: str) -> bool:
    path = Path(subject)
    return (
        subject == STANDARD_INPUT
        or is_file(path)
        or len(path.parts) > 1
        or path.suffix
        in (
            ".yaml",
            ".yml",
            ".json",
        )
    )


def _as_json(topics: Iterable[tuple[str, tuple[Reason, ...]]]) -> str:
    said = {topic: [reason._asdict() for reason in reasons] for topic, reasons in topics}
    return json.dumps(said, indent=2) + "\n"


def _as_text(topics: Iterable[tuple[str, tuple[Reason, ...]]], width: int | None) -> str:
    blocks = []
    for topic, reasons in topics:
        lines = [topic]
        for reason in reasons:
            lines.append(f"  {reason.name}: {reason.value}")
            lines += _wrapped(reason.why, width)
        blocks.append("\n".join(lines))
    return "\n\n".join(blocks) + "\n"


def _wrapped(words: str, width: int | None) -> list[str]:
    indent = " " * 6
    if width is None:
        return [indent + words]
    return textwrap.wrap(words, width, initial_indent=indent, subsequent_indent=indent)
