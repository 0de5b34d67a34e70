"""The page in a real browser: filters, keyboard, phone, dark and paper; it asks nothing of anybody."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from browser import LEAST_CONTRAST, chromium, visible
from playwright.sync_api import expect

from hyperpod_policy.command import main

pytestmark = pytest.mark.needs_system("chromium")

ROOT = Path(__file__).parents[3]
EXAMPLE = ROOT / "examples" / "review"
XSS = "\"><img src=x onerror=alert(1)><script>alert(2)</script>'</style></svg></title>"


@pytest.fixture(scope="module")
def open_page():
    with chromium() as opener:
        yield opener


@pytest.fixture(scope="module")
def bad(tmp_path_factory) -> Path:
    """The report on the example of a template as one might find it."""
    file = tmp_path_factory.mktemp("bad") / "report.html"
    acknowledged = str(EXAMPLE / ".hyperpod-review.yaml")
    arguments = [str(EXAMPLE / "cluster.yaml"), "--acknowledgements", acknowledged]
    assert main([*arguments, "--format", "html", "--output", str(file), "--quiet"]) == 1
    return file


@pytest.fixture
def report_on(tmp_path, monkeypatch) -> Callable[..., Path]:
    """Write the report on a template."""
    monkeypatch.chdir(tmp_path)

    def write(template: object, *options: str) -> Path:
        Path("template.json").write_text(json.dumps(template))
        main(["template.json", "--format", "html", "--output", "report.html", "--quiet", *options])
        return Path("report.html")

    return write


def said(page) -> str:
    return page.locator("#count").inner_text()


def labels(page) -> set[str]:
    return set(visible(page, ".finding", "classList[1]"))


@pytest.mark.parametrize("width", [320, 400, 768, 1440])
def test_nothing_is_wider_than_the_window(width, bad, open_page):
    with open_page(bad, width=width) as page:
        page.evaluate("for (const details of document.querySelectorAll('details')) details.open = true")
        for by in ("rule", "resource"):
            page.check(f"input[name=by][value={by}]")
            assert page.evaluate("document.documentElement.scrollWidth") == width


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_every_text_can_be_told_from_what_is_behind_it(dark, bad, open_page):
    with open_page(bad, dark=dark) as page:
        page.evaluate("for (const details of document.querySelectorAll('details')) details.open = true")
        contrast, where = page.evaluate(LEAST_CONTRAST)
        assert contrast >= 4.5, where


def test_filters_narrow_the_list_and_say_so(bad, open_page):
    with open_page(bad) as page:
        everything = len(visible(page, ".finding"))
        assert said(page) == f"All {everything} findings"
        assert page.locator("#count").get_attribute("aria-live") == "polite"
        page.check("input[name=severity][value=warning]")
        assert set(visible(page, ".finding", "dataset.severity")) == {"warning"}
        shown = len(visible(page, ".finding"))
        assert 0 < shown < everything
        assert said(page) == f"{shown} of {everything} findings"
        assert all(visible(page, ".promise", "querySelectorAll('.finding:not([hidden])').length"))
        page.check("input[name=severity][value=error]")
        assert set(visible(page, ".finding", "dataset.severity")) == {"error", "warning"}
        page.check("input[name=outcome][value=undetermined]")
        assert labels(page) == {"undetermined"}
        page.click("#filters button[type=reset]")
        expect(page).to_have_url(re.compile("^[^#]*#?$"))
        assert said(page) == f"All {everything} findings"
        page.check("input[name=state][value=acknowledged]")
        assert labels(page) == {"acknowledged"}


def test_text_is_searched_in_findings_and_kept_promises(bad, open_page):
    with open_page(bad) as page:
        page.fill("#text", "  SCRIPTWRITERS ")
        (finding,) = visible(page, ".finding")
        assert "NodeRole" in finding
        page.fill("#text", "no such words anywhere")
        assert visible(page, ".finding") == []
        assert page.locator("#nothing").is_visible()
        page.click("#nothing button")
        expect(page.locator("#nothing")).to_be_hidden()
        assert len(visible(page, ".finding")) > 1
        page.evaluate("document.getElementById('kept-box').open = true")
        kept = len(visible(page, ".kept > li"))
        page.check("input[name=group][value=identity]")
        assert 0 < len(visible(page, ".kept > li")) < kept


def test_filters_are_in_the_address(bad, open_page):
    with open_page(bad) as page:
        page.check("input[name=severity][value=error]")
        page.check("input[name=group][value=storage]")
        page.fill("#text", "bucket & <b>")
        page.fill("#text", "bucket")
        page.check("input[name=by][value=resource]")
        address, shown = page.url, said(page)
    assert address.endswith("#text=bucket&severity=error&group=storage&by=resource")
    with open_page(bad, at="#" + address.partition("#")[2]) as page:
        assert said(page) == shown
        assert page.is_checked("input[name=group][value=storage]")
        assert page.input_value("#text") == "bucket"
        page.evaluate("location.hash = 'severity=warning'")
        expect(page.locator("#list")).not_to_contain_class("by-resource")
        assert set(visible(page, ".finding", "dataset.severity")) == {"warning"}


@pytest.mark.parametrize(
    "at", ["#severity=nonsense", "#text=%E0%A4%A", "#=", "#%", "#by=nothing&severity=error"]
)
def test_any_address_shows_the_page(at, bad, open_page):
    with open_page(bad, at=at) as page:
        assert page.locator("#count").is_visible()


def test_findings_are_grouped_by_resource_and_back(bad, open_page):
    with open_page(bad) as page:
        before = visible(page, ".finding", "id")
        page.check("input[name=by][value=resource]")
        heads = visible(page, "#list > section > h3")
        assert len(heads) == len(set(heads)) > 1
        assert any(head.startswith("Checkpoints") for head in heads)
        explained, headed = visible(page, ".finding > .explanation"), visible(page, ".of-resource")
        assert len(explained) == len(headed) == len(before)
        assert sorted(before) == sorted(visible(page, ".finding", "id"))
        page.check("input[name=by][value=rule]")
        assert before == visible(page, ".finding", "id")
        assert visible(page, ".finding > .explanation") == []


def test_totals_select_what_they_count(bad, open_page):
    with open_page(bad) as page:
        for label in ("error", "warning", "undetermined", "acknowledged"):
            total = page.locator(f".totals .{label}")
            number = total.locator("strong").inner_text()
            total.locator("a").click()
            expect(page.locator("#count")).to_have_text(re.compile(f"^{number} of "))
            expect(page.locator(".finding:not([hidden])").first).to_contain_class(label)
            assert labels(page) == {label}
        page.click(".totals .pass a")
        expect(page.locator("#kept-box")).to_have_attribute("open", "")


def test_a_link_to_a_finding_shows_it_though_filtered_out(bad, open_page):
    with open_page(bad) as page:
        page.check("input[name=state][value=acknowledged]")
        assert not page.locator("#finding-1").is_visible()
        page.evaluate("location.hash = '#finding-1'")
        page.locator("#finding-1").wait_for(state="visible")


def test_statements_of_the_trust_map_open_where_they_are_named(bad, open_page):
    with open_page(bad) as page:
        assert not page.locator("#statement-1").is_visible()
        page.click(".traveller >> nth=0")
        page.click("a[href='#statement-1'] >> nth=0")
        page.locator("#statement-1").wait_for(state="visible")


def test_the_keyboard_reaches_everything_and_shows_where_it_is(bad, open_page):
    with open_page(bad) as page:
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.className") == "skip"
        assert page.evaluate("document.activeElement.getBoundingClientRect().top") >= 0
        page.keyboard.press("Enter")
        assert page.evaluate("document.activeElement.id") == "main"
        reached = set()
        what = ""
        while what != "BODY":
            page.keyboard.press("Tab")
            what, outline = page.evaluate(
                "[document.activeElement.name || document.activeElement.id || document.activeElement.tagName,"
                " getComputedStyle(document.activeElement).outlineStyle]"
            )
            reached.add(what)
            assert outline != "none" or what == "BODY", what
        assert {
            "text",
            "severity",
            "outcome",
            "state",
            "group",
            "by",
            "BUTTON",
            "A",
            "SUMMARY",
            "DIV",
        } <= reached
        page.focus("input[name=severity][value=warning]")
        page.keyboard.press("Space")
        assert set(visible(page, ".finding", "dataset.severity")) == {"warning"}
        page.focus(".scroll >> nth=0")
        assert page.evaluate("document.activeElement.getAttribute('aria-label')").startswith("Drawing")


def test_every_control_has_a_name(bad, open_page):
    with open_page(bad) as page:
        names = page.evaluate(
            "[...document.querySelectorAll('input')].map((input) => input.labels[0]?.textContent.trim())"
        )
        assert names
        assert all(names)
        regions = page.query_selector_all("[role=region], [role=search], nav")
        assert all(region.get_attribute("aria-label") for region in regions)
        drawings = page.query_selector_all("[role=img]")
        assert len(drawings) == 3
        assert all(drawing.query_selector("title") and drawing.query_selector("desc") for drawing in drawings)


def test_light_and_dark_follow_the_system_until_the_button_is_pressed(bad, open_page):
    background = "getComputedStyle(document.body).backgroundColor"
    canvas = "getComputedStyle(document.documentElement).colorScheme"
    with open_page(bad) as page:
        light = page.evaluate(background)
        assert page.evaluate(canvas) == "light"
        page.click("#theme")
        dark = page.evaluate(background)
        assert dark != light
        assert page.evaluate(canvas) == "dark"
        assert page.locator("#theme").inner_text() == "Light mode"
        page.reload()
        assert page.evaluate(background) == dark
    with open_page(bad, dark=True) as page:
        assert page.evaluate(background) == dark
        page.click("#theme")
        assert page.evaluate(background) == light
        assert page.evaluate(canvas) == "light"


def test_without_scripts_all_is_there_but_the_filters(bad, open_page):
    with open_page(bad, scripts=False) as page:
        assert len(visible(page, ".finding")) == len(page.query_selector_all(".finding")) > 1
        for name in ("#filters", "#theme", "#count", "#nothing"):
            assert not page.locator(name).is_visible()
        page.click("#kept-box summary")
        assert visible(page, ".kept > li")


def test_paper_shows_findings_and_reasons_in_dark_ink(bad, open_page):
    with open_page(bad, dark=True, width=794) as page:
        page.emulate_media(media="print", color_scheme="dark")
        page.evaluate("dispatchEvent(new Event('beforeprint'))")
        assert not page.locator("#filters").is_visible()
        assert not page.locator("nav").is_visible()
        assert page.locator(".reason p >> nth=0").is_visible()
        assert page.evaluate("getComputedStyle(document.documentElement).colorScheme") == "light"
        assert page.evaluate("document.documentElement.scrollWidth") == 794
        contrast, where = page.evaluate(LEAST_CONTRAST)
        assert contrast >= 4.5, where
        page.evaluate("dispatchEvent(new Event('afterprint'))")
        assert not page.evaluate("document.querySelector('.reason').open")


def test_a_clean_page_needs_no_filters(template, report_on, open_page):
    with open_page(report_on(template, "--rules", "BucketVersioning")) as page:
        assert page.locator("h1").inner_text() == "No findings"
        assert page.query_selector("#filters") is None
        page.click("nav a[href='#trust-map']")
        assert page.locator("#theme").is_visible()


def test_no_template_runs_anything(template, report_on, open_page):
    text = json.dumps(template)
    for name in ("NodeGroup", "Subnet", "Cluster", "Checkpoints", "NodeRole", "FileSystem"):
        text = text.replace(f'"{name}"', json.dumps(name + XSS))
    hostile = json.loads(text)
    hostile["Resources"]["Cluster" + XSS]["Properties"]["InstanceGroups"][0]["InstanceGroupName"] = XSS
    hostile["Resources"]["Checkpoints" + XSS]["Properties"]["VersioningConfiguration"]["Status"] = XSS
    hostile["Resources"]["Scripts"]["Properties"]["BucketName"] = XSS
    with open_page(report_on(hostile)) as page:
        assert page.query_selector("img") is None
        assert len(page.query_selector_all("script")) == 1
        page.check("input[name=by][value=resource]")
        page.fill("#text", XSS)
        assert visible(page, ".finding")
        assert page.query_selector("img") is None
        assert XSS in page.inner_text("#list")
        page.reload()
        assert page.input_value("#text") == XSS
