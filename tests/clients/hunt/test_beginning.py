"""Where a member may begin after a rebalance."""

import pytest

from mockbroker.clients.hunt.journal import Committed, Journal, Opened, Owns, Read
from mockbroker.clients.hunt.judging.consumers import begins_elsewhere
from mockbroker.clients.hunt.plan import Plan, PlannedTopic, PlannedUser
from mockbroker.clients.hunt.stage import InLog, Outcome

PARTITION = ("topic-0", 0)


@pytest.mark.parametrize(
    ("handle", "found"), [("member-0-1", []), ("member-0-2", ["skipped"])], ids=["same", "another"]
)
def test_a_member_may_go_on_behind_what_it_has_read_itself(handle: str, found: list[str]) -> None:
    user = PlannedUser("member-0", "member", fields={"group": "g", "topics": ["topic-0"]})
    outcome = Outcome(Plan(1, "4.4", 1, (PlannedTopic("topic-0", 1),), (user,)), Journal())
    outcome.logs[PARTITION] = [InLog(offset, b"", True) for offset in range(2)]
    outcome.log_starts[PARTITION] = 0
    for name, offset in (("member-0-1", 0), (handle, 1)):
        outcome.journal.add(Owns(user="member-0", handle=name, gains=True, partitions=(PARTITION,)))
        outcome.journal.add(
            Read(user="member-0", handle=name, topic="topic-0", partition=0, offset=offset, value=b"")
        )
    assert [each.invariant for each in begins_elsewhere(outcome)] == found


@pytest.mark.parametrize(
    ("lost_meanwhile", "found"), [(False, ["reset-without-loss"]), (True, [])], ids=["before", "meanwhile"]
)
def test_a_partition_may_be_lost_while_a_commit_is_under_way(lost_meanwhile: bool, found: list[str]) -> None:
    users = tuple(
        PlannedUser(name, "member", fields={"group": "g", "topics": ["topic-0"]}) for name in ("a", "b")
    )
    outcome = Outcome(Plan(1, "4.4", 1, (PlannedTopic("topic-0", 1),), users), Journal())
    outcome.logs[PARTITION] = [InLog(offset, b"", True) for offset in range(2)]
    outcome.log_starts[PARTITION] = 0

    def owns(user: str, gains: bool) -> None:
        outcome.journal.add(Owns(user=user, handle=user, gains=gains, partitions=(PARTITION,)))

    owns("a", gains=True)
    outcome.journal.add(Read(user="a", handle="a", topic="topic-0", partition=0, offset=0, value=b""))
    began = outcome.journal.last
    if lost_meanwhile:
        owns("a", gains=False)
    outcome.journal.add(
        Committed(user="a", handle="a", group="g", offsets={PARTITION: 1}, began=began, error=None)
    )
    if not lost_meanwhile:
        owns("a", gains=False)
    owns("b", gains=True)
    outcome.journal.add(Read(user="b", handle="b", topic="topic-0", partition=0, offset=0, value=b""))
    assert [each.invariant for each in begins_elsewhere(outcome)] == found


@pytest.mark.parametrize(
    ("level", "found"), [("read_committed", []), ("read_uncommitted", ["skipped"])], ids=["committed", "all"]
)
def test_a_member_leaves_out_what_was_aborted_if_it_reads_committed_records(
    level: str, found: list[str]
) -> None:
    user = PlannedUser("a", "member", fields={"group": "g", "topics": ["topic-0"]})
    outcome = Outcome(Plan(1, "4.4", 1, (PlannedTopic("topic-0", 1),), (user,)), Journal())
    outcome.logs[PARTITION] = [InLog(0, b"", False), InLog(1, b"", True)]
    outcome.log_starts[PARTITION] = 0
    outcome.journal.add(Opened(user="a", handle="a", config={"isolation.level": level}))
    outcome.journal.add(Owns(user="a", handle="a", gains=True, partitions=(PARTITION,)))
    outcome.journal.add(Read(user="a", handle="a", topic="topic-0", partition=0, offset=1, value=b""))
    assert [each.invariant for each in begins_elsewhere(outcome)] == found
