"""What was processed once, and what was not."""

import pytest

from mockbroker.clients.hunt.journal import Journal
from mockbroker.clients.hunt.judging.transactions import processed_once
from mockbroker.clients.hunt.plan import Plan, PlannedTopic, PlannedUser
from mockbroker.clients.hunt.stage import InLog, Outcome


@pytest.mark.parametrize(
    ("given", "done", "found"),
    [(1, 1, []), (2, 2, []), (1, 2, ["processed-again"]), (2, 3, ["processed-again"] * 2)],
    ids=["once", "twice written", "again", "twice written, and again"],
)
def test_what_a_feeder_has_written_twice_is_processed_twice(given: int, done: int, found: list[str]) -> None:
    user = PlannedUser("p", "processor", fields={"from": "in", "to": "out", "group": "g", "topics": ["in"]})
    outcome = Outcome(Plan(1, "4.4", 1, (PlannedTopic("in", 1), PlannedTopic("out", 1)), (user,)), Journal())
    outcome.logs["in", 0] = [InLog(offset, b"1:plain:", True) for offset in range(given)]
    outcome.logs["out", 0] = [InLog(offset, b"%d:1:plain:" % offset, True) for offset in range(done)]
    outcome.log_starts = {("in", 0): 0, ("out", 0): 0}
    assert [each.invariant for each in processed_once(outcome)] == found
