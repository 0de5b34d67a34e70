from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from plain_jobs import SPOTLESS

from hyperpod_model.catalog.instances import accelerated_instance_types
from hyperpod_model.job_spec import field_reference, read_job, schema

ROOT = Path(__file__).parents[3]
PAGE = ROOT / "docs" / "job-spec.md"
SCHEMA: dict[str, Any] = schema.schema()
PARTS = {SCHEMA["title"]: SCHEMA} | SCHEMA["$defs"]


def test_the_committed_schema_is_current() -> None:
    committed = schema.SCHEMA_FILE.read_text(encoding="utf-8")
    assert committed == schema.schema_text(), "run python -m hyperpod_model.job_spec.schema --write"


def test_a_stale_schema_is_told_and_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(schema, "SCHEMA_FILE", tmp_path / "job-spec.schema.json")
    assert schema.main([]) == 1
    assert "python -m hyperpod_model.job_spec.schema --write" in capsys.readouterr().err
    assert schema.main(["--write"]) == 0
    assert schema.main([]) == 0


def test_is_a_legal_schema_without_open_ends() -> None:
    jsonschema.Draft7Validator.check_schema(SCHEMA)
    assert all(part["additionalProperties"] is False for part in PARTS.values())


def test_takes_a_good_job() -> None:
    jsonschema.validate(SPOTLESS, SCHEMA)


@pytest.mark.parametrize("part", PARTS)
def test_every_field_is_described(part: str) -> None:
    for name, field in PARTS[part]["properties"].items():
        assert field["description"].endswith("."), name
        if name not in PARTS[part].get("required", ()):
            assert "By default" in field["description"] or "Required unless" in field["description"], name


@pytest.mark.parametrize(
    "change",
    [
        {"name": "A_b"},
        {"operator": "volcano"},
        {"namespace": "Team"},
        {"instance_type": "p5.48xlarge"},
        {"nodes": 0},
        {"gpu_partition": "1g.10gb"},
        {"environment": {"1A": "x"}},
        {"clean_pod_policy": "Never"},
        {"checkpointless": {"tier": 9}},
        {"topology": {"layer": 4}},
        {"colour": "red"},
    ],
)
def test_editors_mark(change: dict[str, Any]) -> None:
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(SPOTLESS | change, SCHEMA)


def test_editors_offer_the_instance_types_and_accept_newer_ones() -> None:
    field = SCHEMA["properties"]["instance_type"]
    assert field["anyOf"][0]["enum"] == list(accelerated_instance_types())
    jsonschema.validate("ml.p9.48xlarge", field)


def test_the_page_has_a_current_table_for_every_part() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert page == field_reference.updated(page), (
        "run python -m hyperpod_model.job_spec.field_reference docs/job-spec.md"
    )
    for name, part in PARTS.items():
        [table] = re.findall(
            rf"^### {name}\n\n<!-- fields: {name} -->\n(.*?)<!-- end", page, re.DOTALL | re.MULTILINE
        )
        assert re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE) == list(part["properties"])


def test_a_stale_page_is_brought_up_to_date(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("a\n<!-- fields: TopologySpec -->\nold\n<!-- end of fields -->\nb\n", encoding="utf-8")
    assert field_reference.main([str(page)]) == 0
    text = page.read_text(encoding="utf-8")
    assert "old" not in text
    assert "| `required` | true or false | `false` |" in text


def test_the_smallest_example_of_the_page_works_and_is_short(tmp_path: Path) -> None:
    [example] = re.findall(r"```yaml\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    file = tmp_path / "job.yaml"
    file.write_text(example, encoding="utf-8")
    assert read_job(file).findings == ()
    assert len(example.splitlines()) <= 15
    jsonschema.validate(yaml.safe_load(example), SCHEMA)


def test_the_python_example_of_the_page_works(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    page = PAGE.read_text(encoding="utf-8")
    [job] = re.findall(r"```yaml\n(.*?)```", page, re.DOTALL)
    [example] = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    (tmp_path / "job.yaml").write_text(job, encoding="utf-8")
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    exec(compile(example, str(PAGE), "exec"), {})
