"""Puts the page together: one file that asks nothing of anybody."""

from __future__ import annotations

import base64
import hashlib
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import PurePath
from typing import Any, Final

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from hyperpod_policy.documents import Document
from hyperpod_policy.report import NOTHING_JUDGED, Finding, Report, count
from hyperpod_policy.reports.html.findings import choices, promises, totals
from hyperpod_policy.reports.html.network.marks import Marks
from hyperpod_policy.reports.html.network.model import Network
from hyperpod_policy.reports.html.network.plan import plan
from hyperpod_policy.reports.html.network.ports import ports
from hyperpod_policy.reports.html.network.reading import network_of
from hyperpod_policy.reports.html.roads import roads
from hyperpod_policy.reports.printable import printable
from hyperpod_policy.reports.subject import Subject
from hyperpod_policy.sources import Sources
from hyperpod_policy.trust_map import TrustMap, svg
from hyperpod_policy.trust_map.drawing import STYLE as MAP_STYLE
from hyperpod_policy.units import units

MAX_NETWORKS: Final = 12
"""Networks that one page draws."""

_WORD: Final = re.compile(r"[a-z]+(?=[ ,;]|-[a-z]|$)")
"""A word that is no name, at the beginning of a text."""

_PACKAGE: Final = "hyperpod_policy.reports.html"


@dataclass(frozen=True, slots=True)
class _Drawn:
    """A network with its drawings."""

    name: str
    title: str
    network: Network
    plan: Markup
    ports: Markup
    breadths: frozenset[str]


@dataclass(frozen=True, slots=True)
class _Reviewed:
    """A template that was reviewed."""

    file: str
    resources: int
    where: str
    depth: int
    findings: str


def render(
    report: Report,
    sources: Sources,
    trust_map: TrustMap,
    *,
    subject: Subject,
    groups: Mapping[str, str],
    version: str,
) -> str:
    """Write a report as one HTML page.

    The page holds its styles, its script and its drawings, and its policy forbids it to load anything. It
    works without the script, which adds filters and the switch between light and dark.

    Args:
        report: What a review found.
        sources: What was reviewed.
        trust_map: Who can run code on the nodes.
        subject: How much was reviewed.
        groups: The concern each rule serves, by rule id.
        version: Version of the command.
    """
    style, script = _asset("page.css"), _asset("page.js")
    broken, kept = promises(report, groups)
    listed = sum(len(promise.items) for promise in broken)
    by_file: dict[str | None, list[Finding]] = {}
    for finding in report.findings:
        by_file.setdefault(finding.file, []).append(finding)
    marks = Marks()
    marks.add(report.open)
    networks, undrawn = _networks(sources.documents, marks)
    words = roads(trust_map)
    page = _environment().get_template("page.html")
    return page.render(
        style=Markup(style),
        script=Markup(script),
        policy=_policy(style, script),
        headline=count(report.findings) if report.verdicts else NOTHING_JUDGED,
        report=report,
        subject=subject,
        version=version,
        totals=totals(report),
        reviewed=list(_reviewed(sources.documents, by_file)),
        manifests=sources.manifests,
        broken=broken,
        listed=listed,
        unlisted=len(report.findings) - listed,
        kept=kept,
        choices=choices(broken),
        networks=networks,
        undrawn=undrawn,
        map=words,
        drawing=Markup(_printable_lines(svg(trust_map))) if words is not None else "",
        map_limits=trust_map.limits,
    )


def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader(_PACKAGE),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_shown,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    environment.filters["sentence"] = _sentence
    return environment


def _sentence(words: str) -> str:
    """Begin with a capital, unless the first word is a name."""
    return words[0].upper() + words[1:] if _WORD.match(words) else words


def _shown(value: Any) -> Any:
    """Let no character of a template hide, or turn the line around."""
    if isinstance(value, str) and not isinstance(value, Markup):
        return printable(value)
    return value


def _printable_lines(text: str) -> str:
    return "\n".join(printable(line) for line in text.split("\n"))


def _asset(name: str) -> str:
    return files(_PACKAGE).joinpath("assets", name).read_text(encoding="utf-8")


def _policy(style: str, script: str) -> str:
    """Return a content security policy under which only the page's own styles and script count."""
    styles = f"{_hashed(style)} {_hashed(MAP_STYLE)}"
    return (
        f"default-src 'none'; script-src {_hashed(script)}; style-src {styles}; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


def _hashed(text: str) -> str:
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    return f"'sha256-{digest}'"


def _networks(documents: Sequence[Document], marks: Marks) -> tuple[list[_Drawn], int]:
    """Return the networks that are drawn, and the number of those that are not."""
    drawn: list[_Drawn] = []
    undrawn = 0
    names = _short_names(documents)
    for unit in units(documents):
        network = network_of(unit)
        if network is None:
            continue
        if len(drawn) == MAX_NETWORKS:
            undrawn += 1
            continue
        name = f"network-{len(drawn) + 1}"
        drawn.append(
            _Drawn(
                name,
                ", ".join(names[document.file] for document in unit if document.file is not None),
                network,
                plan(network, marks, f"{name}-plan"),
                ports(network, marks, f"{name}-ports"),
                _breadths(network),
            )
        )
    return drawn, undrawn


def _short_names(documents: Sequence[Document]) -> dict[str, str]:
    """Return what tells each file from the others: its name, with as many folders as that takes."""
    files = dict.fromkeys(document.file for document in documents if document.file is not None)
    ends = {file: _ends(PurePath(file).parts) for file in files}
    number = Counter(end for each in ends.values() for end in each)
    return {file: next((end for end in each if number[end] == 1), file) for file, each in ends.items()}


def _ends(parts: Sequence[str]) -> list[str]:
    """Return the ends of a path, the shortest first."""
    return [str(PurePath(*parts[-length:])) for length in range(1, len(parts) + 1)]


def _breadths(network: Network) -> frozenset[str]:
    """Return the kinds of arrows that a drawing has, those to very many drawn as those to everybody."""
    found = {"world" if one.breadth == "wide" else one.breadth for one in network.admissions}
    return frozenset(
        found | ({"unknown"} if any(not one.is_certain for one in network.admissions) else set())
    )


def _reviewed(
    documents: Sequence[Document], by_file: Mapping[str | None, list[Finding]], depth: int = 0
) -> Iterator[_Reviewed]:
    """Yield templates, nested ones below those that nest them."""
    for document in documents:
        resources = document.body.get("Resources")
        yield _Reviewed(
            file="standard input" if document.file is None else document.file,
            resources=len(resources) if isinstance(resources, Mapping) else 0,
            where=" ".join(part for part in (document.account, document.region) if part is not None),
            depth=depth,
            findings=count(by_file.get(document.file, ())),
        )
        yield from _reviewed(tuple(document.nested.values()), by_file, depth + 1)
