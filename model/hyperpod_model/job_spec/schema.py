"""The JSON Schema of a job specification, for editors.

``python -m hyperpod_model.job_spec.schema --write`` writes it; without ``--write`` it tells whether the file
is current.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from hyperpod_model.job_spec.job import JobSpec
from hyperpod_model.spec_files.json_schema import json_schema, json_schema_text, write_or_compare

SCHEMA_FILE = Path(__file__).with_name("job-spec.schema.json")


def schema() -> dict[str, Any]:
    """Return the JSON Schema of a specification."""
    return json_schema(JobSpec)


def schema_text() -> str:
    """Return the committed form of the schema."""
    return json_schema_text(JobSpec)


def main(arguments: list[str] | None = None) -> int:
    """Write the schema file, or tell whether it is current.

    Args:
        arguments: Command line. By default that of the process.

    Returns:
        0 if the file is current or has been written, 1 if it is stale.
    """
    return write_or_compare(
        schema_text(), SCHEMA_FILE, program="python -m hyperpod_model.job_spec.schema", arguments=arguments
    )


if __name__ == "__main__":
    sys.exit(main())
