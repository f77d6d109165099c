"""Transactions as admin tools see them, and the feature that clients go by."""

from mockbroker.protocol.api_keys import ApiKey
from mockbroker.protocol.messages.api_versions import ApiVersionsRequest
from mockbroker.protocol.messages.list_transactions import ListTransactionsRequest

from .transacting import START_MS, Stage


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
    def level(**policies: str) -> int:
        stage = Stage(policies=policies)
        request = ApiVersionsRequest("test", "1")
        answer = stage.ask(ApiKey.API_VERSIONS, request, 1, 4)
        (found,) = (f for f in answer.finalized_features if f.name == "transaction.version")
        return int(found.max_version_level)

    assert level() == 2
    assert level(**{"epoch-bump": "on-request"}) == 1
