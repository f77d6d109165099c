"""Records of the internal topics as Kafka's tools print them in JSON: `{"type": 1, "data": {…}}`.

Kafka 4.x writes the record's type; the formatters of 3.8 and 3.9 write the version of its key, which is the
same number.
"""

from dataclasses import replace
from typing import Any, Final

from ..observations import Observation
from .internal_topics import group_state, member

_GROUPS: Final = {2: "classic", 3: "consumer", 11: "share", 17: "streams"}
_MEMBERS: Final = {5: "consumer", 10: "share", 19: "streams"}
_COMMITS: Final = (0, 1)


def row_of(key: dict[str, Any], value: dict[str, Any] | None, blank: Observation) -> Observation | None:
    """The row of a record; None for records that are not in the table.

    KeyError, TypeError or ValueError if it is malformed.
    """
    data = key["data"]
    if "transactionalId" in data:
        return _transaction(data, value, blank)
    number = int(key["type"] if "type" in key else key["version"])
    if number in _COMMITS:
        return _commit(data, value, blank)
    if number in _GROUPS:
        return _group(data, _GROUPS[number], value, blank)
    if number in _MEMBERS:
        return member(blank, data["groupId"], _MEMBERS[number], data["memberId"], value is None)
    return None


def _commit(data: dict[str, Any], value: dict[str, Any] | None, blank: Observation) -> Observation:
    row = replace(blank, group=data["group"], topic=data["topic"], partition=int(data["partition"]))
    if value is None:
        return replace(row, kind="tombstone", detail="committed offset")
    said = value["data"]
    epoch = int(said.get("leaderEpoch", -1))
    return replace(
        row,
        kind="commit",
        offset=int(said["offset"]),
        leader_epoch=epoch if epoch >= 0 else None,
        time_ms=int(said["commitTimestamp"]),
    )


def _group(data: dict[str, Any], kind: str, value: dict[str, Any] | None, blank: Observation) -> Observation:
    name = data["group"] if "group" in data else data["groupId"]
    row = replace(blank, group=name)
    if value is None:
        return replace(row, kind="tombstone", detail=f"{kind} group")
    said = value["data"]
    changed = int(said.get("currentStateTimestamp", -1))
    return replace(
        row,
        kind="group",
        generation=int(said["generation"] if kind == "classic" else said["epoch"]),
        detail=group_state(kind, len(said.get("members", ()))),
        time_ms=changed if changed >= 0 else blank.time_ms,
    )


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
