"""The feature flags that ``cdk init`` turns on, as a fixture."""

from __future__ import annotations

from typing import Any

import pytest
import stacks


@pytest.fixture(scope="session")
def recommended_feature_flags() -> dict[str, Any]:
    return stacks.recommended_feature_flags()
