"""The rules, as `--list-rules` and `--explain` show them."""

from __future__ import annotations

import json
import textwrap

from hyperpod_policy.acknowledgements import ACKNOWLEDGEMENT_RULES, PACK
from hyperpod_policy.command.selection import found, group_names, groups


def listed(output_format: str) -> str:
    """List all rules, as a table or as JSON."""
    rows = [(promise, name) for name, promises in groups().items() for promise in promises]
    if output_format == "json":
        said = [
            {
                "rule_id": promise.id,
                "group": group,
                "severity": promise.severity,
                "title": promise.title,
                "why": promise.why,
                "fix": promise.fix,
                "source": promise.source,
            }
            for promise, group in rows
        ]
        return json.dumps({"rules": said}, indent=2) + "\n"
    ids = max(len(promise.id) for promise, _ in rows)
    severities = max(len(promise.severity) for promise, _ in rows)
    names = max(len(group) for _, group in rows)
    return "".join(
        f"{promise.id:<{ids}}  {promise.severity:<{severities}}  {group:<{names}}  {promise.title}\n"
        for promise, group in rows
    )


def explained(rule_id: str, columns: int | None = None) -> str:
    """Explain a rule, and how its findings are acknowledged.

    Args:
        rule_id: Such as ``EfaSelfTraffic``.
        columns: Where to wrap lines. By default nowhere.

    Raises:
        UsageError: If there is no such rule.
    """
    promise = found(rule_id)
    lines = [
        *_wrapped(f"{promise.id}: ", promise.title, columns),
        "",
        f"severity: {promise.severity}",
        f"group:    {group_names()[promise.id]}",
        *_wrapped("why:      ", promise.why, columns),
        *_wrapped("fix:      ", promise.fix, columns),
        *_wrapped("source:   ", promise.source, columns),
    ]
    if promise not in ACKNOWLEDGEMENT_RULES:
        lines += [
            "",
            "To accept a finding in a CDK app:",
            f'  Validations.of(x).acknowledge(Acknowledgment(id="{PACK}::{promise.id}", reason="..."))',
            "and for any other template in .hyperpod-review.yaml:",
            "  acknowledgements:",
            f"    - id: {promise.id}",
            "      resource: LogicalId",
            "      reason: ...",
        ]
    return "\n".join(lines) + "\n"


def _wrapped(mark: str, text: str, columns: int | None) -> list[str]:
    if columns is None:
        return [mark + text]
    return textwrap.wrap(text, columns, initial_indent=mark, subsequent_indent=" " * len(mark))
