"""Whole applications: what is wrong with them is found, and nothing is with a right one."""

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from mockbroker.clients.hunt.applications import Application, application_campaign
from mockbroker.clients.hunt.campaign import Result
from mockbroker.clients.hunt.correspondence import fields
from mockbroker.clients.hunt.drawing import draw_application
from mockbroker.clients.hunt.plan import Plan

KNOWN = fields(["in"], ["out"], "copies")


def command(wrong: str) -> Sequence[str]:
    return (sys.executable, str(Path(__file__).with_name("applications.py")), wrong)


async def found(wrong: str, settle_s: float = 5.0, **known: object) -> set[str]:
    """What is violated in two runs without any event."""
    invariants: set[str] = set()

    def drawn(seed: int, capabilities: frozenset[str], kafka: str) -> Plan:
        plan = draw_application(seed, {**KNOWN, **known}, 2, kafka)
        return replace(plan, steps=())

    def take(result: Result) -> None:
        invariants.update(each.violation.invariant for each in result.found)

    application = Application(command(wrong), settle_s=settle_s, end_s=2.0)
    async with application_campaign(application, 2, repeats=0) as runs:
        await runs.hunt(range(2), take, "4.4", drawn)
    return invariants


@pytest.mark.long
@pytest.mark.trio
async def test_a_right_application() -> None:
    assert await found("right", settle_s=60.0) == set()


@pytest.mark.long
@pytest.mark.parametrize(
    ("wrong", "invariant"),
    [
        ("commits-first", "not-processed"),
        ("repeats", "processed-again"),
        ("dies", "died"),
        ("stops", "stuck"),
        ("stays", "never-ends"),
    ],
)
@pytest.mark.trio
async def test_a_wrong_application(wrong: str, invariant: str) -> None:
    assert invariant in await found(wrong)


@pytest.mark.long
@pytest.mark.trio
async def test_at_least_once() -> None:
    assert await found("repeats", settle_s=60.0, at_least_once=True) == set()


@pytest.mark.long
@pytest.mark.trio
async def test_what_dies_is_started_again() -> None:
    """It dies after a few records, each time, and gets on."""
    assert await found("dies", settle_s=60.0, restarts=True) == set()


@pytest.mark.long
@pytest.mark.trio
async def test_without_an_output_the_commits_are_judged() -> None:
    assert await found("repeats", settle_s=60.0, output=[]) == set()
    assert await found("stops", output=[]) == {"stuck"}


@pytest.mark.parametrize("seed", range(40))
def test_a_plan_loses_nothing(seed: int) -> None:
    plan = draw_application(seed, KNOWN, 2)
    assert draw_application(seed, KNOWN, 2) == plan
    assert not {"delete-records", "recreate-topic"} & {step.do for step in plan.steps}


@pytest.mark.parametrize(
    ("inputs", "outputs", "group", "value", "told"),
    [
        ([], ["out"], "", "{record}", "which topics does the application read"),
        (["in"], [], "", "{record}", "what is the application judged by"),
        (["in"], ["out"], "", "record", "the value of an input record needs {record} in it"),
    ],
)
def test_too_little_is_said(inputs: list[str], outputs: list[str], group: str, value: str, told: str) -> None:
    with pytest.raises(ValueError, match=told):
        fields(inputs, outputs, group, value=value)
