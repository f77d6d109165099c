"""What is written of the values of an event is what is written of the event."""

from __future__ import annotations

from dataclasses import MISSING, fields
from typing import Any

import pytest

from mockbroker.trace.as_json import as_json, values_as_json
from mockbroker.trace.event import KINDS
from mockbroker.trace.kept import as_read, event_of
from tests.driving import wire
from tests.driving.faulty import TracedDriver

SAMPLES: dict[str, Any] = {"int": 7, "str": 'a "name"'}


def sample(kind: Any) -> Any:
    return SAMPLES.get(getattr(kind, "__name__", str(kind)), ("t-0", 1, None))


@pytest.mark.parametrize("kind", KINDS)
def test_of_each_kind(kind: str) -> None:
    model: Any = KINDS[kind]
    _, *others = fields(model)
    given = [sample(each.type) for each in others if each.default is MISSING]
    assert values_as_json((1, model, *given)) == as_json(model(1, *given))
    given = [sample(each.type) for each in others]
    assert values_as_json((1, model, *given)) == as_json(model(1, *given))


def test_of_a_trace() -> None:
    driver = TracedDriver()
    entries: list[Any] = []
    driver.trace.hand_to(entries.extend)
    for frame in (wire.produce("t", wire.batch([b"v"])), wire.produce("nothing", b""), wire.fetch("t", 0)):
        driver.receive(frame)
    driver.trace.hand_over()
    assert {each[1].kind for each in entries} > {"request", "answer", "keyframe", "replica", "decision"}
    for each in entries:
        assert values_as_json(as_read(each)) == as_json(event_of(each))
