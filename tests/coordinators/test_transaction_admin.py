"""Transactions as admin tools see them, and the feature that clients go by."""

import pytest

from mockbroker.protocol.messages.api_versions import ApiVersionsRequest
from mockbroker.protocol.messages.list_transactions import ListTransactionsRequest
from mockbroker.protocol.messages.write_txn_markers import (
    WritableTxnMarker,
    WritableTxnMarkerTopic,
    WriteTxnMarkersRequest,
)

from ..driving.cluster import NOW_MS
from ..driving.transactions import TransactionDriver


def test_what_admin_tools_see() -> None:
    driver = TransactionDriver()
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
    topics = [WritableTxnMarkerTopic("orders", [0, 0])]
    marker = WritableTxnMarker(7, 0, False, topics)
    asked = driver.ask(WriteTxnMarkersRequest([marker, marker]), broker=1)
    assert driver.orders.log.end_offset == before + 2
    if answered:
        (producer,) = asked.markers
        assert [each.partition_index for each in producer.topics[0].partitions] == [0]
    assert (asked.response is not None) is answered
