"""How long synthesizing the default stack takes, against the least a CDK app can take.

    .venv/bin/python benchmarks/synth.py

Each measurement is a whole process, from the start of Python to the written cloud assembly:

* ``stack``: ``app.py`` with its default cluster.
* ``bare``: the same resources, outputs, assets, packs and acknowledgements, one L1 call a resource.
  Generated from the template that ``stack`` synthesizes, and checked to synthesize the same resources.
* ``empty``: an app with one empty stack.

Repetitions are interleaved, so that a slow minute of the machine hits all alike. The figures to trust are the
ratios; the target is ``stack`` within 1.3 times ``bare``. Nothing here is a test. The built-in CloudFormation
validation, which costs every app the same, is off unless ``--validation`` is given.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage
from typing import Any, NamedTuple

from bare_program import bare_program

from hyperpod_constructs.bundled_node import prefer_bundled_node

ROOT = Path(__file__).parents[1]
BUILD = ROOT / "build" / "benchmark"
TARGET = 1.3


class Cost(NamedTuple):
    """Seconds of one run: on the clock, and of processor time with those of Node.js."""

    clock: float
    processor: float


EMPTY = """\
from hyperpod_constructs.bundled_node import prefer_bundled_node

prefer_bundled_node()
from aws_cdk import App, Stack

app = App()
Stack(app, "Empty")
app.synth()
"""


def main() -> int:
    arguments = parse_arguments()
    prefer_bundled_node()
    BUILD.mkdir(parents=True, exist_ok=True)
    environment = {
        **{name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"},
        "CDK_VALIDATION": "true" if arguments.validation else "false",
        "CDK_CONTEXT_JSON": json.dumps({"cluster": str(arguments.cluster)} if arguments.cluster else {}),
    }
    synthesize(ROOT / "app.py", environment)
    assembly = outdir(ROOT / "app.py")
    programs = {
        "stack": ROOT / "app.py",
        "bare": write(BUILD / "bare.py", bare_program(assembly)),
        "empty": write(BUILD / "empty.py", EMPTY),
    }
    for program in programs.values():
        synthesize(program, environment)
    resources = resources_of(assembly)
    bare = resources_of(outdir(programs["bare"]))
    differing = sorted(
        name for name in resources.keys() | bare.keys() if resources.get(name) != bare.get(name)
    )
    if differing:
        print(
            f"the bare program does not synthesize the same resources: {', '.join(differing)}",
            file=sys.stderr,
        )
        return 1

    costs: dict[str, list[Cost]] = {name: [] for name in programs}
    names = list(programs)
    for repetition in range(arguments.repetitions):
        turn = repetition % len(names)
        for name in names[turn:] + names[:turn]:
            costs[name].append(synthesize(programs[name], environment))
    report(costs, len(resources))
    return 0


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--repetitions", type=int, default=9, help="runs of each program (default: 9)")
    parser.add_argument("--cluster", type=Path, help="a cluster spec instead of the default of app.py")
    parser.add_argument(
        "--validation", action="store_true", help="with the built-in CloudFormation validation"
    )
    return parser.parse_args()


def outdir(program: Path) -> Path:
    return BUILD / f"{program.stem}.out"


def write(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


def synthesize(program: Path, environment: dict[str, str]) -> Cost:
    """Run a CDK app to its end."""
    before = processor_seconds()
    start = time.perf_counter()
    run = subprocess.run(
        [sys.executable, str(program)],
        cwd=ROOT,
        env={**environment, "CDK_OUTDIR": str(outdir(program))},
        capture_output=True,
        text=True,
    )
    cost = Cost(time.perf_counter() - start, processor_seconds() - before)
    if run.returncode:
        sys.exit(f"{program.name} failed:\n{run.stdout}{run.stderr}")
    return cost


def processor_seconds() -> float:
    usage = getrusage(RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def resources_of(assembly: Path) -> dict[str, Any]:
    (template,) = assembly.glob("*.template.json")
    resources: dict[str, Any] = json.loads(template.read_text())["Resources"]
    for resource in resources.values():
        resource.pop("Metadata", None)
        if isinstance(resource.get("DependsOn"), list):
            resource["DependsOn"].sort()
    return resources


def report(costs: dict[str, list[Cost]], resources: int) -> None:
    clock = {name: statistics.median(cost.clock for cost in runs) for name, runs in costs.items()}
    processor = {name: statistics.median(cost.processor for cost in runs) for name, runs in costs.items()}
    print(f"{resources} resources, {len(costs['stack'])} runs each, medians of whole processes")
    print(f"{'':6} {'clock':>7} {'/ bare':>7} {'/ empty':>8}   {'processor':>9} {'/ bare':>7} {'/ empty':>8}")
    for name in costs:
        columns = []
        for median, width in ((clock, 6), (processor, 8)):
            ratios = f"{median[name] / median['bare']:7.2f} {median[name] / median['empty']:8.2f}"
            columns.append(f"{median[name]:{width}.2f}s {ratios}")
        print(f"{name:6} {'   '.join(columns)}")
    ratio = clock["stack"] / clock["bare"]
    print(f"stack / bare = {ratio:.2f}, target {TARGET}: {'met' if ratio <= TARGET else 'missed'}")


if __name__ == "__main__":
    sys.exit(main())
