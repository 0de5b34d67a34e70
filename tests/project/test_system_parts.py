"""A missing system part skips a test at home and fails it in CI."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest_plugins = ["pytester"]

PLUGIN = Path(__file__).parents[1] / "plugins" / "system_parts.py"


@pytest.fixture
def project(pytester: pytest.Pytester) -> pytest.Pytester:
    pytester.makepyfile(system_parts=PLUGIN.read_text())
    pytester.makeconftest('pytest_plugins = ["system_parts"]')
    return pytester


def test_a_missing_program_skips_at_home(project: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CI", raising=False)
    project.makepyfile("""
        import pytest
        @pytest.mark.needs_system("sh", "no-such-program")
        def test_it(): pass
    """)
    result = project.runpytest("-rs")
    result.assert_outcomes(skipped=1)
    result.stdout.fnmatch_lines(["*needs no-such-program on the PATH"])


def test_a_missing_program_fails_in_ci(project: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CI", "true")
    project.makepyfile("""
        import pytest
        @pytest.mark.needs_system("no-such-program")
        def test_it(): pass
    """)
    result = project.runpytest()
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(["*skipped, which fails in CI: *needs no-such-program on the PATH"])


def test_a_present_program_runs_the_test(project: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CI", "true")
    project.makepyfile("""
        import pytest
        @pytest.mark.needs_system("sh")
        def test_it(): pass
        @pytest.mark.xfail(reason="known", strict=True)
        def test_known(): assert False
    """)
    project.runpytest().assert_outcomes(passed=1, xfailed=1)


@pytest.mark.parametrize(
    "body",
    [
        pytest.param("import pytest\ndef test_it(): pytest.skip('no time')", id="while running"),
        pytest.param(
            "import pytest\npytest.importorskip('no_such_module')\ndef test_it(): pass", id="on import"
        ),
    ],
)
def test_any_other_skip_fails_in_ci_too(
    project: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, body: str
) -> None:
    monkeypatch.setenv("CI", "1")
    project.makepyfile(body)
    result = project.runpytest()
    assert result.ret != pytest.ExitCode.OK
    result.stdout.fnmatch_lines(["*skipped, which fails in CI*"])
