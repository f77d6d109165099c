"""A violation and a story say why, not None."""

from typing import Any

import pytest

from mockbroker.clients.drivers import Refusal
from mockbroker.clients.hunt.journal import Called, Ended, Entry, Failed, Journal, Told
from mockbroker.clients.hunt.judging.calls import unusable
from mockbroker.clients.hunt.plan import Plan, PlannedTopic, PlannedUser
from mockbroker.clients.hunt.stage import Outcome
from mockbroker.clients.hunt.telling import lines

FENCED = Refusal("ProducerFenced", "there is a newer producer", 90)
TIMED_OUT = Refusal("TimedOut", "")
OF_T: dict[str, Any] = {"user": "t", "handle": "t-1"}
ABORTED = Ended(**OF_T, transaction=1, commits=False, error=None)


@pytest.mark.parametrize(
    ("entries", "told"),
    [
        (
            [
                Called(**OF_T, verb="commit-transaction", began=0, error=TIMED_OUT),
                Ended(**OF_T, transaction=1, commits=True, error=FENCED),
                Told(**OF_T, number=1, offset=None, error=TIMED_OUT),
                ABORTED,
            ],
            "no transaction can be committed any more: ProducerFenced: there is a newer producer",
        ),
        (
            [Called(**OF_T, verb="send-offsets", began=0, error=TIMED_OUT), ABORTED],
            "no transaction can be committed any more: TimedOut",
        ),
        (
            [Failed(user="u", handle="u-1", error=TIMED_OUT, by="poll"), ABORTED],
            "no transaction can be committed any more, and no call says why",
        ),
        (
            [Called(**OF_T, verb="open", began=0, error=FENCED)],
            "it can't begin a transaction: ProducerFenced: there is a newer producer",
        ),
    ],
)
def test_a_producer_that_can_not_be_used_any_more_has_a_cause(entries: list[Entry], told: str) -> None:
    user = PlannedUser("t", "transactions")
    outcome = Outcome(Plan(1, "4.4", 1, (PlannedTopic("topic-0", 1),), (user,)), Journal())
    for each in entries:
        outcome.journal.add(each)
    assert [each.what for each in unusable(outcome)] == [told]


def test_a_story_leaves_out_what_a_client_does_not_tell() -> None:
    outcome = Outcome(Plan(1, "4.4", 1, (), ()), Journal())
    outcome.journal.add(Told(**OF_T, number=3, offset=None, error=None))
    outcome.journal.add(Called(**OF_T, verb="seek", began=0, fields={"offset": 0, "partition": None}))
    told = [line.split(maxsplit=4)[4] for line in lines(outcome)]
    assert told == ["is told that record 3 is written", "has called seek offset=0"]
