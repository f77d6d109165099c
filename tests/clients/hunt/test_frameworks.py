"""Applications of frameworks around clients copy records, also those at which handlers fail at first."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from mockbroker.clients.hunt.applications import Application, application_campaign
from mockbroker.clients.hunt.campaign import Result
from mockbroker.clients.hunt.correspondence import fields
from mockbroker.clients.hunt.drawing import draw_application
from mockbroker.clients.hunt.plan import Plan

from ... import needs
from ...turns import in_turn
from .. import fast_stream, spring


async def found(command: Sequence[str], *, at_least_once: bool) -> list[str]:
    """What is violated in a run without any event."""
    violated: list[str] = []
    known = fields(["in"], ["out"], "copies", at_least_once=at_least_once)

    def drawn(seed: int, capabilities: frozenset[str], kafka: str) -> Plan:
        return replace(draw_application(seed, known, 2, kafka), steps=())

    def take(result: Result) -> None:
        violated.extend(each.violation.invariant for each in result.found)

    async with application_campaign(Application(command), 1, repeats=0) as runs:
        await runs.hunt(range(1), take, "4.4", drawn)
    return violated


@pytest.mark.long
@pytest.mark.needs(*needs.JAVA)
@pytest.mark.timeout(900)
@pytest.mark.parametrize("mode", in_turn(["transactions", "at-least-once"], 2))
@pytest.mark.trio
async def test_spring_kafka(mode: str) -> None:
    assert await found(spring.command(mode), at_least_once=mode != "transactions") == []


@pytest.mark.long
@pytest.mark.timeout(900)
@pytest.mark.trio
async def test_faststream() -> None:
    assert await found(fast_stream.command(), at_least_once=True) == []
