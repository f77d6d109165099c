"""A history that happens once more, its trace, and files that are none."""

import hashlib
import io
import os
import subprocess
import sys
from pathlib import Path

import pytest

from mockbroker.plan_files import PlanError
from mockbroker.simulation.checking import check
from mockbroker.simulation.history import draw, happen
from mockbroker.simulation.plan import Options, Plan, Step
from mockbroker.simulation.tracing import watch
from mockbroker.trace.events import Answer
from mockbroker.trace.files import JsonLines, read_json_lines
from tests.properties import examples

PLAN = draw(7, Options())
PROGRAM = """
import io, hashlib
from mockbroker.simulation.history import draw, happen
from mockbroker.simulation.plan import Options
from mockbroker.simulation.tracing import watch
from mockbroker.trace.files import JsonLines
file = io.StringIO()
for seed in range(12):
    lines = JsonLines(file)
    happen(draw(seed, Options(kafka="2.3")), watch=lambda world: watch(world, lines))
print(hashlib.sha256(file.getvalue().encode()).hexdigest())
"""


def traced(plan: Plan, file: io.StringIO) -> None:
    lines = JsonLines(file)
    happen(plan, watch=lambda world: watch(world, lines))


def test_a_trace_is_the_same_each_time() -> None:
    digests = set()
    for hash_seed in ("1", "2"):
        environment = {**os.environ, "PYTHONHASHSEED": hash_seed}
        run = subprocess.run(
            [sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True, check=True
        )
        digests.add(run.stdout.strip())
    file = io.StringIO()
    for seed in range(12):
        traced(draw(seed, Options(kafka="2.3")), file)
    assert digests == {hashlib.sha256(file.getvalue().encode()).hexdigest()}


def test_a_trace_changes_nothing() -> None:
    for seed in range(examples(30)):
        plan = draw(seed, Options(policies={"fetch-log-start-offset": "live"}))
        watched = happen(plan, watch=lambda world: watch(world, lambda event: None))
        assert (watched.violations, watched.requests) == (happen(plan).violations, happen(plan).requests)


def test_a_trace_is_read_like_any_other(tmp_path: Path) -> None:
    path = tmp_path / "trace.jsonl"
    with path.open("w") as file:
        lines = JsonLines(file)
        history = happen(PLAN, watch=lambda world: watch(world, lines))
    events = list(read_json_lines(path))
    assert [event.number for event in events] == list(range(1, len(events) + 1))
    assert [event.time_ms for event in events] == sorted(event.time_ms for event in events)
    assert sum(event.kind == "request" for event in events) == history.requests
    asked = {(e.connection, e.correlation_id): e.api for e in events if e.kind == "request"}  # type: ignore[attr-defined]
    answers = [event for event in events if isinstance(event, Answer)]
    assert answers
    assert all(asked[each.connection, each.correlation_id] == each.api for each in answers)


@pytest.mark.parametrize(
    ("step", "said"),
    [
        (
            Step(0, "stop-brokr", {"broker": 1}),
            "step 1: nothing is called 'stop-brokr': did you mean 'stop-b",
        ),
        (Step(0, "stop-broker"), "stop-broker lacks 'broker'"),
        (Step(0, "mend-client", {"client": 0}), "mend-client lacks 'broker'"),
        (Step(0, "start-broker", {"broker": 4}), "no broker 4"),
        (Step(0, "start-broker", {"broker": 1, "clent": 1}), "start-broker has no 'clent'"),
        (Step(0, "drop-fetch-sessions"), "drop-fetch-sessions lacks 'broker'"),
        (Step(0, "drop-fetch-sessions", {"broker": "one"}), "broker is 'one'"),
        (Step(0, "drop-fetch-sessions", {"broker": 1, "topic": "t"}), "has no 'topic'"),
        (Step(0, "delete-records", {"percent": "all"}), "percent is 'all'"),
        (Step(-1, "rebalance"), "at -1 ms"),
        (Step("now", "rebalance"), "at 'now' ms"),  # type: ignore[arg-type]
    ],
)
def test_a_step_that_can_not_be_is_told(step: Step, said: str) -> None:
    with pytest.raises(PlanError, match=said):
        check(PLAN.with_steps((step,)))


def test_a_verb_that_is_never_drawn_can_be_played() -> None:
    where = {"topic": "t", "partition": 0, "broker": 3}
    steps = (Step(0, "drop-fetch-sessions", {"broker": 1}), Step(900, "fail-follower", where))
    history = happen(check(Plan(7, "4.4", steps=steps)))
    assert [each.invariant for each in history.violations] == ["follower-fetcher-dead"]
    elsewhere = (Step(0, "fail-follower", {**where, "topic": "none"}),)
    assert not happen(check(Plan(7, "4.4", steps=elsewhere))).violations


def test_whatever_is_drawn_can_be() -> None:
    for seed in range(200):
        check(draw(seed, Options()))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('"seed": 7', "seed is '7'"),
        ('"commit_rate": 1.0', "commit_rate is '1.0'"),
    ],
)
def test_a_value_of_another_kind_is_told(text: str, said: str) -> None:
    name, value = text.split(": ")
    row = Plan(7, "4.4", commit_rate=1.0).to_json().replace(text, f'{name}: "{value}"')
    with pytest.raises(PlanError, match=said):
        check(Plan.from_json(row))
