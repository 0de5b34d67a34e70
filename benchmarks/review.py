"""How long `hyperpod-review` takes, against other tools that read the same template in the same run.

    .venv/bin/python benchmarks/review.py

* Whole processes on one template, of a Slurm and of an EKS cluster: `hyperpod-review --format json`,
  cfn-lint, cloudformation-validate and checkov. The last two are installed into an environment under build/
  the first time, or left out with the reason. The target is half the time of the fastest of them.
* One process on 1,000 templates, no two alike: the processor time that a review takes once its template is
  loaded, for 100 resources, with a target of 10 ms, and how much memory each further template takes, with a
  target of none, or a KiB for what allocators do.
* Whole processes on a folder of 200 templates, JSON and YAML, with one and two processes (``-j``).

Repetitions are interleaved, so that a slow minute of the machine hits all alike. The figures to trust are the
ratios. That no review imports the CDK is checked. Nothing here is a test.
"""

from __future__ import annotations

import argparse
import json
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage
from typing import Any, NamedTuple

import yaml
from scanners import commands
from synth import BUILD, ROOT, outdir, synthesize

from hyperpod_constructs.bundled_node import prefer_bundled_node

REVIEW = [str(Path(sys.executable).parent / "hyperpod-review"), "--format", "json", "--fail-on", "never"]
WHOLE_TARGET = 0.5
RATE_TARGET = 10.0
MEMORY_TARGET = 1024
CLUSTERS = {
    "slurm": ROOT / "examples/clusters/llm-train.yaml",
    "eks": ROOT / "examples/clusters/llm-train-eks.yaml",
}


class Cost(NamedTuple):
    """Seconds of one run: on the clock, and of processor time."""

    clock: float
    processor: float


def main() -> int:
    arguments = parse_arguments()
    prefer_bundled_node()
    BUILD.mkdir(parents=True, exist_ok=True)
    templates = {name: synthesized(name, cluster) for name, cluster in CLUSTERS.items()}
    tools, left_out = commands(ROOT / "build" / "scanners")
    for reason in left_out:
        print(f"left out {reason}")
    met = True
    for name, template in templates.items():
        met &= whole_processes(name, template, tools, arguments.repetitions)
    met &= one_process(templates, arguments.templates)
    folders(templates, arguments.folder, max(arguments.repetitions // 2, 1))
    return 0 if met else 1


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--repetitions", type=int, default=7, help="runs of each program (default: 7)")
    parser.add_argument(
        "--templates", type=int, default=1000, help="templates for one process (default: 1000)"
    )
    parser.add_argument("--folder", type=int, default=200, help="templates in the folder (default: 200)")
    return parser.parse_args()


def synthesized(name: str, cluster: Path) -> Path:
    """Synthesize a cluster and return its template, apart from what else the assembly holds."""
    environment = {"CDK_VALIDATION": "false", "CDK_CONTEXT_JSON": json.dumps({"cluster": str(cluster)})}
    synthesize(ROOT / "app.py", environment)
    (template,) = outdir(ROOT / "app.py").glob("*.template.json")
    return Path(shutil.copy(template, BUILD / f"{name}.json"))


def whole_processes(name: str, template: Path, tools: Mapping[str, list[str]], repetitions: int) -> bool:
    """Measure each tool on one template, and tell whether ours meets its target."""
    programs = {"hyperpod-review": REVIEW, **tools}
    costs: dict[str, list[Cost]] = {tool: [] for tool in programs}
    for command in programs.values():
        run([*command, str(template)])  # fills caches of bytecode and of the disk
    for _ in range(repetitions):
        for tool, command in programs.items():
            costs[tool].append(run([*command, str(template)]))
    clock = {tool: statistics.median(cost.clock for cost in runs) for tool, runs in costs.items()}
    processor = {tool: statistics.median(cost.processor for cost in runs) for tool, runs in costs.items()}
    print(f"{name}: {resources_of(template)} resources, {repetitions} runs each, medians of whole processes")
    ours = "hyperpod-review"
    for tool in programs:
        print(
            f"  {tool:24} {clock[tool]:6.2f}s  review is {clock[ours] / clock[tool]:5.2f} of it; "
            f"processor {processor[tool]:6.2f}s, {processor[ours] / processor[tool]:5.2f}"
        )
    fastest = min(tools, key=lambda tool: clock[tool])
    ratio = clock[ours] / clock[fastest]
    print(f"  review / {fastest} = {ratio:.2f}, target {WHOLE_TARGET}: {said(ratio <= WHOLE_TARGET)}")
    return ratio <= WHOLE_TARGET


def one_process(templates: Mapping[str, Path], count: int) -> bool:
    """Measure many templates in one process, and tell whether targets are met."""
    folder = written(templates, count, BUILD / "many")
    script = Path(__file__).with_name("many_templates.py")
    output = subprocess.run(
        [sys.executable, str(script), str(folder)], check=True, capture_output=True, text=True
    )
    figures: dict[str, Any] = json.loads(output.stdout)
    if figures["cdk"]:
        sys.exit(f"a review imports the CDK: {', '.join(figures['cdk'])}")
    print(f"{figures['templates']} templates in one process: {figures['load'] * 1000:.1f} ms to load one")
    met = True
    for name, seconds in figures["review"].items():
        each = seconds * 1000 * 100 / resources_of(templates[name])
        met &= each <= RATE_TARGET
        print(
            f"  {name}: {seconds * 1000:.1f} ms to review one, {each:.1f} ms for 100 resources, "
            f"target {RATE_TARGET:.0f} ms: {said(each <= RATE_TARGET)}"
        )
        mapped = figures["trust_map"][name]
        print(f"  {name}: {mapped * 1000:.1f} ms to map who trusts whom, {mapped / seconds:.2f} of a review")
    growth = figures["memory_per_template"]
    flat = growth <= MEMORY_TARGET
    print(
        f"  {figures['memory'] / 2**20:.0f} MiB, and {growth:.0f} bytes more with each further template, "
        f"target {MEMORY_TARGET}: {said(flat)}; no import of the CDK"
    )
    return met and flat


def folders(templates: Mapping[str, Path], count: int, repetitions: int) -> None:
    """Measure a folder of templates with one process and with two."""
    for suffix in ("json", "yaml"):
        folder = written(templates, count, BUILD / f"folder-{suffix}", suffix=suffix)
        costs: dict[int, list[Cost]] = {1: [], 2: []}
        for _ in range(repetitions):
            for jobs, runs in costs.items():
                runs.append(run([*REVIEW, "--jobs", str(jobs), str(folder)]))
        one, two = (statistics.median(cost.clock for cost in runs) for runs in costs.values())
        print(
            f"a folder of {count} templates in {suffix.upper()}: {one:.1f}s with -j 1, {two:.1f}s with -j 2, "
            f"{two / one:.2f} of it"
        )


def written(templates: Mapping[str, Path], count: int, folder: Path, *, suffix: str = "json") -> Path:
    """Write templates that differ in their names, and every fifth in a finding."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    texts = {name: path.read_text() for name, path in templates.items()}
    for number in range(count):
        name = list(texts)[number % len(texts)]
        text = texts[name].replace("llm-train", f"llm-train-{number}")
        if number % 5 == 0:
            text = text.replace('"NodeRecovery": "Automatic"', '"NodeRecovery": "None"')
        if suffix == "yaml":
            text = yaml.dump(json.loads(text), Dumper=getattr(yaml, "CSafeDumper", yaml.SafeDumper))
        (folder / f"{name}-{number:04}.{suffix}").write_text(text)
    return folder


def run(command: Sequence[str]) -> Cost:
    """Run a command to its end. Tools end with other codes than 0 when they find something."""
    before = processor_seconds()
    start = time.perf_counter()
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    cost = Cost(time.perf_counter() - start, processor_seconds() - before)
    if not ran.stdout.strip():
        sys.exit(f"{command[0]} printed nothing and ended with {ran.returncode}:\n{ran.stderr}")
    return cost


def processor_seconds() -> float:
    usage = getrusage(RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def resources_of(template: Path) -> int:
    return len(json.loads(template.read_text())["Resources"])


def said(met: bool) -> str:
    return "met" if met else "missed"


if __name__ == "__main__":
    sys.exit(main())
