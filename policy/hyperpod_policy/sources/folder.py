"""The files of a folder that may be templates or manifests."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from hyperpod_policy.sources.unusable import UnusableInputError

SUFFIXES: Final = (".json", ".yaml", ".yml", ".template")

MAX_FILES: Final = 20_000
"""Files of these names in a folder; more are no folder of templates."""

_PASSED_OVER: Final = frozenset({"node_modules", "__pycache__", "venv", "site-packages"})
_ASSETS: Final = "asset."


def folders_and_files(folder: Path) -> Iterator[tuple[Path, list[Path]]]:
    """Yield a folder and those within it, each with its files of the wanted names, in order of their names.

    Hidden folders, those of packages, and assets of a cloud assembly are passed over, and links to folders
    are not followed.

    Args:
        folder: Where to begin.

    Raises:
        UnusableInputError: If the folder cannot be read, or holds too many files.
    """

    def refuse(error: OSError) -> None:
        raise UnusableInputError(f"cannot be read: {error.strerror}", file=str(error.filename)) from error

    count = 0
    for here, inner, names in os.walk(folder, onerror=refuse):
        inner[:] = sorted(
            name for name in inner if not name.startswith((".", _ASSETS)) and name not in _PASSED_OVER
        )
        files = [Path(here, name) for name in sorted(names) if name.endswith(SUFFIXES)]
        count += len(files)
        if count > MAX_FILES:
            raise UnusableInputError(
                f"holds more than {MAX_FILES} files named {', '.join(f'*{suffix}' for suffix in SUFFIXES)}; "
                "name a folder within it",
                file=str(folder),
            )
        yield Path(here), files
