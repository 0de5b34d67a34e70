"""Opens pages in headless Chromium and notes whatever it complains about or asks for.

Pages forbid `eval`, which `wait_for_function` needs once it has to wait: wait with `expect`.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page, sync_playwright

PROGRAM = "chromium"

# Sandboxes need rights that containers and root do not have; the pages are our own.
_ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]


class Opener:
    """Opens files, each in a window of its own."""

    def __init__(self, browser: Browser) -> None:
        self._browser = browser

    @contextmanager
    def __call__(
        self,
        file: Path,
        *,
        width: int = 1280,
        height: int = 900,
        dark: bool = False,
        scripts: bool = True,
        at: str = "",
    ) -> Iterator[Page]:
        """Open a file; on leaving, fail if it complained, ran what it must not, or asked for anything.

        Args:
            file: The page.
            width: Of the window.
            height: Of the window.
            dark: Whether the system prefers dark.
            scripts: Whether scripts run.
            at: What follows in the address, such as ``#network``.
        """
        noted: list[str] = []
        context = self._browser.new_context(
            viewport={"width": width, "height": height},
            color_scheme="dark" if dark else "light",
            reduced_motion="reduce",
            java_script_enabled=scripts,
        )
        try:
            page = context.new_page()
            page.set_default_timeout(5000)
            page.on("console", lambda message: noted.append(f"console: {message.text}"))
            page.on("pageerror", lambda error: noted.append(f"error: {error}"))
            page.on("dialog", lambda dialog: (noted.append(f"dialog: {dialog.message}"), dialog.dismiss()))
            page.on("request", lambda request: noted.append(f"request: {request.url[:200]}"))
            address = file.resolve().as_uri()
            page.goto(f"{address}{at}")
            yield page
            own = (f"request: {address}", "request: data:image/svg+xml")
            wrong = [note for note in noted if not note.startswith(own)]
            assert not wrong, wrong
        finally:
            context.close()


@contextmanager
def chromium() -> Iterator[Opener]:
    """Chromium, while it is needed."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which(PROGRAM), args=_ARGUMENTS)
        try:
            yield Opener(browser)
        finally:
            browser.close()


def visible(page: Page, selector: str, what: str = "innerText") -> list[Any]:
    """What the elements of a selector that can be seen say: their text, or something else about each.

    Args:
        page: The page.
        selector: Which elements.
        what: A property, such as ``id`` or ``dataset.severity``.
    """
    found: list[Any] = page.evaluate(
        f"(selector) => [...document.querySelectorAll(selector)].filter((one) => one.checkVisibility())"
        f".map((one) => one.{what})",
        selector,
    )
    return found


LEAST_CONTRAST = """
() => {
  const numbers = (colour) => colour.match(/[\\d.]+/g).map(Number);
  const light = (colour) => {
    const [r, g, b] = numbers(colour).map((part) => {
      const value = part / 255;
      return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const behind = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const colour = getComputedStyle(at).backgroundColor;
      const [, , , alpha = 1] = numbers(colour);
      if (alpha === 1) return colour;
    }
    return "rgb(255, 255, 255)";
  };
  let least = [21, ""];
  for (const element of document.querySelectorAll("body *")) {
    const own = [...element.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim());
    if (!own || element.closest("svg, script, style") || !element.checkVisibility()) continue;
    const [one, other] = [light(getComputedStyle(element).color), light(behind(element))];
    const contrast = (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);
    const name = `${element.tagName}.${element.className} ${element.textContent.slice(0, 40)}`;
    if (contrast < least[0]) least = [contrast, name];
  }
  for (const text of document.querySelectorAll(".scroll svg.nw text")) {
    const rect = text.parentElement.querySelector("rect, circle");
    if (!rect || !text.checkVisibility()) continue;
    const fill = getComputedStyle(rect).fill;
    if (!fill.startsWith("rgb(")) continue;
    const [one, other] = [light(getComputedStyle(text).fill), light(fill)];
    const contrast = (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);
    if (contrast < least[0]) least = [contrast, `drawn ${text.textContent}`];
  }
  return least;
}
"""
"""The least contrast of any text with what is behind it, and which text that is."""
