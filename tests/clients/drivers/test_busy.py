"""How long a process waits for a processor."""

import os

import pytest

from mockbroker.clients.drivers import busy


def test_who_spins_is_refused_nothing_and_who_sleeps_is(monkeypatch: pytest.MonkeyPatch) -> None:
    told = iter(
        [
            {"spins": (1.0, 1.0), "sleeps": (0.0, 5.0)},
            {"spins": (3.0, 3.0), "sleeps": (0.5, 9.0), "is new": (0.0, 0.25)},
            {"sleeps": (1.0, 9.5)},
        ]
    )
    monkeypatch.setattr(busy, "_threads", lambda pid: next(told))
    refused = busy.Refused(1)
    assert [refused.since_last_s(), refused.since_last_s()] == [3.75, 0.0]


def test_a_process_that_is_gone_is_refused_nothing() -> None:
    refused = busy.Refused(os.getpid())
    assert refused.since_last_s() >= 0
    assert busy.Refused(2**22 + 1).since_last_s() == 0
    assert busy.busy_s(2**22 + 1) is None
