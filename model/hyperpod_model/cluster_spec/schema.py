"""The JSON Schema of a cluster specification, for editors.

``python -m hyperpod_model.cluster_spec.schema --write`` writes it; without ``--write`` it tells whether the
file is current.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from hyperpod_model.cluster_spec.cluster import ClusterSpec

SCHEMA_FILE = Path(__file__).with_name("cluster-spec.schema.json")

_DIALECT = "http://json-schema.org/draft-07/schema#"


def schema() -> dict[str, Any]:
    """Return the JSON Schema of a specification.

    It says draft 7, which editors know best, and uses nothing that later drafts read in another way.
    """
    return {"$schema": _DIALECT} | ClusterSpec.model_json_schema()


def schema_text() -> str:
    """Return the committed form of the schema."""
    return json.dumps(schema(), indent=2, ensure_ascii=False) + "\n"


def main(arguments: list[str] | None = None) -> int:
    """Write the schema file, or tell whether it is current.

    Args:
        arguments: Command line. By default that of the process.

    Returns:
        0 if the file is current or has been written, 1 if it is stale.
    """
    parser = argparse.ArgumentParser(
        prog="python -m hyperpod_model.cluster_spec.schema", description="Write or check the JSON Schema."
    )
    parser.add_argument(
        "--write", action="store_true", help="write the file; without it, only tell whether it is current"
    )
    if parser.parse_args(arguments).write:
        SCHEMA_FILE.write_text(schema_text(), encoding="utf-8")
        return 0
    if SCHEMA_FILE.exists() and SCHEMA_FILE.read_text(encoding="utf-8") == schema_text():
        return 0
    print(f"{SCHEMA_FILE} is not current; run {parser.prog} --write", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
