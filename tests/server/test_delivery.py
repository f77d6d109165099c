"""How touched answers leave, with nothing but what they leave by."""

from collections import deque
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mockbroker.faults.exchange import Delivery, End
from mockbroker.server.delivery import Deliveries
from tests.properties import examples


class Wire:
    """What was sent, and what is waited for."""

    def __init__(self) -> None:
        self.wants_close = False
        self.ended: End | None = None
        self.sent: list[bytes] = []
        self.written = 0
        self.done = 0
        self._waits: deque[tuple[int, Callable[[], None]]] = deque()
        self.deliveries = Deliveries(self, self._wait, self._flush, self._done)

    def send(self, frame: bytes) -> None:
        assert not self.wants_close
        self.sent.append(frame)

    def end(self, how: End) -> None:
        self.ended = how

    def _wait(self, delay_ms: int, then: Callable[[], None]) -> None:
        self._waits.append((delay_ms, then))

    def _flush(self) -> None:
        self.written = len(self.sent)

    def _done(self) -> None:
        self.done += 1

    def pass_time(self) -> list[int]:
        """Lets all waits end; how long they were."""
        waited = []
        while self._waits:
            delay_ms, then = self._waits.popleft()
            waited.append(delay_ms)
            then()
        return waited


@given(data=st.binary(min_size=1, max_size=40), size=st.integers(1, 50))
@settings(max_examples=examples(50))
def test_parts_are_the_answer_and_the_next_request_waits_for_the_last(data: bytes, size: int) -> None:
    wire = Wire()
    left = wire.deliveries.deliver(Delivery(data, part_bytes=size, part_ms=7))
    assert left == (len(data) <= size)
    assert (wire.done, wire.sent) == (0, [data[:size]])
    waited = wire.pass_time()
    assert b"".join(wire.sent) == data
    assert waited == [7] * (len(wire.sent) - 1)
    assert wire.done == (not left)


@pytest.mark.parametrize("how", End)
def test_an_answer_ends_the_connection(how: End) -> None:
    wire = Wire()
    assert wire.deliveries.deliver(Delivery(b"ab", end=how))
    assert (wire.sent, wire.ended) == ([b"ab"], how)


@pytest.mark.parametrize("next_comes", [True, False])
def test_a_withheld_answer_comes_after_the_next_or_when_its_time_is_over(next_comes: bool) -> None:
    wire = Wire()
    assert wire.deliveries.deliver(Delivery(b"first", swap_ms=50))
    assert wire.sent == []
    if next_comes:
        assert wire.deliveries.deliver(Delivery(b"second"))
        assert wire.sent == [b"second", b"first"]
    assert wire.pass_time() == [50]
    assert wire.sent == [b"second", b"first"][not next_comes :]
    assert wire.written == len(wire.sent)


def test_a_connection_that_closed_gets_no_further_part() -> None:
    wire = Wire()
    assert not wire.deliveries.deliver(Delivery(b"abcd", part_bytes=2, part_ms=1))
    wire.wants_close = True
    wire.pass_time()
    assert (wire.sent, wire.done) == ([b"ab"], 0)
