"""Errors that a healthy Kafka may answer at any time, by API: all of them say to try again."""

from typing import Final

_COORDINATOR: Final = ("NOT_COORDINATOR", "COORDINATOR_NOT_AVAILABLE", "COORDINATOR_LOAD_IN_PROGRESS")

ANSWERS: Final = {
    "Produce": ("NOT_LEADER_OR_FOLLOWER", "NOT_ENOUGH_REPLICAS", "REQUEST_TIMED_OUT", "KAFKA_STORAGE_ERROR"),
    "Fetch": ("NOT_LEADER_OR_FOLLOWER", "KAFKA_STORAGE_ERROR", "FENCED_LEADER_EPOCH", "UNKNOWN_LEADER_EPOCH"),
    "ListOffsets": ("NOT_LEADER_OR_FOLLOWER", "OFFSET_NOT_AVAILABLE"),
    "Metadata": ("LEADER_NOT_AVAILABLE",),
    "FindCoordinator": ("COORDINATOR_NOT_AVAILABLE",),
    "JoinGroup": _COORDINATOR,
    "SyncGroup": (*_COORDINATOR, "REBALANCE_IN_PROGRESS"),
    "Heartbeat": (*_COORDINATOR, "REBALANCE_IN_PROGRESS"),
    "OffsetCommit": (*_COORDINATOR, "REBALANCE_IN_PROGRESS"),
    "OffsetFetch": (*_COORDINATOR,),
    "InitProducerId": (*_COORDINATOR, "CONCURRENT_TRANSACTIONS"),
    "AddPartitionsToTxn": (*_COORDINATOR, "CONCURRENT_TRANSACTIONS"),
    "AddOffsetsToTxn": (*_COORDINATOR, "CONCURRENT_TRANSACTIONS"),
    "TxnOffsetCommit": _COORDINATOR,
    "EndTxn": (*_COORDINATOR, "CONCURRENT_TRANSACTIONS"),
}
