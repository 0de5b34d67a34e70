"""What the README says is there, and its code is code that runs."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
EXAMPLE = "examples/other_team/app.py"


def blocks(text: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def faults_of(readme: str, tree: Path) -> list[str]:
    faults = []
    example = (tree / EXAMPLE).read_text()
    faults += [f"not in {EXAMPLE}: {code!r}" for code in blocks(readme, "python") if code not in example]
    targets = set(re.findall(r"^([a-z]+):", (tree / "Makefile").read_text(), re.MULTILINE))
    said = set(re.findall(r"`make ([a-z]+)", readme)) | set(
        re.findall(r"^make ([a-z]+)", readme, re.MULTILINE)
    )
    faults += [f"make {target} does not exist" for target in sorted(said - targets)]
    links = set(re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", readme))
    clusters = set(re.findall(r"\bcluster=([\w./-]+)", readme))
    programs = set(re.findall(r"\.venv/bin/python ([\w./-]+)", readme)) | set(
        re.findall(r"bash (\.ci/\w+)", readme)
    )
    faults += [
        f"{path} does not exist" for path in sorted(links | clusters | programs) if not (tree / path).exists()
    ]
    return faults


def test_the_readme_is_true() -> None:
    assert faults_of((ROOT / "README.md").read_text(), ROOT) == []


def linked_pages(page: Path) -> set[Path]:
    links = re.findall(r"\]\(([^)#:\s]+\.md)(?:#[^)]*)?\)", page.read_text())
    return {(page.parent / link).resolve() for link in links}


def pages_behind(start: Path) -> set[Path]:
    """Every page that a reader reaches from one page by following links."""
    seen: set[Path] = set()
    waiting = {start.resolve()}
    while waiting:
        page = waiting.pop()
        seen.add(page)
        waiting |= {link for link in linked_pages(page) if link.exists()} - seen
    return seen


def test_every_page_is_reached_from_the_readme() -> None:
    assert {page.resolve() for page in (ROOT / "docs").rglob("*.md")} - pages_behind(
        ROOT / "README.md"
    ) == set()


def test_no_page_links_into_the_void() -> None:
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    missing = [
        f"{page.relative_to(ROOT)}: {link.name}"
        for page in pages
        for link in sorted(linked_pages(page))
        if not link.exists()
    ]
    assert missing == []


def test_pages_are_followed_through_other_pages(tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("[a](docs/a.md#part)")
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.md").write_text("[b](b.md) [home](../README.md) [void](void.md)")
    (tmp_path / "docs" / "b.md").touch()
    (tmp_path / "docs" / "alone.md").touch()
    reached = {page.name for page in pages_behind(tmp_path / "README.md")}
    assert reached == {"README.md", "a.md", "b.md"}


def test_setting_up_takes_two_commands() -> None:
    readme = (ROOT / "README.md").read_text()
    section = re.search(r"^## Set up$(.*?)^## ", readme, re.MULTILINE | re.DOTALL)
    assert section is not None
    (commands,) = blocks(section[1], "sh")
    assert len(commands.splitlines()) == 2


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        (
            "```python\nimport nothing_of_the_kind\n```\n",
            f"not in {EXAMPLE}: 'import nothing_of_the_kind\\n'",
        ),
        ("run `make coffee`", "make coffee does not exist"),
        ("```sh\nmake tea\n```\n", "make tea does not exist"),
        ("[page](docs/no-such-page.md#part)", "docs/no-such-page.md does not exist"),
        (
            "npx cdk deploy -c cluster=examples/clusters/none.yaml",
            "examples/clusters/none.yaml does not exist",
        ),
        ("`.venv/bin/python benchmarks/none.py`", "benchmarks/none.py does not exist"),
    ],
)
def test_an_untrue_readme_is_found(text: str, fault: str) -> None:
    assert faults_of(text, ROOT) == [fault]
