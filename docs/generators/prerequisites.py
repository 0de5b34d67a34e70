"""Write ``docs/prerequisites.md`` from the catalog.

Run ``python docs/generators/prerequisites.py`` to write the page; a test fails while it is out of date.
"""

from __future__ import annotations

from pathlib import Path

from hyperpod_model.catalog.prerequisites import Mechanism, Requirement, mechanisms

PAGE = Path(__file__).parents[1] / "prerequisites.md"

_HEAD = """# Prerequisites

What each mechanism of HyperPod requires, with the source of each statement and the date it was read. Where
sources disagree, the row says what the checks of this library take, and the rows below it what each source
says; a row in doubt says why. Versions move: read the source again before you
rely on a row that is older than your plans.

The checks read the same facts, see [the catalog](catalog.md).

<!-- Written by docs/generators/prerequisites.py; do not edit. -->
"""


def page() -> str:
    """Render the page."""
    contents = [f"- [{found.title}](#{_anchor(found.title)})" for found in mechanisms()]
    sections = [_section(found) for found in mechanisms()]
    return "\n".join([_HEAD, *contents, "", *sections])


def _section(mechanism: Mechanism) -> str:
    rows = [f"## {mechanism.title}", "", "| what | required | source | read on |", "|---|---|---|---|"]
    for requirement in mechanism.requirements:
        rows += _rows(requirement)
    return "\n".join([*rows, ""])


def _rows(requirement: Requirement) -> list[str]:
    required = requirement.text
    if requirement.doubt is not None:
        required += f" (in doubt: {requirement.doubt})"
    if not requirement.claims:
        return [_row(requirement.item, required, requirement.source, requirement.checked_on)]
    rows = [_row(requirement.item, required, "as below", "")]
    rows += [_row("", f"says: {claim.value}", claim.source, claim.checked_on) for claim in requirement.claims]
    return rows


def _row(*cells: str) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|").replace("<", "&lt;") for cell in cells) + " |"


def _anchor(title: str) -> str:
    return title.lower().replace(" ", "-")


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
