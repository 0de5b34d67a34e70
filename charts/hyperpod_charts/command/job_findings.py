"""What is wrong with job specifications, as findings of a report."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from hyperpod_charts.command.inputs import JudgedJob
from hyperpod_policy.report import Finding
from hyperpod_policy.rule import Promise

SPECIFICATION: Final = Promise(
    id="JobSpecification",
    title="a job specification can become a job that starts and resumes",
    severity="error",
    why=(
        "Kubernetes and the operators accept jobs that never start, run over TCP or begin again at step 0, "
        "and that shows only after the nodes have been waited for."
    ),
    fix="correct the field; hyperpod-jobs explain FIELD says what it takes",
    source="docs/job-spec.md of this project",
)
JOB_PROMISES: Final = (SPECIFICATION,)
GROUP: Final = "jobs"

_KIND: Final = "job specification"


def findings_of(job: JudgedJob, name: str) -> Iterator[Finding]:
    """Yield what is wrong with a job, or that nothing is.

    Args:
        job: The job.
        name: Its file.
    """
    title = "job" if job.spec is None else f"job/{job.spec.name}"
    for fault in job.faults:
        yield Finding(
            rule_id=SPECIFICATION.id,
            title=SPECIFICATION.title,
            severity=fault.severity,
            outcome="fail",
            logical_id=title,
            resource_type=_KIND,
            path=fault.path,
            found=fault.message,
            allowed="",
            fix=SPECIFICATION.fix,
            why=SPECIFICATION.why,
            source=SPECIFICATION.source,
            file=name,
            line=fault.line,
        )
    if not job.faults:
        yield Finding(
            rule_id=SPECIFICATION.id,
            title=SPECIFICATION.title,
            severity=SPECIFICATION.severity,
            outcome="pass",
            logical_id=title,
            resource_type=_KIND,
            path=(),
            found="",
            allowed="",
            fix="",
            why=SPECIFICATION.why,
            source=SPECIFICATION.source,
            file=name,
        )
