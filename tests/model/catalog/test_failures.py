from __future__ import annotations

import pytest

from hyperpod_model.catalog.fact import UncertainFactError, UnknownNameError
from hyperpod_model.catalog.failures import (
    CHECKPOINTLESS_GOODPUT,
    CHECKPOINTLESS_RECOVERY_REDUCTION,
    reported_run,
)


def test_reported_run():
    run = reported_run("llama-3-405b")
    assert run.failures_per_device_hour == pytest.approx(419 / (54 * 24 * 16384))
    assert "2407.21783" in run.source


def test_an_unknown_run_is_refused():
    with pytest.raises(UnknownNameError, match="unknown reported run 'llama-3'; did you mean llama-3-405b"):
        reported_run("llama-3")


@pytest.mark.parametrize("claim", [CHECKPOINTLESS_GOODPUT, CHECKPOINTLESS_RECOVERY_REDUCTION])
def test_claims_of_aws_are_in_doubt(claim):
    with pytest.raises(UncertainFactError, match="AWS states it of its own tests"):
        _ = claim.value
