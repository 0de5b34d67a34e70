"""Write ``docs/acknowledgements.md`` from what the default stack acknowledges.

Run ``python docs/generators/acknowledgements.py`` to write the page; a test fails while it is out of date.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "acknowledgements.md"

_HEAD = """# Acknowledged findings

What `AwsSolutionsChecks`, `NIST80053R5Checks` and `HyperPodChecks` find on the default stack
(`examples/clusters/llm-train.yaml`) and why each finding is accepted. Any other error fails the synthesis.

`acknowledge_known_findings(stack)` speaks for this library's own resources, one finding at a time;
`acknowledge_upload_handler(stack)` for the CDK's upload function, which all uploads of a stack may share, so
only an app can answer for it. Both are in `hyperpod_constructs.acknowledgements`, and `app.py` calls them.

<!-- Written by docs/generators/acknowledgements.py; do not edit. -->
"""


def report_of_default_stack() -> dict[str, Any]:
    """Synthesize the app and return its validation report."""
    with tempfile.TemporaryDirectory() as assembly:
        subprocess.run(
            [sys.executable, "app.py"],
            cwd=ROOT,
            env={**os.environ, "CDK_OUTDIR": assembly, "CDK_VALIDATION": "false", "CDK_CONTEXT_JSON": "{}"},
            check=True,
            capture_output=True,
        )
        report: dict[str, Any] = json.loads((Path(assembly) / "validation-report.json").read_text())
        return report


def _sentence(reason: str) -> str:
    starts_with_an_action = ":" in reason.split()[0]
    return f"{reason if starts_with_an_action else reason[0].upper() + reason[1:]}."


def page_of(report: dict[str, Any]) -> str:
    """Render the page: a section for each reason's resources, rules in order.

    Args:
        report: A validation report of the CDK.
    """
    by_resource: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for plugin in report["pluginReports"]:
        for finding in plugin["suppressedViolations"]:
            for construct in finding["violatingConstructs"]:
                by_resource[construct["constructPath"]].append((finding["acknowledgedId"], finding["reason"]))
    lines = [_HEAD]
    for path, findings in sorted(by_resource.items()):
        lines += [f"## `{path.removeprefix('HyperPodStack/')}`", ""]
        by_reason: dict[str, list[str]] = defaultdict(list)
        for id, reason in findings:
            by_reason[reason].append(id)
        for reason, ids in by_reason.items():
            lines += [f"- `{id}`" for id in sorted(ids)]
            lines += ["", f"  {_sentence(reason)}", ""]
    return "\n".join(lines).rstrip() + "\n"


if __name__ == "__main__":
    PAGE.write_text(page_of(report_of_default_stack()))
