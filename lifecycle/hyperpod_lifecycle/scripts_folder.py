"""Where the package's own lifecycle scripts lie."""

from __future__ import annotations

from importlib import resources
from pathlib import Path


def scripts_folder() -> Path:
    """Folder of the package's own scripts: exactly what is uploaded to nodes."""
    return Path(str(resources.files("hyperpod_lifecycle"))) / "scripts"
