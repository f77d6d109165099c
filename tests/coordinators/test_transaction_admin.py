"""Transactions as admin tools see them, and the feature that clients go by."""

import sys

import pytest

from mockbroker import MockCluster
from mockbroker.protocol.errors import error_name
from mockbroker.protocol.messages.api_versions import ApiVersionsRequest
from mockbroker.protocol.messages.common import NamePartitionIndexes
from mockbroker.protocol.messages.list_transactions import ListTransactionsRequest
from mockbroker.protocol.messages.write_txn_markers import WritableTxnMarker, WriteTxnMarkersRequest

from ..driving.clients import raw_client
from ..driving.cluster import NOW_MS
from ..driving.transactions import TransactionDriver


def test_what_admin_tools_see(driver: TransactionDriver) -> None:
    producer = driver.begun()
    driver.advance(10)
    other = driver.init(transactional_id="idle")
    found = driver.describe()
    assert (found.transaction_state, found.transaction_start_time_ms) == ("Ongoing", NOW_MS)
    assert (found.producer_id, found.producer_epoch) == producer[1:]
    assert (found.topics[0].topic, found.topics[0].partitions) == ("orders", [0])
    assert driver.describe("unknown").error_code == 105

    def listed(**filters: object) -> list[str]:
        request = ListTransactionsRequest(**filters)  # type: ignore[arg-type]
        answer = driver.ask(request, broker=1)
        return [each.transactional_id for each in answer.transaction_states]

    assert listed() == ["tx", "idle"]
    assert listed(state_filters=["Ongoing"]) == ["tx"]
    assert listed(state_filters=["Sleeping"]) == []
    assert listed(producer_id_filters=[other.producer_id]) == ["idle"]
    assert listed(transactional_id_pattern="i.*") == ["idle"]
    driver.advance(100)
    assert listed(duration_filter=50) == ["tx", "idle"]
    request = ListTransactionsRequest(["Sleeping", "Empty"])
    assert driver.ask(request, broker=1).unknown_state_filters == ["Sleeping"]
    state = driver.producers()[producer.producer_id]
    assert (state.current_txn_start_offset, state.last_sequence, state.coordinator_epoch) == (0, 2, -1)
    driver.end(producer, commit=True)
    state = driver.producers()[producer.producer_id]
    assert (state.current_txn_start_offset, state.last_sequence, state.coordinator_epoch) == (-1, 2, 0)


def test_the_feature_that_clients_go_by() -> None:
    def level(**policies: str) -> int:
        driver = TransactionDriver(policies=policies)
        request = ApiVersionsRequest("test", "1")
        answer = driver.ask(request, 4, broker=1)
        (found,) = (f for f in answer.finalized_features if f.name == "transaction.version")
        return int(found.max_version_level)

    assert level() == 2
    assert level(**{"epoch-bump": "on-request"}) == 1


@pytest.mark.parametrize(("release", "answered"), [("3.6", True), ("3.7", False)])
def test_a_marker_that_names_a_partition_twice_is_written_once(release: str, answered: bool) -> None:
    driver = TransactionDriver(release)
    driver.begun()
    before = driver.orders.log.end_offset
    topics = [NamePartitionIndexes("orders", [0, 0])]
    marker = WritableTxnMarker(7, 0, False, topics)
    asked = driver.ask(WriteTxnMarkersRequest([marker, marker]), broker=1)
    assert driver.orders.log.end_offset == before + 2
    if answered:
        (producer,) = asked.markers
        assert [each.partition_index for each in producer.topics[0].partitions] == [0]
    assert (asked.response is not None) is answered


def test_only_re2_reads_patterns(driver: TransactionDriver) -> None:
    driver.init(transactional_id="a" * 30 + "b")

    def asked(pattern: str) -> tuple[str, int]:
        answer = driver.ask(ListTransactionsRequest(transactional_id_pattern=pattern), broker=1)
        return error_name(answer.error_code), len(answer.transaction_states)

    assert asked("(a+)+") == ("NONE", 0)
    assert asked("(a+)+b") == ("NONE", 1)
    for refused in ("(?=a).*", r"(a)\1*b", "a{99999999999999999999}"):
        assert asked(refused) == ("INVALID_REGULAR_EXPRESSION", 0)
    assert asked("(" * 3_000 + "a" + ")" * 3_000) == ("UNKNOWN_SERVER_ERROR", 0)


def test_a_pattern_that_takes_long_is_matched_in_parts(driver: TransactionDriver) -> None:
    """Work is counted as `Expression.work` does."""
    ids = ["ab" * 10 + f"{number}" for number in range(150)]
    for each in ids:
        driver.init(transactional_id=each)
    work = driver.cluster.work
    work.in_parts = True

    def parts(pattern: str) -> int:
        asked = driver.ask(ListTransactionsRequest(transactional_id_pattern=pattern), broker=1)
        count = 0
        while asked.parked:
            work.go_on()
            count += 1
        assert not asked.transaction_states
        return count

    assert parts("x") == 0
    assert parts("(.*a){900}") > 100


def test_without_re2_the_refusal_is_explained(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "re2", None)
    pattern = "only-here.*"
    with MockCluster(brokers=1) as cluster:
        with raw_client(cluster, client_id="admin") as client:
            answer = client.call("list_transactions", 2, {"transactional_id_pattern": pattern})
        assert answer["error_code"] == "INVALID_REGULAR_EXPRESSION"
        (hint,) = cluster.hints()
    told = f"the client 'admin' was refused the regular expression '{pattern}': mockbroker can't read it: "
    assert hint.startswith(told)
    assert "[regex]" in hint
