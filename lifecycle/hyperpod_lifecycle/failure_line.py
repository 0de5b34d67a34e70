"""The words by which a failed lifecycle script is found in the nodes' logs."""

from __future__ import annotations

from typing import Final

FAILURE_WORDS: Final = "FAILED in step"
"""In the last line of every script of this package that fails; ``scripts/lib/log.sh`` writes it."""
