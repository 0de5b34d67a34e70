"""How many weakenings of the hardened templates other tools find, on the same mutants as `hyperpod-review`.

    .venv/bin/python benchmarks/compare_review.py [--sample 150] [--seed 1]

The mutants are those of the tests (``tests/plugins/mutants``) that count: what the table of neutral changes
lists is left out. A tool finds one if it says something of the mutant that it does not say of the template
itself: a rule about a resource. cfn-lint, checkov and the two packs of cdk-nag that ``app.py`` adds are asked
about a sample, the same for all; `hyperpod-review` about every one. checkov is installed into an environment
under build/ the first time, or left out with the reason. Nothing here is a test.
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from scanners import commands
from synth import BUILD, ROOT

sys.path.insert(0, str(ROOT / "tests" / "plugins"))

from assemblies import assembly_of, spec_of  # type: ignore[import-not-found]
from mutants.generating import mutants_of  # type: ignore[import-not-found]
from mutants.judging import Judge  # type: ignore[import-not-found]
from mutants.neutral import neutral_changes, sorted_out  # type: ignore[import-not-found]

from hyperpod_constructs.bundled_node import prefer_bundled_node

TABLE = ROOT / "tests" / "policy" / "mutation" / "neutral.yaml"
EXAMPLES = {"slurm": "llm-train.yaml", "eks": "llm-train-eks.yaml"}
ORIGINAL = "original"

Findings = Mapping[str, set[tuple[str, str]]]
"""What a tool says of each file by its name: rules, each with the resource."""


class Row(NamedTuple):
    """What became of the mutants with one tool."""

    tool: str
    found: int
    asked: int
    noise: int
    seconds: float


def main() -> int:
    arguments = parse_arguments()
    prefer_bundled_node()
    tools, left_out = commands(ROOT / "build" / "scanners")
    for reason in left_out:
        print(f"left out {reason}")
    scanners: dict[str, Callable[[Path], Findings]] = {
        "cfn-lint": lambda folder: cfn_lint(tools["cfn-lint"], folder),
        "cdk-nag AwsSolutions": lambda folder: cdk_nag("AwsSolutions", folder),
        "cdk-nag NIST 800-53": lambda folder: cdk_nag("NIST", folder),
    }
    if "checkov" in tools:
        scanners["checkov"] = lambda folder: checkov(tools["checkov"], folder)
    for name, example in EXAMPLES.items():
        ours, folder = prepared(name, example, arguments.sample, arguments.seed)
        print_row(name, ours)
        for tool, scan in scanners.items():
            print_row(name, asked(tool, scan, folder))
    return 0


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sample", type=int, default=150, help="mutants of each template (default: 150)")
    parser.add_argument("--seed", type=int, default=1, help="which sample (default: 1)")
    return parser.parse_args()


def prepared(name: str, example: str, sample: int, seed: int) -> tuple[Row, Path]:
    """Ask our own review about every mutant, and write a sample of those that count."""
    spec = spec_of(example)
    assembly = assembly_of(spec, BUILD / f"compare-{name}-assembly")
    body: dict[str, Any] = json.loads((assembly / "HyperPodStack.template.json").read_text())
    found = {mutant.label: mutant for mutant in mutants_of(body)}
    start = time.process_time()
    judging = Judge(body, spec.region)
    killers = {label: judging.killer(mutant) for label, mutant in found.items()}
    seconds = time.process_time() - start
    outcome = sorted_out(killers, neutral_changes(TABLE, name))
    counting = [label for label in found if label not in outcome.neutral]
    folder = BUILD / f"compare-{name}"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    (folder / f"{ORIGINAL}.json").write_text(json.dumps(body))
    for number, label in enumerate(random.Random(seed).sample(counting, min(sample, len(counting)))):
        (folder / f"m{number:04}.json").write_text(json.dumps(found[label].of(body)))
    return Row("hyperpod-review", len(outcome.killed), len(counting), 0, seconds), folder


def asked(tool: str, scan: Callable[[Path], Findings], folder: Path) -> Row:
    start = time.perf_counter()
    findings = scan(folder)
    seconds = time.perf_counter() - start
    known = findings.get(ORIGINAL, set())
    mutants = [path.stem for path in folder.glob("m*.json")]
    found = sum(bool(findings.get(name, set()) - known) for name in mutants)
    return Row(tool, found, len(mutants), len(known), seconds)


def print_row(template: str, row: Row) -> None:
    share = row.found / row.asked
    print(
        f"{template:6} {row.tool:22} finds {row.found:5} of {row.asked:5} weakenings ({share:6.1%}); "
        f"{row.noise:3} findings on the template itself; {row.seconds:6.0f}s",
        flush=True,
    )


def cfn_lint(command: list[str], folder: Path) -> Findings:
    files = [str(path) for path in sorted(folder.glob("*.json"))]
    output = subprocess.run([*command, *files], capture_output=True, text=True).stdout
    found: dict[str, set[tuple[str, str]]] = {}
    for match in json.loads(output):
        place = ".".join(map(str, (match["Location"]["Path"] or [])[:2]))
        name = Path(match["Filename"]).stem
        found.setdefault(name, set()).add((f"{match['Rule']['Id']} {match['Message']}", place))
    return found


def checkov(command: list[str], folder: Path) -> Findings:
    options = command[: command.index("--file")]
    run = subprocess.run([*options, "--directory", str(folder)], capture_output=True, text=True)
    reports = json.loads(run.stdout)
    found: dict[str, set[tuple[str, str]]] = {}
    for report in reports if isinstance(reports, list) else [reports]:
        for check in report["results"]["failed_checks"]:
            name = Path(check["file_path"]).stem
            found.setdefault(name, set()).add((check["check_id"], check["resource"]))
    return found


def cdk_nag(pack: str, folder: Path) -> Findings:
    out = BUILD / f"compare-nag-{pack}"
    shutil.rmtree(out, ignore_errors=True)
    program = Path(__file__).with_name("nag_templates.py")
    # it ends with an error, as a synthesis with findings does
    run = subprocess.run(
        [sys.executable, str(program), pack, str(folder), str(out)], capture_output=True, text=True
    )
    report = out / "validation-report.json"
    if not report.is_file():
        sys.exit(f"cdk-nag left no report:\n{run.stderr[-2000:]}")
    found: dict[str, set[tuple[str, str]]] = {}
    for plugin in json.loads(report.read_text())["pluginReports"]:
        for violation in plugin["violations"]:
            for construct in violation["violatingConstructs"]:
                stack, _, inner = construct["constructPath"].partition("/")
                found.setdefault(stack, set()).add((violation["ruleName"], inner))
    return found


if __name__ == "__main__":
    sys.exit(main())
