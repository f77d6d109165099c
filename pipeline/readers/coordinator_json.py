"""Records of the internal topics as Kafka's tools print them in JSON (`dumps/decoded.py`)."""

from dataclasses import replace
from typing import Any

from ...dumps.decoded import is_transaction, of_json
from ..observations import Observation
from . import share_states
from .internal_topics import of_entry


def rows_of(key: dict[str, Any], value: dict[str, Any] | None, blank: Observation) -> list[Observation]:
    """The rows of a record; none for records that are not in the table.

    KeyError, TypeError, AttributeError or ValueError if it is malformed.
    """
    if is_transaction(key):
        return [_transaction(key["data"], value, blank)]
    if share_states.is_json(key):
        return [share_states.of_json(key, value, blank)]
    if share_states.names_in_json(key):
        return [*share_states.names_of_json(value, blank)]
    entry = of_json(key, value)
    row = None if entry is None else of_entry(entry, blank)
    return [] if row is None else [row]


def _transaction(data: dict[str, Any], value: dict[str, Any] | None, blank: Observation) -> Observation:
    from ...coordinators.transaction_states import BY_ID

    row = replace(blank, transactional_id=data["transactionalId"])
    if value is None:
        return replace(row, kind="tombstone", detail="transactional id")
    said = value["data"]
    status = int(said["transactionStatus"])
    state = BY_ID[status].value if status in BY_ID else f"state {status}"
    partitions = [
        f"{each['topic']}-{index}"
        for each in said.get("transactionPartitions") or []
        for index in each["partitionIds"]
    ]
    return replace(
        row,
        kind="transaction",
        producer_id=int(said["producerId"]),
        producer_epoch=int(said["producerEpoch"]),
        time_ms=int(said["transactionLastUpdateTimestampMs"]),
        detail=" ".join([state, *partitions]),
    )
