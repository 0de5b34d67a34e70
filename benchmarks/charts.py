"""What rendering a job costs, against plain cdk8s and against a template of text.

    .venv/bin/python benchmarks/charts.py

A process of its own renders 1, 100 or 1,000 jobs, which differ by their names, after one that does not
count: starting Python, Node.js and jsii costs every cdk8s app the same. Ways to render:

* ``ours``: a ``JobSpec`` from plain values, checked, and ``hyperpod_charts.render``.
* ``cdk8s``: the same objects, their values there already, as plain ``ApiObject``s: the least with cdk8s.
* ``jinja``: the same text from a Jinja template, read as YAML once to see that it is.
* ``file``: ``ours`` from a YAML file, as ``hyperpod-jobs render`` does. It has no target.

All are checked to make the same objects. Each job is rendered in all ways, one after the other, and the
median over the jobs counts, so that a slow second of the machine hits all alike. The figures to trust are
the ratios. The targets are ``ours`` within 2 times ``cdk8s``, and a job among 1,000 within 1.5 times one
among 100. Nothing here is a test.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import yaml
from cdk8s import ApiObject, ApiObjectMetadata, App, Chart, JsonPatch
from jinja2 import Environment, StrictUndefined

from hyperpod_charts import render
from hyperpod_model.job_spec import JobSpec, load_job
from hyperpod_model.job_spec.plain_values import plain_values

ROOT = Path(__file__).parents[1]
EXAMPLE = ROOT / "examples" / "jobs" / "ddp-pretrain.yaml"
COUNTS = (1, 100, 1000)
TARGET, FLAT = 2.0, 1.5

Way = Callable[[str], str]
Cost = dict[str, float]


def ours(values: dict[str, Any]) -> Way:
    return lambda name: render(JobSpec.model_validate({**values, "name": name}))


def from_file(values: dict[str, Any]) -> Way:
    folder = Path(tempfile.mkdtemp())

    def way(name: str) -> str:
        file = folder / "job.yaml"
        file.write_text(yaml.safe_dump({**values, "name": name}))
        return render(load_job(file))

    return way


def plain_cdk8s(values: dict[str, Any]) -> Way:
    bodies = list(yaml.safe_load_all(ours(values)(_PLACEHOLDER)))

    def way(name: str) -> str:
        app = App()
        chart = Chart(app, name, disable_resource_name_hashes=True)
        for index, template in enumerate(bodies):
            body = named(template, name)
            metadata = body["metadata"]
            made = ApiObject(
                chart,
                f"object-{index}",
                api_version=body["apiVersion"],
                kind=body["kind"],
                metadata=ApiObjectMetadata(
                    name=metadata["name"],
                    namespace=metadata["namespace"],
                    annotations=metadata.get("annotations"),
                ),
            )
            made.add_json_patch(JsonPatch.add("/spec", body["spec"]))
        text: str = app.synth_yaml()
        return text

    return way


def jinja(values: dict[str, Any]) -> Way:
    text = ours(values)(_PLACEHOLDER).replace(_PLACEHOLDER, "{{ name }}")
    template = Environment(undefined=StrictUndefined, keep_trailing_newline=True).from_string(text)

    def way(name: str) -> str:
        made = template.render(name=name)
        for _ in yaml.load_all(made, Loader=yaml.CSafeLoader):
            pass
        return made

    return way


WAYS: dict[str, Callable[[dict[str, Any]], Way]] = {
    "ours": ours,
    "cdk8s": plain_cdk8s,
    "jinja": jinja,
    "file": from_file,
}
_PLACEHOLDER = "placeholder"


def named(value: Any, name: str) -> Any:
    """Put a job's name where the placeholder is, whole or as the end of a path."""
    if isinstance(value, dict):
        return {key: named(member, name) for key, member in value.items()}
    if isinstance(value, list):
        return [named(item, name) for item in value]
    return value.replace(_PLACEHOLDER, name) if isinstance(value, str) else value


def main() -> int:
    arguments = parse_arguments()
    values = plain_values(load_job(arguments.job))
    if arguments.count is not None:
        print(json.dumps(measure({name: make(values) for name, make in WAYS.items()}, arguments.count)))
        return 0
    differing = [name for name, make in WAYS.items() if objects(make(values)) != objects(ours(values))]
    if differing:
        print(f"not the same objects as ours: {', '.join(differing)}", file=sys.stderr)
        return 1
    runs = [[run(count, arguments.job) for count in COUNTS] for _ in range(arguments.repetitions)]
    report(runs)
    return 0


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--repetitions", type=int, default=5, help="runs of each number (default: 5)")
    parser.add_argument("--job", type=Path, default=EXAMPLE, help="a job instead of the DDP example")
    parser.add_argument("--count", type=int, help=argparse.SUPPRESS)
    return parser.parse_args()


def objects(way: Way) -> list[Any]:
    return list(yaml.safe_load_all(way("a-job")))


def measure(ways: dict[str, Way], count: int) -> Cost:
    """Return the median seconds of a job, by way."""
    for way in ways.values():
        way("warm-up")
    seconds: dict[str, list[float]] = {name: [] for name in ways}
    turns = list(ways)
    for index in range(count):
        begin = index % len(turns)
        for name in turns[begin:] + turns[:begin]:
            start = time.perf_counter()
            ways[name](f"job-{index}")
            seconds[name].append(time.perf_counter() - start)
    return {name: statistics.median(taken) for name, taken in seconds.items()}


def run(count: int, job: Path) -> Cost:
    command = [sys.executable, __file__, "--count", str(count), "--job", str(job)]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    if ended.returncode:
        sys.exit(f"{count} jobs failed:\n{ended.stdout}{ended.stderr}")
    cost: Cost = json.loads(ended.stdout)
    return cost


def report(runs: list[list[Cost]]) -> None:
    columns = [*WAYS, "ours / cdk8s", "ours / jinja"]
    print(f"milliseconds a job, medians of {len(runs)} runs")
    print(f"{'jobs':>5} " + " ".join(f"{name:>{max(8, len(name))}}" for name in columns))
    ours_over_cdk8s, cost = 0.0, {}
    for index, count in enumerate(COUNTS):
        costs = [run[index] for run in runs]
        medians = {name: statistics.median(cost[name] for cost in costs) for name in WAYS}
        # Of each run, not of medians of all: both ways of one run saw the same machine.
        ratios = [
            statistics.median(cost["ours"] / cost[other] for cost in costs) for other in ("cdk8s", "jinja")
        ]
        numbers = " ".join(f"{medians[name] * 1000:8.2f}" for name in WAYS)
        print(f"{count:5} {numbers} " + " ".join(f"{ratio:12.2f}" for ratio in ratios))
        cost[count], ours_over_cdk8s = medians["ours"], ratios[0]
    growth = cost[COUNTS[-1]] / cost[COUNTS[-2]]
    print(f"ours / cdk8s = {ours_over_cdk8s:.2f}, target {TARGET}: {verdict(ours_over_cdk8s, TARGET)}")
    print(f"1,000 / 100 jobs = {growth:.2f}, target {FLAT}: {verdict(growth, FLAT)}")


def verdict(ratio: float, target: float) -> str:
    return "met" if ratio <= target else "missed"


if __name__ == "__main__":
    sys.exit(main())
