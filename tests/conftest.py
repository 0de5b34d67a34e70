"""Settings every test needs before jsii starts."""

from __future__ import annotations

import os

from hyperpod_constructs.bundled_node import prefer_bundled_node

pytest_plugins = [
    "custom_resource_handlers",
    "feature_flags",
    "generated_inputs",
    "step_times",
    "mutation_summary",
    "system_parts",
]

os.environ.setdefault("CDK_VALIDATION", "false")
prefer_bundled_node()
