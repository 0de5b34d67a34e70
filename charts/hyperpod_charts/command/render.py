"""`hyperpod-jobs render`: a job's manifests or its batch file, or why there are none."""

from __future__ import annotations

import sys
from argparse import Namespace

from hyperpod_charts.command.fault_lines import show
from hyperpod_charts.command.inputs import cluster_of, job_content_of, judged
from hyperpod_model.command_line.output import emit, write


def run(options: Namespace) -> int:
    """Render a job.

    Returns:
        The exit code: 0, or 1 for a job that is refused.

    Raises:
        UsageError: If an option is wrong.
        UnusableInputError: If the job cannot be read.
    """
    if options.slurm:
        from hyperpod_charts.command.render_slurm import run as run_slurm

        return run_slurm(options)
    cluster = cluster_of(options.cluster)
    content, name = job_content_of(options.job)
    job = judged(content, name, cluster)
    show(job.faults, name, sys.stderr)
    if job.spec is None or job.is_refused:
        print(f"{name}: refused, nothing is rendered", file=sys.stderr)
        return 1
    # Imported only for a job that is rendered: cdk8s starts a Node.js process.
    from hyperpod_charts.rendering import render

    text = render(job.spec, node=job.node, network_policy=not options.no_network_policy)
    if options.output is None:
        emit(text)
    else:
        write(text, options.output)
    return 0
