"""The tables of fields in the page on cluster specifications.

``python -m hyperpod_model.cluster_spec.field_reference docs/cluster-spec.md`` brings a page up to date
between its markers.
"""

from __future__ import annotations

import sys

from hyperpod_model.cluster_spec.schema import schema
from hyperpod_model.spec_files.field_reference import update_page, updated_page


def updated(page: str) -> str:
    """Return a Markdown page with its marked tables made anew.

    Args:
        page: The page, with tables between ``<!-- fields: Name -->`` and ``<!-- end of fields -->``.
    """
    return updated_page(schema(), page)


def main(arguments: list[str] | None = None) -> int:
    """Bring a page up to date.

    Args:
        arguments: Command line. By default that of the process.
    """
    return update_page(schema(), arguments)


if __name__ == "__main__":
    sys.exit(main())
