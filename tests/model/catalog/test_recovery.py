from __future__ import annotations

from typing import get_args

from hyperpod_model.catalog.recovery import (
    RECOVERY_STAGES,
    RECOVERY_TIERS,
    RecoveryStageName,
    TierName,
)


def test_stages_are_six_and_typed():
    assert tuple(stage.name for stage in RECOVERY_STAGES) == get_args(RecoveryStageName)
    assert len(RECOVERY_STAGES) == 6
    assert all(stage.means for stage in RECOVERY_STAGES)


def test_tiers_are_typed_and_end_with_none():
    assert tuple(tier.name for tier in RECOVERY_TIERS) == get_args(TierName)
    assert RECOVERY_TIERS[-1].name == "none"
