"""What a log knows of transactions and truncations goes with the records, or in time."""

from hypothesis import example, given
from hypothesis import strategies as st

from mockbroker.log.log import CUTS_KEPT
from mockbroker.log.transactions import LogTransactions
from mockbroker.protocol.messages import delete_records, end_txn
from mockbroker.replication.states import FollowerState
from tests.driving.many import BIG, TIMEOUT_MS, Many

DAY_MS = 24 * 3600 * 1000


def transact(many: Many, *, times: int, committed: bool) -> None:
    name = many.ids[0]
    for _ in range(times):
        many.send(many.add(name, [(many.topics[0], 0)]))
        many.write(name, many.topics[0], 0)
        answer = many.send(end_txn.EndTxnRequest(name, many.producers[name], many.epoch, committed))
        many.producers[name], many.epoch = answer.producer_id, answer.producer_epoch


def test_aborted_and_ended_transactions_go_with_their_records_on_every_replica() -> None:
    many = Many(1)
    many.init_all()
    logs = many.cluster.topics[many.topics[0]].partitions[0].logs.values()
    assert len(logs) > 1
    for committed in (True, False):
        transact(many, times=20, committed=committed)
    # Nobody has read committed records, which would look at what ended.
    assert all(len(log.producers.transactions.ended) <= 1 for log in logs)
    assert all(len(log.producers.transactions.aborted) == 20 for log in logs)
    partitions = [delete_records.DeleteRecordsPartition(0, 70)]
    topics = [delete_records.DeleteRecordsTopic(many.topics[0], partitions)]
    many.send(delete_records.DeleteRecordsRequest(topics, TIMEOUT_MS))
    assert all(len(log.producers.transactions.aborted) == 5 for log in logs)


def test_readers_hear_the_same_of_aborted_transactions_when_older_ones_are_gone() -> None:
    heard = 0

    @given(
        markers=st.lists(st.tuples(st.integers(0, 3), st.booleans()), max_size=30), start=st.integers(0, 70)
    )
    @example(markers=[(0, False), (0, False), (1, False), (2, False), (1, False), (2, False)], start=5)
    def check(markers: list[tuple[int, bool]], start: int) -> None:
        nonlocal heard
        whole, cut = LogTransactions(), LogTransactions()
        offset = 0
        opened: dict[int, int] = {}
        for producer_id, committed in markers:
            for each in (whole, cut):
                if producer_id in opened:
                    each.end(producer_id, opened[producer_id], offset, committed)
                else:
                    each.begin(producer_id, offset)
            opened.pop(producer_id) if producer_id in opened else opened.update({producer_id: offset})
            offset += 2
        cut.truncate_from_start(start)
        for at in range(start, 72):
            for end in range(0, 72, 5):
                expected = list(whole.aborted_in(at, end))
                assert list(cut.aborted_in(at, end)) == expected
                heard += len(expected) if len(cut.aborted) < len(whole.aborted) else 0

    check()
    assert heard


def test_a_producer_that_was_never_verified_is_forgotten_in_time() -> None:
    many = Many(3, "3.9")
    many.init_all()
    log = many.cluster.topics[BIG].partitions[0].log
    for name in many.ids:
        # Nobody has added the partition: verification fails.
        assert many.write(name, BIG, 0).responses[0].partition_responses[0].error_code
    assert len(log.producers.verifying) == 3
    many.cluster.advance(many.cluster.now_ms + 2 * DAY_MS)
    assert not log.producers.verifying


def test_a_log_remembers_its_last_truncations_and_counts_all() -> None:
    many = Many(1)
    log = many.cluster.topics[many.topics[0]].partitions[0].logs[2]
    for count in range(3 * CUTS_KEPT):
        log.end_offset += 1
        log.truncate(0)
        assert log.cut_count == count + 1
    assert len(log.cuts) == CUTS_KEPT


def test_brokers_that_come_and_go_leave_nothing_in_the_timers() -> None:
    many = Many(5)
    counts = []
    for _ in range(4):
        many.cluster.processes.kill(2)
        many.cluster.advance(many.cluster.now_ms + TIMEOUT_MS)
        many.cluster.processes.start(2)
        many.cluster.advance(many.cluster.now_ms + DAY_MS)
        counts.append(len(many.cluster.environment.timers))
    assert len(set(counts)) == 1


def test_nobody_looks_after_the_followers_of_a_deleted_topic() -> None:
    many = Many(2)
    many.cluster.advance(many.cluster.now_ms + DAY_MS)
    before = len(many.cluster.environment.timers)
    for partition in many.cluster.topics[BIG].partitions:
        partition.set_follower(2, FollowerState.PAUSED)
    assert len(many.cluster.environment.timers) > before
    many.cluster.delete_topics([many.cluster.topics[BIG]])
    many.cluster.advance(many.cluster.now_ms + DAY_MS)
    assert len(many.cluster.environment.timers) == before
