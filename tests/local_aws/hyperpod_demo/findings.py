"""What a synthesis found, in a line, and the warnings of its constructs."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from cdk_command import STACK

_LABELS: Final = ("error", "warning", "advice", "undetermined")
_SAME_IN_PLURAL: Final = ("advice", "undetermined")
_ACKNOWLEDGEMENT: Final = re.compile(r" \[ack: [^\]]*\]$")


def findings(assembly: Path) -> str:
    """Count the findings of a synthesis, by label.

    Args:
        assembly: Folder of the cloud assembly.
    """
    report = json.loads((assembly / "validation-report.json").read_text())
    plugins = report["pluginReports"]
    found = Counter(_label(violation) for plugin in plugins for violation in plugin.get("violations", []))
    found["warning"] += sum(1 for _ in warnings(assembly))
    counted = [_counted(found[label], label) for label in _LABELS if found[label]]
    acknowledged = sum(len(plugin.get("suppressedViolations", [])) for plugin in plugins)
    return ", ".join([*(counted or ["no open finding"]), f"{acknowledged} acknowledged with a reason"])


def warnings(assembly: Path) -> Iterator[str]:
    """Yield what constructs warn of, which is in no validation report.

    Args:
        assembly: Folder of the cloud assembly.
    """
    file = assembly / f"{STACK}.metadata.json"
    if not file.exists():
        return
    for entries in json.loads(file.read_text()).values():
        for entry in entries:
            if entry["type"] == "aws:cdk:warning":
                yield _ACKNOWLEDGEMENT.sub("", entry["data"])


def _label(violation: Mapping[str, Any]) -> str:
    if violation.get("ruleMetadata", {}).get("outcome") == "undetermined":
        return "undetermined"
    severity = violation.get("severity", "error")
    return "advice" if severity == "info" else str(severity)


def _counted(number: int, label: str) -> str:
    return f"{number} {label}" if number == 1 or label in _SAME_IN_PLURAL else f"{number} {label}s"
