from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from hyperpod_model.catalog.instances import instance_types
from hyperpod_model.cluster_spec import field_reference, load_cluster, schema
from hyperpod_model.cluster_spec.request_fields import NOT_EXPRESSIBLE
from hyperpod_model.faults import InvalidInputError

ROOT = Path(__file__).parents[3]
PAGE = ROOT / "docs" / "cluster-spec.md"
SCHEMA: dict[str, Any] = schema.schema()
PARTS = {SCHEMA["title"]: SCHEMA} | SCHEMA["$defs"]


def test_the_committed_schema_is_current() -> None:
    committed = schema.SCHEMA_FILE.read_text(encoding="utf-8")
    assert committed == schema.schema_text(), "run python -m hyperpod_model.cluster_spec.schema --write"


def test_a_stale_schema_is_told_and_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(schema, "SCHEMA_FILE", tmp_path / "cluster-spec.schema.json")
    assert schema.main([]) == 1
    assert "--write" in capsys.readouterr().err
    assert schema.main(["--write"]) == 0
    assert schema.main([]) == 0


def test_is_a_legal_schema_without_open_ends() -> None:
    jsonschema.Draft7Validator.check_schema(SCHEMA)
    assert all(part["additionalProperties"] is False for part in PARTS.values())


@pytest.mark.parametrize("part", PARTS)
def test_every_field_is_described(part: str) -> None:
    for name, field in PARTS[part]["properties"].items():
        assert field["description"].endswith((".", ".)")), name
        if name not in PARTS[part].get("required", ()):
            assert "By default" in field["description"] or "Required unless" in field["description"], name


@pytest.mark.parametrize(
    "change",
    [
        {"name": "a_b"},
        {"region": None},
        {"colour": "red"},
        {"network": {"availability_zone_id": "us-west-2a"}},
        {"instance_groups": []},
        {"instance_groups": [{"name": "a", "instance_type": "p5.48xlarge", "instance_count": 1}]},
        {"instance_groups": [{"name": "a", "instance_type": "ml.p5.48xlarge", "instance_count": 7000}]},
        {"node_recovery": False},
    ],
)
def test_editors_mark(change: dict[str, Any], tmp_path: Path) -> None:
    spec = yaml.safe_load((ROOT / "examples/clusters/llm-train.yaml").read_text(encoding="utf-8")) | change
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(spec, SCHEMA)
    file = tmp_path / "cluster.yaml"
    file.write_text(json.dumps(spec), encoding="utf-8")
    with pytest.raises(InvalidInputError):
        load_cluster(file)


def test_editors_offer_the_instance_types_and_accept_newer_ones() -> None:
    group = PARTS["InstanceGroupSpec"]["properties"]["instance_type"]
    assert group["anyOf"][0]["enum"] == list(instance_types())
    jsonschema.validate("ml.p9.48xlarge", group)


def test_the_page_has_a_current_table_for_every_part() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert page == field_reference.updated(page), (
        "run python -m hyperpod_model.cluster_spec.field_reference docs/cluster-spec.md"
    )
    for name, part in PARTS.items():
        [table] = re.findall(
            rf"^### {name}\n\n<!-- fields: {name} -->\n(.*?)<!-- end", page, re.DOTALL | re.MULTILINE
        )
        rows = re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE)
        assert rows == list(part["properties"])


def test_a_stale_page_is_brought_up_to_date(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("a\n<!-- fields: SlurmSpec -->\nold\n<!-- end of fields -->\nb\n", encoding="utf-8")
    assert field_reference.main([str(page)]) == 0
    text = page.read_text(encoding="utf-8")
    assert "old" not in text
    assert '| `mode` | `api` or `lifecycle` | `"api"` |' in text
    assert text.startswith("a\n<!--")
    assert text.endswith("-->\nb\n")


def test_the_page_names_every_field_that_is_refused() -> None:
    page = PAGE.read_text(encoding="utf-8")
    missing = [
        names
        for names in NOT_EXPRESSIBLE
        if f"`{names[-1]}`" not in page and f"`{'.'.join(names)}`" not in page
    ]
    assert missing == []


def test_the_smallest_example_of_the_page_works(tmp_path: Path) -> None:
    [example] = re.findall(r"```yaml\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    file = tmp_path / "cluster.yaml"
    file.write_text(example, encoding="utf-8")
    assert load_cluster(file).notes == ()


def test_the_python_example_of_the_page_works(monkeypatch: pytest.MonkeyPatch) -> None:
    [example] = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    monkeypatch.chdir(ROOT)
    exec(compile(example, str(PAGE), "exec"), {})


def test_the_catalog_needs_no_pydantic() -> None:
    code = (
        "import sys, hyperpod_model.catalog.instances, hyperpod_model.checks.cluster; "
        "sys.exit('pydantic' in sys.modules or 'yaml' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
