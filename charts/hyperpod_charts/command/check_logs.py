"""`hyperpod-jobs check-logs`: whether a job's logs say EFA, and all of it."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import BinaryIO, Final

from hyperpod_charts.command.arguments import PROGRAM
from hyperpod_charts.command.collective_log.expectation import (
    Expectation,
    expectation_by_log,
    expectation_of,
)
from hyperpod_charts.command.collective_log.judgement import judge, transports
from hyperpod_charts.command.collective_log.lines import LogLine, telling_lines
from hyperpod_charts.command.collective_log.observation import Observation, observe
from hyperpod_charts.command.collective_log.report import as_json, as_text
from hyperpod_model.catalog.fact import UnknownNameError
from hyperpod_model.command_line.output import columns, emit
from hyperpod_model.command_line.parser import UsageError
from hyperpod_policy.sources.text import STANDARD_INPUT, STANDARD_INPUT_NAME

_UNTOLD: Final = 2


def run(options: Namespace) -> int:
    """Read logs.

    Returns:
        The exit code: 0 for EFA and all of it, 1 otherwise, 2 for logs that do not tell.

    Raises:
        UsageError: If an option is wrong or a log cannot be read.
        UnusableInputError: If the job cannot be read.
    """
    expected = _expected(options)
    seen = observe(_lines(options.logs))
    if expected is None:
        expected = expectation_by_log(node.platform for node in seen.nodes.values())
    if options.interfaces is not None:
        expected = replace(expected, interfaces=options.interfaces, because="--interfaces says")
    findings = judge(seen, expected)
    if not transports(seen) and not findings:
        print(f"{PROGRAM}: {_untold(seen, options.logs)}", file=sys.stderr)
        return _UNTOLD
    written = as_json if options.format == "json" else as_text
    emit(written(seen, expected, findings, columns(sys.stdout)))
    return int(any(finding.severity == "error" for finding in findings))


def _expected(options: Namespace) -> Expectation | None:
    if options.instance_type is not None:
        try:
            return expectation_of(options.instance_type)
        except UnknownNameError as error:
            raise UsageError(f"--instance-type: {error}") from error
    if options.job is None:
        return None
    # Imported only for a job: pydantic takes longer than reading a log.
    from hyperpod_charts.command.inputs import job_content_of, judged

    content, name = job_content_of(options.job)
    job = judged(content, name, None)
    if job.spec is None:
        raise UsageError("\n".join(f"--job {name}: {fault}" for fault in job.faults))
    return Expectation(
        job.spec.instance_type, job.spec.resources().efa_interfaces, f"job {job.spec.name} requests"
    )


def _lines(logs: Sequence[str]) -> Iterator[LogLine]:
    for path in logs:
        with _opened(path) as stream:
            yield from telling_lines(stream, file=STANDARD_INPUT_NAME if path == STANDARD_INPUT else path)


@contextmanager
def _opened(path: str) -> Iterator[BinaryIO]:
    if path == STANDARD_INPUT:
        yield sys.stdin.buffer
        return
    try:
        with open(path, "rb") as stream:
            yield stream
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from error


def _untold(seen: Observation, logs: Sequence[str]) -> str:
    names = ", ".join(STANDARD_INPUT_NAME if log == STANDARD_INPUT else log for log in logs)
    if seen.lines == 0:
        return (
            f"{names} holds no line of NCCL; set NCCL_DEBUG=INFO in the job's environment, as rendered jobs "
            "have it, and read the log from its start"
        )
    return (
        f"{names} holds {seen.lines} lines of NCCL, and none that tells the network; NCCL_DEBUG=INFO says it "
        "as processes start, and NCCL_DEBUG_SUBSYS must not leave out INIT and NET"
    )
