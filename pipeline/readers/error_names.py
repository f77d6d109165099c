"""The names of error codes, from what clients call them."""

import re
from typing import Final

from ...protocol.errors import ErrorCode, default_message

_UNLIKE: Final = {
    "OUT_OF_ORDER_SEQUENCE": "OUT_OF_ORDER_SEQUENCE_NUMBER",
    "INVALID_PID_MAPPING": "INVALID_PRODUCER_ID_MAPPING",
    "RETRIABLE_COMMIT_FAILED": "COORDINATOR_NOT_AVAILABLE",
    "NOT_LEADER_FOR_PARTITION": "NOT_LEADER_OR_FOLLOWER",
    "TIMEOUT": "REQUEST_TIMED_OUT",
}
"""Exceptions of Java's whose names are not those of their codes."""
_NAMED: Final = frozenset(each.name for each in ErrorCode)
_OF_LIBRDKAFKA: Final = {
    "Offset out of range": "OFFSET_OUT_OF_RANGE",
    "Unknown topic or partition": "UNKNOWN_TOPIC_OR_PARTITION",
    "Not leader for partition": "NOT_LEADER_OR_FOLLOWER",
    "Request timed out": "REQUEST_TIMED_OUT",
    "Coordinator load in progress": "COORDINATOR_LOAD_IN_PROGRESS",
    "Coordinator not available": "COORDINATOR_NOT_AVAILABLE",
    "Not coordinator": "NOT_COORDINATOR",
    "Not enough in-sync replicas": "NOT_ENOUGH_REPLICAS",
    "Message(s) written to insufficient": "NOT_ENOUGH_REPLICAS_AFTER_APPEND",
    "Specified group generation id": "ILLEGAL_GENERATION",
    "Unknown member": "UNKNOWN_MEMBER_ID",
    "Group rebalance in progress": "REBALANCE_IN_PROGRESS",
    "Broker received an out of order": "OUT_OF_ORDER_SEQUENCE_NUMBER",
    "Broker received a duplicate sequence": "DUPLICATE_SEQUENCE_NUMBER",
    "Producer attempted an operation with an old epoch": "INVALID_PRODUCER_EPOCH",
    "Producer attempted a transactional operation": "INVALID_TXN_STATE",
    "Producer attempted to use a producer id": "INVALID_PRODUCER_ID_MAPPING",
    "Producer attempted to update a transaction": "CONCURRENT_TRANSACTIONS",
    "Unknown Producer Id": "UNKNOWN_PRODUCER_ID",
    "Leader epoch is older": "FENCED_LEADER_EPOCH",
    "Leader epoch is newer": "UNKNOWN_LEADER_EPOCH",
    "There is a newer producer": "PRODUCER_FENCED",
    "Static consumer fenced": "FENCED_INSTANCE_ID",
    "There are unstable offsets": "UNSTABLE_OFFSET_COMMIT",
    "Group authorization failed": "GROUP_AUTHORIZATION_FAILED",
    "Topic authorization failed": "TOPIC_AUTHORIZATION_FAILED",
    "Invalid timestamp": "INVALID_TIMESTAMP",
    "Broker failed to validate record": "INVALID_RECORD",
}
"""What librdkafka prints after `Broker: ` (rdkafka.c), or its beginning."""
_BROKER: Final = re.compile(r"Broker: (?P<text>[A-Z][^\n]{0,200})")


def of_exception(name: str) -> str | None:
    """The code of `ProducerFencedException` or `NotCoordinatorError`; None if no broker answers it."""
    words = re.findall(r"[A-Z][a-z]+", re.sub(r"(?:Exception|Error)$", "", name[:80]))
    code = "_".join(words).upper()
    code = _UNLIKE.get(code, code)
    return code if code in _NAMED else None


def of_librdkafka(text: str) -> str | None:
    """The code that a line of librdkafka's names; None if it is none of a broker's."""
    found = _BROKER.search(text)
    if found is None:
        return None
    said = found["text"]
    return next((code for begin, code in _OF_LIBRDKAFKA.items() if said.startswith(begin)), None)


def of_text(text: str) -> str | None:
    """The first code that stands in a text by its own name."""
    return next((each for each in _CODE.findall(text) if each in _NAMED), None)


_CODE: Final = re.compile(r"\b[A-Z]{2,30}(?:_[A-Z]{1,30}){1,6}\b")


def of_message(text: str) -> str | None:
    """The code that a text says as Kafka's own messages do; only a message that no other code has counts."""
    return _BY_MESSAGE.get(text.strip())


_MESSAGES: Final = [(default_message(each), each.name) for each in ErrorCode]
_BY_MESSAGE: Final = {
    said: name for said, name in _MESSAGES if said and [each for each, _ in _MESSAGES].count(said) == 1
}
