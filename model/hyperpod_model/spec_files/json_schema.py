"""The JSON Schema of a specification, for editors: made, written and compared with the committed file."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pydantic import BaseModel

_DIALECT = "http://json-schema.org/draft-07/schema#"


def json_schema(model: type[BaseModel]) -> dict[str, Any]:
    """Return the JSON Schema of a specification.

    It says draft 7, which editors know best, and uses nothing that later drafts read in another way.

    Args:
        model: The whole specification.
    """
    return {"$schema": _DIALECT} | model.model_json_schema()


def json_schema_text(model: type[BaseModel]) -> str:
    """Return the committed form of the schema.

    Args:
        model: The whole specification.
    """
    return json.dumps(json_schema(model), indent=2, ensure_ascii=False) + "\n"


def write_or_compare(text: str, file: Path, *, program: str, arguments: Sequence[str] | None = None) -> int:
    """Write a schema file, or tell whether it is current.

    Args:
        text: What the file should hold.
        file: The file.
        program: How the command is called.
        arguments: Command line. By default that of the process.

    Returns:
        0 if the file is current or has been written, 1 if it is stale.
    """
    parser = argparse.ArgumentParser(prog=program, description="Write or check the JSON Schema.")
    parser.add_argument(
        "--write", action="store_true", help="write the file; without it, only tell whether it is current"
    )
    if parser.parse_args(arguments).write:
        file.write_text(text, encoding="utf-8")
        return 0
    if file.exists() and file.read_text(encoding="utf-8") == text:
        return 0
    print(f"{file} is not current; run {program} --write", file=sys.stderr)
    return 1
