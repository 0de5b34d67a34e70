"""What needs tensors is in `test_with_torch.py`."""

from __future__ import annotations

import logging
import math

import pytest

from hyperpod_lifecycle.training import FiniteChecks, NotFiniteError


@pytest.mark.parametrize("loss", [math.nan, math.inf, -math.inf])
def test_a_loss_that_is_not_finite_ends_training(loss: float, caplog: pytest.LogCaptureFixture):
    checks = FiniteChecks()
    assert checks.check_loss(0, 1.5)
    with pytest.raises(NotFiniteError, match=f"step 1: loss is {loss}; training ends before this is saved"):
        checks.check_loss(1, loss)
    assert f"HYPERPOD_NOT_FINITE step=1 where='loss' value={loss}" in caplog.messages


def test_steps_in_a_row_may_be_allowed():
    checks = FiniteChecks(most_in_a_row=2)
    assert [checks.check_loss(step, loss) for step, loss in enumerate([math.nan, math.nan, 1.0])] == [
        False,
        False,
        True,
    ]
    assert not checks.check_loss(3, math.nan)
    assert not checks.check_loss(4, math.nan)
    with pytest.raises(NotFiniteError, match="step 5"):
        checks.check_loss(5, math.nan)


def test_findings_are_handed_on(caplog: pytest.LogCaptureFixture):
    seen = []
    checks = FiniteChecks(most_in_a_row=1, on_finding=lambda *what: seen.append(what))
    with caplog.at_level(logging.CRITICAL):
        checks.check_loss(4, math.inf)
        checks.check_loss(5, 0.0)
    assert seen == [(4, "loss", "inf")]


def test_a_negative_number_is_refused():
    with pytest.raises(ValueError, match="most_in_a_row must be 0 or more, got -1"):
        FiniteChecks(most_in_a_row=-1)
