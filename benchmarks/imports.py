"""How long imports take, against what of the standard library they stand on, in the same run.

    .venv/bin/python benchmarks/imports.py

The processor time of fresh processes that import nothing, json and dataclasses, all of the catalog, a review
of templates, specifications, and all constructs. Repetitions are interleaved, so that a slow minute of the
machine hits all alike. The figures to trust are the ratios. Nothing here is a test.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage

import hyperpod_model.catalog

_CATALOG = sorted(
    f"hyperpod_model.catalog.{path.stem}"
    for path in Path(hyperpod_model.catalog.__file__).parent.glob("[a-z]*.py")
)
BASELINE = "json and dataclasses"
PROGRAMS = {
    "nothing": "",
    BASELINE: "import json, dataclasses",
    "all of the catalog": f"import {', '.join(_CATALOG)}",
    "a review of templates": "from hyperpod_policy import review",
    "specifications": "from hyperpod_model.cluster_spec import load_cluster",
    "a whole stack": "from hyperpod_constructs import HyperPodStack",
}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--repetitions", type=int, default=9, help="processes of each (default: 9)")
    repetitions = parser.parse_args().repetitions
    seconds: dict[str, list[float]] = {name: [] for name in PROGRAMS}
    for _ in range(repetitions):
        for name, program in PROGRAMS.items():
            seconds[name].append(processor_seconds(program))
    medians = {name: statistics.median(runs) for name, runs in seconds.items()}
    for name, median in medians.items():
        print(f"{name:>24}: {median * 1000:5.0f} ms, {median / medians[BASELINE]:5.2f} times {BASELINE}")


def processor_seconds(program: str) -> float:
    """Run a program in a fresh process."""
    before = getrusage(RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-c", program], check=True)
    after = getrusage(RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


if __name__ == "__main__":
    main()
