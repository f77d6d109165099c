"""Transactions through the APIs: how they begin, end, time out, expire and move with their coordinator."""

from dataclasses import replace

import pytest

from mockbroker.cluster import controller
from mockbroker.cluster.follower import FollowerState
from mockbroker.protocol.api_keys import ApiKey
from mockbroker.protocol.messages.add_partitions_to_txn import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnTopic,
    AddPartitionsToTxnTransaction,
)
from mockbroker.protocol.messages.end_txn import EndTxnRequest
from mockbroker.protocol.messages.init_producer_id import InitProducerIdRequest
from mockbroker.protocol.messages.list_transactions import ListTransactionsRequest

from .transacting import START_MS, TIMEOUT_MS, Given, Stage

DAY_MS = 24 * 3600 * 1000
MAX_EPOCH = 32767


def stable(stage: Stage) -> tuple[int, int]:
    """(last stable offset, high watermark) of `orders-0`."""
    data = stage.read(stage.orders.log.start_offset)
    return data.last_stable_offset, data.high_watermark


@pytest.mark.parametrize("kafka", ["0.11", "2.3", "2.5", "3.6", "4.4"])
@pytest.mark.parametrize("commit", [True, False])
def test_a_transaction_from_begin_to_end(kafka: str, commit: bool) -> None:
    stage = Stage(kafka, brokers=3)
    producer = stage.begun()
    assert stable(stage) == (0, 3)
    assert stage.end(producer, commit=commit).error == "NONE"
    assert stable(stage) == (4, 4)
    aborted = [(each.producer_id, each.first_offset) for each in stage.read().aborted_transactions]
    assert aborted == ([] if commit else [(producer.producer_id, 0)])
    # Followers hear of the high watermark with their next fetch.
    stage.advance(500)
    stage.orders.tell_followers()
    assert all(log.last_stable_offset == 4 for log in stage.orders.logs.values())


def test_transactions_of_two_producers_hold_each_other_back() -> None:
    stage = Stage()
    first = stage.begun()
    second = stage.init(transactional_id="other")
    stage.add(second, transactional_id="other")
    stage.write(second, transactional_id="other")
    assert stage.end(second, commit=False, transactional_id="other").error == "NONE"
    assert stable(stage) == (0, 7)
    assert stage.read().aborted_transactions == []
    assert stage.end(first, commit=True).error == "NONE"
    assert stable(stage) == (8, 8)
    assert [each.producer_id for each in stage.read().aborted_transactions] == [second.producer_id]
    # A reader behind the marker has no use for it.
    assert stage.read(7).aborted_transactions == []


def test_a_reader_of_committed_records_waits_for_the_marker() -> None:
    stage = Stage(brokers=3)
    producer = stage.begun()
    waiting = stage.fetch(wait_ms=5000)
    anything = stage.fetch(3, committed=False, wait_ms=5000)
    stage.write(producer, 3)
    assert waiting.response is None
    assert anything.response is not None
    stage.end(producer, commit=True)
    assert waiting.response is not None
    assert sum(map(len, waiting.response.responses[0].partitions[0].records)) > 0
    assert stage.fetch(7, wait_ms=5000).response is None


@pytest.mark.parametrize("kafka", ["2.5", "4.4"])
def test_a_transaction_that_times_out(kafka: str) -> None:
    stage = Stage(kafka)
    producer = stage.begun(stage.init(timeout_ms=5000))
    stage.advance(15_000)
    assert stable(stage) == (4, 4)
    assert len(stage.read().aborted_transactions) == 1
    fenced = "INVALID_PRODUCER_EPOCH" if kafka == "2.5" else "PRODUCER_FENCED"
    assert stage.end(producer, commit=True).error == fenced
    assert stage.add(producer) == {0: fenced}
    assert stage.write(producer, 3)[0] == "INVALID_PRODUCER_EPOCH"


@pytest.mark.parametrize(
    ("answer", "after"),
    [
        ("fenced", Given("PRODUCER_FENCED", -1, -1)),
        ("recoverable", Given("NONE", 0, 1)),
        ("not-fenced", Given("NONE", 0, 1)),
    ],
)
def test_what_a_timeout_leaves_its_producer(answer: str, after: Given) -> None:
    stage = Stage("3.9", policies={"transaction-timeout-fencing": answer})
    producer = stage.begun(stage.init(timeout_ms=5000))
    stage.advance(15_000)
    written = stage.write(producer, 3, version=9)[0]
    assert written == ("INVALID_TXN_STATE" if answer == "not-fenced" else "INVALID_PRODUCER_EPOCH")
    assert stage.init(*producer[1:], version=5) == after


def test_a_zombie_goes_on_where_timeouts_do_not_fence() -> None:
    """KAFKA-6119: it writes after the abort, as if nothing had happened."""
    policies = {"transaction-timeout-fencing": "not-fenced"}
    stage = Stage("0.11", policies=policies, transaction_abort_timed_out_transaction_cleanup_interval_ms=1000)
    producer = stage.begun(stage.init(timeout_ms=5000))
    stage.advance(7000)
    assert stable(stage) == (4, 4)
    assert stage.write(producer, 3) == ("NONE", 4)
    assert stable(stage) == (4, 7)


@pytest.mark.parametrize(("answer", "epoch"), [("recoverable", 2), ("fenced-twice", 3)])
def test_a_new_instance_aborts_what_is_open(answer: str, epoch: int) -> None:
    stage = Stage(policies={"transaction-timeout-fencing": answer})
    producer = stage.begun()
    assert stage.init() == Given("CONCURRENT_TRANSACTIONS", -1, -1)
    assert stable(stage) == (4, 4)
    assert stage.init() == Given("NONE", producer.producer_id, epoch)
    assert stage.end(producer, commit=True).error == "PRODUCER_FENCED"


def test_while_markers_are_under_way() -> None:
    stage = Stage(markers_delay_ms=50)
    producer = stage.begun()
    assert stage.end(producer, commit=True).error == "NONE"
    assert stage.describe().transaction_state == "PrepareCommit"
    assert stage.add(producer) == {0: "CONCURRENT_TRANSACTIONS"}
    assert stage.end(producer, commit=True).error == "CONCURRENT_TRANSACTIONS"
    assert stage.end(producer, commit=False).error == "INVALID_TXN_STATE"
    assert stage.init().error == "CONCURRENT_TRANSACTIONS"
    assert stable(stage) == (0, 3)
    stage.advance(50)
    assert stage.describe().transaction_state == "CompleteCommit"
    assert stable(stage) == (4, 4)
    assert stage.add(producer) == {0: "NONE"}


@pytest.mark.parametrize("answer", ["completes", "hangs"])
def test_a_transaction_may_hang_until_its_coordinator_moves(answer: str) -> None:
    stage = Stage(brokers=3, policies={"transaction-completion": answer})
    producer = stage.begun()
    assert stage.end(producer, commit=True).error == "NONE"
    stage.advance(DAY_MS)
    if answer == "hangs":
        assert stage.add(producer) == {0: "CONCURRENT_TRANSACTIONS"}
        assert stable(stage) == (0, 3)
        controller.stop_broker(stage.cluster, stage.coordinator())
    assert stage.add(producer) == {0: "NONE"}
    assert stable(stage) == (4, 4)


def test_a_partition_without_leader_gets_its_marker_later() -> None:
    stage = Stage(brokers=3)
    stage.cluster.create_topic("alone", [[3]])
    producer = stage.init()
    leaders = stage.cluster.topics["alone"].partitions[0]
    assert stage.add(producer, topic="alone") == {0: "NONE"}
    assert stage.write(producer, topic="alone")[0] == "NONE"
    controller.stop_broker(stage.cluster, 3)
    assert stage.end(producer, commit=True).error == "NONE"
    assert stage.describe().transaction_state == "PrepareCommit"
    controller.start_broker(stage.cluster, 3)
    stage.advance(100)
    assert stage.describe().transaction_state == "CompleteCommit"
    assert leaders.log.last_stable_offset == 4


def test_a_deleted_topic_needs_no_marker() -> None:
    stage = Stage()
    producer = stage.begun()
    stage.cluster.delete_topic(stage.cluster.topics["orders"])
    assert stage.end(producer, commit=True).error == "NONE"
    assert stage.describe().transaction_state == "CompleteCommit"


def test_an_idle_transactional_id_expires_and_its_producer_goes_on() -> None:
    """INVALID_PRODUCER_ID_MAPPING, from which InitProducerId recovers (KIP-360)."""
    stage = Stage()
    producer = stage.begun()
    stage.end(producer, commit=True)
    stage.advance(6 * DAY_MS)
    assert stage.describe().transaction_state == "CompleteCommit"
    stage.advance(2 * DAY_MS)
    assert stage.describe().error_code == 105
    assert stage.add(producer) == {0: "INVALID_PRODUCER_ID_MAPPING"}
    assert stage.end(producer, commit=True).error == "INVALID_PRODUCER_ID_MAPPING"
    assert stage.init(*producer[1:]) == Given("NONE", producer.producer_id + 1, 0)
    # Whoever had the old id is fenced now: another producer took its place.
    assert stage.init(*producer[1:]) == Given("PRODUCER_FENCED", -1, -1)


def test_an_open_transaction_does_not_expire() -> None:
    stage = Stage(transactional_id_expiration_ms=1000, transaction_max_timeout_ms=20 * DAY_MS)
    stage.begun(stage.init(timeout_ms=9 * DAY_MS))
    stage.advance(8 * DAY_MS)
    assert stage.describe().transaction_state == "Ongoing"


def exhausted(stage: Stage, epoch: int = MAX_EPOCH - 1) -> Given:
    """A producer with the highest epoch that clients get."""
    producer = stage.init()
    owned = stage.cluster.brokers[1].transactions
    (entry,) = (each.entries["tx"] for each in owned.owned.values() if "tx" in each.entries)
    entry.now = entry.now.fenced(epoch, epoch - 1)
    return Given("NONE", producer.producer_id, epoch)


def test_used_up_epochs_give_a_new_producer_id() -> None:
    stage = Stage()
    old = exhausted(stage)
    new = stage.init(*old[1:])
    assert new == Given("NONE", old.producer_id + 1, 0)
    # A retry of a producer that did not hear of it.
    assert stage.init(*old[1:]) == new
    assert stage.init(old.producer_id, 5).error == "PRODUCER_FENCED"
    other = Stage()
    exhausted(other)
    assert other.init() == Given("NONE", 1, 0)


def test_the_last_epoch_is_left_to_fence() -> None:
    stage = Stage("3.9")
    producer = stage.begun(exhausted(stage))
    assert stage.init().error == "CONCURRENT_TRANSACTIONS"
    assert stage.describe().producer_epoch == MAX_EPOCH
    assert stage.init() == Given("NONE", producer.producer_id + 1, 0)


def test_end_txn_bumps_over_the_last_epoch() -> None:
    stage = Stage()
    old = exhausted(stage)
    stage.begun(old)
    new = stage.end(old, commit=True, version=5)
    assert new == Given("NONE", old.producer_id + 1, 0)
    assert stage.end(old, commit=True, version=5) == new
    assert stage.end(old, commit=False, version=5).error == "INVALID_TXN_STATE"
    assert stage.begun(new) == new


@pytest.mark.parametrize("timeout_ms", [0, -1, 900_001])
def test_timeouts_that_are_refused(timeout_ms: int) -> None:
    stage = Stage()
    assert stage.init(timeout_ms=timeout_ms).error == "INVALID_TRANSACTION_TIMEOUT"
    assert stage.init(timeout_ms=900_000).error == "NONE"


@pytest.mark.parametrize("kafka", ["2.3", "2.5", "2.8", "4.4"])
def test_requests_of_others(kafka: str) -> None:
    """Unknown ids, wrong producer ids, wrong epochs, wrong brokers, partitions that do not exist."""
    stage = Stage(kafka, brokers=3)
    producer = stage.init()
    fenced = "INVALID_PRODUCER_EPOCH" if kafka < "2.7" else "PRODUCER_FENCED"
    wrong_id, old, new = (
        producer._replace(producer_id=99),
        producer._replace(epoch=producer.epoch - 1),
        producer._replace(epoch=producer.epoch + 1),
    )
    assert stage.add(wrong_id) == {0: "INVALID_PRODUCER_ID_MAPPING"}
    assert stage.add(old) == stage.add(new) == {0: fenced}
    assert stage.end(wrong_id, commit=True).error == "INVALID_PRODUCER_ID_MAPPING"
    assert stage.end(old, commit=True).error == fenced
    assert stage.add(producer, transactional_id="unknown") == {0: "INVALID_PRODUCER_ID_MAPPING"}
    assert stage.end(producer, commit=True).error == "INVALID_TXN_STATE"
    assert stage.add(producer, 0, 7) == {0: "OPERATION_NOT_ATTEMPTED", 7: "UNKNOWN_TOPIC_OR_PARTITION"}
    other = next(broker for broker in stage.cluster.brokers if broker != stage.coordinator())
    answer = stage.ask(ApiKey.INIT_PRODUCER_ID, InitProducerIdRequest("tx", TIMEOUT_MS), other)
    assert (answer.error_code, answer.producer_id) == (16, -1)
    answer = stage.ask(ApiKey.END_TXN, EndTxnRequest("", 1, 1, True), other)
    assert answer.error_code == 42


def test_which_epochs_may_end_a_transaction() -> None:
    for kafka, error in (("2.5", "NONE"), ("2.6", "INVALID_PRODUCER_EPOCH"), ("2.7", "PRODUCER_FENCED")):
        stage = Stage(kafka)
        producer = stage.begun()
        assert stage.end(producer._replace(epoch=4), commit=True).error == error


@pytest.mark.parametrize(("kafka", "old", "new"), [("2.6", 1, None), ("2.7", 1, 2), ("4.4", 1, 2)])
def test_a_fenced_error_of_each_version(kafka: str, old: int, new: int | None) -> None:
    stage = Stage(kafka)
    producer = stage.init()
    stale = producer._replace(epoch=-2)
    assert stage.end(stale, commit=True, version=old).error == "INVALID_PRODUCER_EPOCH"
    assert stage.add(stale, version=old) == {0: "INVALID_PRODUCER_EPOCH"}
    if new is not None:
        assert stage.end(stale, commit=True, version=new).error == "PRODUCER_FENCED"
        assert stage.add(stale, version=new) == {0: "PRODUCER_FENCED"}


TABLE = {
    # state: (retry with abort, current with abort, retry with commit, current with commit)
    "Empty": ("PRODUCER_FENCED", "bump", "PRODUCER_FENCED", "INVALID_TXN_STATE"),
    "CompleteAbort": ("again", "bump", "INVALID_TXN_STATE", "INVALID_TXN_STATE"),
    "CompleteCommit": ("INVALID_TXN_STATE", "bump", "again", "INVALID_TXN_STATE"),
}
"""What a coordinator answers EndTxn v5 when no transaction is open (`TransactionCoordinator.scala`)."""


@pytest.mark.parametrize("state", TABLE)
@pytest.mark.parametrize("case", range(4))
def test_ending_again_with_a_bump_per_transaction(state: str, case: int) -> None:
    stage = Stage()
    first = stage.init()
    if state != "Empty":
        stage.begun(first)
        current = stage.end(first, commit=state == "CompleteCommit", version=5)
        assert current == Given("NONE", first.producer_id, first.epoch + 1)
    else:
        current = first
    assert stage.describe().transaction_state == state
    retry, commit = case in (0, 2), case >= 2
    asked = current._replace(epoch=current.epoch - 1) if retry else current
    answer, expected = stage.end(asked, commit=commit, version=5), TABLE[state][case]
    if expected == "bump":
        assert answer == current._replace(epoch=current.epoch + 1)
    elif expected == "again":
        assert answer == current
    else:
        assert answer == Given(expected, -1, -1)


@pytest.mark.parametrize(("commit", "again"), [(True, "NONE"), (False, "INVALID_TXN_STATE")])
def test_ending_again_without(commit: bool, again: str) -> None:
    stage = Stage()
    producer = stage.begun()
    assert stage.end(producer, commit=True) == Given("NONE", -1, -1)
    assert stage.end(producer, commit=commit).error == again


def test_a_late_batch_hits_no_later_transaction() -> None:
    """What KIP-890 is for: without the bump it would be part of the next transaction."""
    stage = Stage()
    first = stage.begun()
    second = stage.end(first, commit=True, version=5)
    stage.begun(second)
    assert stage.write(first, 3)[0] == "INVALID_PRODUCER_EPOCH"
    old = Stage("3.5")
    producer = old.begun()
    old.end(producer, commit=True)
    old.add(producer)
    assert old.write(producer, 3) == ("NONE", 4)


@pytest.mark.parametrize("answer", ["in-memory", "persisted"])
@pytest.mark.parametrize("kafka", ["2.8", "4.4"])
def test_a_retry_across_a_coordinator_move(kafka: str, answer: str) -> None:
    stage = Stage(kafka, brokers=3, policies={"last-epoch": answer})
    producer = stage.init()
    missed = stage.init(*producer[1:])
    assert stage.init(*producer[1:]) == missed
    controller.stop_broker(stage.cluster, stage.coordinator())
    found = stage.init(*producer[1:])
    assert found == (missed if answer == "persisted" else Given("PRODUCER_FENCED", -1, -1))


@pytest.mark.parametrize("kafka", ["0.11", "3.9", "4.4"])
def test_the_next_coordinator_knows_everything(kafka: str) -> None:
    stage = Stage(kafka, brokers=3)
    producer = stage.begun()
    stage.add(producer, 1)
    first = stage.coordinator()
    before = stage.cluster.brokers[first].transactions.find("tx")
    assert before is not None
    if kafka != "4.4":
        # Version 0 of its records has no room for it.
        before = replace(before, previous_producer_id=-1)
    controller.stop_broker(stage.cluster, first)
    second = stage.coordinator()
    assert second != first
    assert stage.cluster.brokers[second].transactions.find("tx") == before
    assert stage.end(producer, commit=False).error == "NONE"
    assert stable(stage) == (4, 4)
    again = stage.init()
    assert again == Given("NONE", producer.producer_id, producer.epoch + 1)


def test_a_coordinator_goes_on_with_the_markers_of_the_one_before() -> None:
    stage = Stage(brokers=3, markers_delay_ms=1000)
    producer = stage.begun()
    stage.end(producer, commit=True)
    controller.stop_broker(stage.cluster, stage.coordinator())
    assert stage.describe().transaction_state == "PrepareCommit"
    stage.advance(1000)
    assert stage.describe().transaction_state == "CompleteCommit"
    assert stable(stage) == (4, 4)
    marker_epoch = stage.orders.log.producers.entries[producer.producer_id].coordinator_epoch
    assert marker_epoch == stage.cluster.transaction_partition("tx").leader_epoch > 0


def test_a_state_counts_once_it_is_replicated() -> None:
    stage = Stage(brokers=3)
    producer = stage.init()
    partition = stage.cluster.transaction_partition("tx")
    followers = [broker for broker in partition.replicas if broker != partition.leader]
    for broker in followers:
        partition.set_follower(broker, FollowerState.PAUSED)
    request = AddPartitionsToTxnRequest(
        [
            AddPartitionsToTxnTransaction(
                "tx", producer.producer_id, producer.epoch, topics=[AddPartitionsToTxnTopic("orders", [0])]
            )
        ]
    )
    asked = stage.send(ApiKey.ADD_PARTITIONS_TO_TXN, request, stage.coordinator(), 3)
    assert asked.response is None
    assert stage.init().error == "CONCURRENT_TRANSACTIONS"
    for broker in followers:
        partition.set_follower(broker, FollowerState.BEHIND)
    assert asked.response is not None
    assert stage.describe().transaction_state == "Ongoing"


def test_too_few_replicas_for_the_state() -> None:
    stage = Stage(brokers=3)
    producer = stage.init()
    partition = stage.cluster.transaction_partition("tx")
    for broker in [each for each in partition.replicas if each != partition.leader]:
        controller.stop_broker(stage.cluster, broker)
    assert stage.add(producer) == {0: "COORDINATOR_NOT_AVAILABLE"}


def test_many_transactions_in_one_request() -> None:
    """AddPartitionsToTxn v4, as brokers send it: some add, some only verify."""
    stage = Stage()
    one, two = stage.init(transactional_id="one"), stage.init(transactional_id="two")
    topics = [AddPartitionsToTxnTopic("orders", [0])]

    def ask(verify: bool) -> dict[str, int]:
        transactions = [
            AddPartitionsToTxnTransaction("one", one.producer_id, one.epoch, False, topics),
            AddPartitionsToTxnTransaction("two", two.producer_id, two.epoch, verify, topics),
        ]
        answer = stage.ask(ApiKey.ADD_PARTITIONS_TO_TXN, AddPartitionsToTxnRequest(transactions), 1, 5)
        return {
            each.transactional_id: each.topic_results[0].results_by_partition[0].partition_error_code
            for each in answer.results_by_transaction
        }

    assert ask(verify=True) == {"one": 0, "two": 120}
    assert ask(verify=False) == {"one": 0, "two": 0}
    assert ask(verify=True) == {"one": 0, "two": 0}


def test_what_admin_tools_see() -> None:
    stage = Stage()
    producer = stage.begun()
    stage.advance(10)
    other = stage.init(transactional_id="idle")
    found = stage.describe()
    assert (found.transaction_state, found.transaction_start_time_ms) == ("Ongoing", START_MS)
    assert (found.producer_id, found.producer_epoch) == producer[1:]
    assert (found.topics[0].topic, found.topics[0].partitions) == ("orders", [0])
    assert stage.describe("unknown").error_code == 105

    def listed(**filters: object) -> list[str]:
        request = ListTransactionsRequest(**filters)  # type: ignore[arg-type]
        answer = stage.ask(ApiKey.LIST_TRANSACTIONS, request, 1)
        return [each.transactional_id for each in answer.transaction_states]

    assert listed() == ["tx", "idle"]
    assert listed(state_filters=["Ongoing"]) == ["tx"]
    assert listed(state_filters=["Sleeping"]) == []
    assert listed(producer_id_filters=[other.producer_id]) == ["idle"]
    assert listed(transactional_id_pattern="i.*") == ["idle"]
    stage.advance(100)
    assert listed(duration_filter=50) == ["tx", "idle"]
    request = ListTransactionsRequest(["Sleeping", "Empty"])
    assert stage.ask(ApiKey.LIST_TRANSACTIONS, request, 1).unknown_state_filters == ["Sleeping"]
    state = stage.producers()[producer.producer_id]
    assert (state.current_txn_start_offset, state.last_sequence, state.coordinator_epoch) == (0, 2, -1)
    stage.end(producer, commit=True)
    state = stage.producers()[producer.producer_id]
    assert (state.current_txn_start_offset, state.last_sequence, state.coordinator_epoch) == (-1, 2, 0)


def test_the_feature_that_clients_go_by() -> None:
    from mockbroker.protocol.messages.api_versions import ApiVersionsRequest

    def level(**policies: str) -> int:
        stage = Stage(policies=policies)
        request = ApiVersionsRequest("test", "1")
        answer = stage.ask(ApiKey.API_VERSIONS, request, 1, 4)
        (found,) = (f for f in answer.finalized_features if f.name == "transaction.version")
        return int(found.max_version_level)

    assert level() == 2
    assert level(**{"epoch-bump": "on-request"}) == 1


def test_before_kip_360_what_a_client_has_does_not_matter() -> None:
    stage = Stage(policies={"epoch-bump": "by-new-instance"})
    producer = stage.init()
    assert [stage.init(*producer[1:]).epoch for _ in range(3)] == [1, 2, 3]
