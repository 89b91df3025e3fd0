"""The number of tables from draws: as many as are needed are enough, whatever rounding does."""

from types import SimpleNamespace

import pytest

from discreet.clock import Clock
from discreet.fiber.sums.counting import Count
from discreet.figures import How
from discreet.tables import audit_count


@pytest.mark.parametrize("bits", [-4, -1, 0, 1])
def test_draws_that_are_just_enough_give_a_figure(monkeypatch, bits):
    found = SimpleNamespace(
        effective_draws=20.0 * (1 + bits * 2**-52),
        value=12.0,
        log_value=2.5,
        standard_error=1.0,
        note="",
    )
    monkeypatch.setattr(audit_count, "estimate_count", lambda *_, **__: found)
    exact = Count(value=None, how=None, note="too large")
    got = audit_count._estimated(None, None, exact, 1, Clock(None), lambda *_: None)
    assert got.how is How.ESTIMATE
    assert got.value == 12
