"""Write ``docs/acknowledgements.md`` from what the usual stacks acknowledge.

Run ``python docs/generators/acknowledgements.py`` to write the page; a test fails while it is out of date.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "acknowledgements.md"

_HEAD = """# Acknowledged findings

What `AwsSolutionsChecks`, `NIST80053R5Checks` and `HyperPodChecks` find on the two usual stacks
(`examples/clusters/llm-train.yaml` and `llm-train-eks.yaml`) and why each finding is accepted. Any other
error fails the synthesis.

`acknowledge_known_findings(stack)` speaks for this library's own resources, one finding at a time;
`acknowledge_upload_handler(stack)` for the CDK's upload function, which all uploads of a stack may share, so
only an app can answer for it. Both are in `hyperpod_constructs.acknowledgements`, and `app.py` calls them.

<!-- Written by docs/generators/acknowledgements.py; do not edit. -->
"""


def report_of(cluster: str) -> dict[str, Any]:
    """Synthesize the app and return its validation report.

    Args:
        cluster: File of the cluster, from the root.
    """
    with tempfile.TemporaryDirectory() as assembly:
        subprocess.run(
            [sys.executable, "app.py"],
            cwd=ROOT,
            env={
                **os.environ,
                "CDK_OUTDIR": assembly,
                "CDK_VALIDATION": "false",
                "CDK_CONTEXT_JSON": json.dumps({"cluster": cluster}),
            },
            check=True,
            capture_output=True,
        )
        report: dict[str, Any] = json.loads((Path(assembly) / "validation-report.json").read_text())
        return report


def page() -> str:
    """Render the page, from both usual stacks."""
    slurm = _accepted(report_of("examples/clusters/llm-train.yaml"))
    eks = _accepted(report_of("examples/clusters/llm-train-eks.yaml"))
    besides = {path: [one for one in found if one not in slurm.get(path, [])] for path, found in eks.items()}
    lines = [_HEAD, "## The Slurm cluster", "", *_sections(slurm)]
    lines += ["## The EKS cluster, besides", "", *_sections(besides)]
    return "\n".join(lines).rstrip() + "\n"


def _sentence(reason: str) -> str:
    starts_with_an_action = ":" in reason.split()[0]
    return f"{reason if starts_with_an_action else reason[0].upper() + reason[1:]}."


def _accepted(report: dict[str, Any]) -> dict[str, list[tuple[str, str]]]:
    by_resource: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for plugin in report["pluginReports"]:
        for finding in plugin.get("suppressedViolations", ()):
            for construct in finding["violatingConstructs"]:
                by_resource[construct["constructPath"]].append((finding["acknowledgedId"], finding["reason"]))
    return by_resource


def _sections(by_resource: dict[str, list[tuple[str, str]]]) -> Iterator[str]:
    for path, findings in sorted(by_resource.items()):
        if not findings:
            continue
        yield from (f"### `{path.removeprefix('HyperPodStack/')}`", "")
        by_reason: dict[str, list[str]] = defaultdict(list)
        for id, reason in findings:
            by_reason[reason].append(id)
        for reason, ids in by_reason.items():
            yield from (f"- `{id}`" for id in sorted(ids))
            yield from ("", f"  {_sentence(reason)}", "")


if __name__ == "__main__":
    PAGE.write_text(page())
