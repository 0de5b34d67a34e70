"""CloudFormation templates: what they say about themselves."""

from __future__ import annotations

from typing import Final

from hyperpod_model.catalog._tables import table

FORMAT_VERSION: Final[str] = table("templates")["format_version"]
"""The only value of ``AWSTemplateFormatVersion``, and what a template without it has."""
