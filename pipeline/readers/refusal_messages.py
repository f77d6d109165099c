"""Log messages of brokers and clients that records were refused, and what applications log of the errors that
clients in Go and in JavaScript gave them.

An application's line is taken to be about the client after which its logger is named, as `%(name)s:` or
`[name]` in front of the error; the errors here are those that only producers get.
"""

import re
from typing import Final

from ...protocol.errors import error_name
from .denial_messages import TIMED_OUT
from .log_entries import Entry
from .log_messages import Message, Table, Values, message

_TEXTS: Final = {
    "The request included a message larger than the max message size": "MESSAGE_TOO_LARGE",
    "Message was too large, server rejected it": "MESSAGE_TOO_LARGE",
    "The request included message batch larger than the configured segment size": "RECORD_LIST_TOO_LARGE",
    "Messages are rejected since there are fewer in-sync replicas than required": "NOT_ENOUGH_REPLICAS",
    "Messages are written to the log, but to fewer in-sync replicas": "NOT_ENOUGH_REPLICAS_AFTER_APPEND",
    "This record has failed the validation on": "INVALID_RECORD",
    "The timestamp of the message is out of acceptable range": "INVALID_TIMESTAMP",
    "Producer attempted an operation with an old epoch": "INVALID_PRODUCER_EPOCH",
    "The producer attempted to use a producer id which is not currently": "INVALID_PRODUCER_ID_MAPPING",
    "There is a newer producer with the same transactionalId": "PRODUCER_FENCED",
    "There is a newer producer using the same transactional_id": "PRODUCER_FENCED",
}
"""How KafkaJS (protocol/error.js), sarama and aiokafka (errors.go, errors.py) begin to tell an error code."""
GIVEN: Final = "given to the application"
"""What the application itself logged: its client did not get over the error."""
_CODES: Final = ("MESSAGE_TOO_LARGE", "NOT_ENOUGH_REPLICAS", "INVALID_PRODUCER_EPOCH", "PRODUCER_FENCED")
"""Those that franz-go names (kerr)."""
TRANSACTION_TIMEOUT: Final = "INVALID_TRANSACTION_TIMEOUT"
SESSION_TIMEOUT: Final = "INVALID_SESSION_TIMEOUT"
TOO_LARGE: Final = ("MESSAGE_TOO_LARGE", "RECORD_LIST_TOO_LARGE")
INVALID: Final = ("INVALID_RECORD", "INVALID_TIMESTAMP")
TOO_FEW: Final = ("NOT_ENOUGH_REPLICAS", "NOT_ENOUGH_REPLICAS_AFTER_APPEND")
_INVALID: Final = r"(?P<exception>InvalidRecord|InvalidTimestamp)(?:Exception|Error)"
_OF_BATCHES: Final = r"\[Error (?P<code>10|18|32|87)\] "
"""The codes of `_TEXTS` and of INVALID that kafka-python numbers."""
_OF_KAFKA_GO: Final = r"\[(?P<code>10|18|19|20|32|87)\] "
_FIRST: Final = re.compile(r"message='([^'\n]{1,200})")
_OUT_OF_RANGE: Final = re.compile(r"Timestamp \d{1,20} of message with offset \d{1,20} is out of range")
_ANY: Final = "|".join(map(re.escape, _TEXTS))
_APIS: Final = "Produce|InitProducerId|AddPartitionsToTxn|AddOffsetsToTxn|EndTxn|TxnOffsetCommit"
_OF_TRANSACTIONS: Final = ("INVALID_PRODUCER_EPOCH", "INVALID_PRODUCER_ID_MAPPING", "PRODUCER_FENCED")
_WHO: Final = r"^\W*(?:ERROR|WARN|WARNING|CRITICAL|FATAL)\W+(?P<client>[\w.-]{1,200})(?:\]|:)\s"


def _named(_: Entry, found: re.Match[str]) -> Values:
    """By which api a transaction's error was answered is not told."""
    error = next(code for text, code in _TEXTS.items() if found["said"].startswith(text))
    return {"error": error} | ({} if error in _OF_TRANSACTIONS else {"api": "Produce"})


def _answered(_: Entry, found: re.Match[str]) -> Values:
    return _named(_, found) | {"api": found["api"]}


def _of_application(text: str) -> Message:
    between = r"(?:[\w.]{1,80}: ){1,3}(?:kafka server: )?"
    return message("refused", text, rf"{_WHO}{between}(?P<said>{re.escape(text)})", _named, detail=GIVEN)


def _below(_: Entry, found: re.Match[str]) -> Values:
    """In the words of later releases."""
    size = f"The size of the current ISR {found['isr']}"
    return {"detail": f"{size} is insufficient to satisfy the min.isr requirement of {found['least']}"}


def _invalid(_: Entry, found: re.Match[str]) -> Values:
    """A batch's error may be another one than that of its records, which says why."""
    first = _FIRST.search(found["why"])
    why = (first[1] if first else found["why"]).strip()[:200]
    return {
        "error": INVALID[found["exception"] != "InvalidRecord" or bool(_OUT_OF_RANGE.search(why))],
        "detail": why,
    }


def _numbered(_: Entry, found: re.Match[str]) -> Values:
    return {"error": error_name(int(found["code"])), "detail": found["why"].strip()[:200]}


BROKER: Final = (
    # ReplicaManager, which logs INVALID_RECORD
    message(
        "refused",
        "Error processing append operation on partition ",
        rf"Error processing append operation on partition (?:[\w-]{{22}}:)?{{tp}}[^\n]{{0,100}}\n"
        rf"[^\n]{{0,100}}?{_INVALID}: (?P<why>[^\n]{{1,1000}})",
        _invalid,
        api="Produce",
    ),
    # Partition up to 2.0
    message(
        "refused",
        "below required minimum [",
        r"Number of insync replicas for partition {tp} is \[(?P<isr>\d{1,4})\], below required minimum "
        r"\[(?P<least>\d{1,4})\]",
        _below,
        api="Produce",
        error="NOT_ENOUGH_REPLICAS",
    ),
    # UnifiedLog, Partition, as ReplicaManager logs their exceptions
    message(
        "refused",
        "is insufficient to satisfy the min.isr requirement",
        r"NotEnoughReplicasException: (?P<detail>The size of the current ISR[^\n]{1,100}? is insufficient to "
        r"satisfy the min\.isr requirement of \d+ for partition {tp})",
        api="Produce",
        error="NOT_ENOUGH_REPLICAS",
    ),
)
TABLE: Final = Table.of(
    # KafkaJS, network/connection.js
    message(
        "refused",
        "[Connection] Response ",
        rf"clientId=(?P<client>[^,\]]{{1,1000}}+)[^\n]*?\] \[Connection\] Response (?P<api>{_APIS})"
        rf"\(key: \d+, version: \d+\); [^\n]*?error: (?P<said>{_ANY})",
        _answered,
    ),
    # franz-go, sink.go
    message(
        "refused",
        "batch in a produce request failed",
        r"batch in a produce request failed; broker: -?\d+, topic: (?P<topic>[^,\s]+), "
        rf"partition: {{partition}}, err: (?P<error>{'|'.join(_CODES)}): ",
        api="Produce",
    ),
    # sarama, async_producer.go
    message(
        "refused",
        "state change to [retrying] on ",
        r"state change to \[retrying\] on (?P<topic>[\w.-]+)/{partition} because kafka server: "
        rf"(?P<said>{_ANY})",
        _named,
    ),
    *map(_of_application, _TEXTS),
    # kafka-go, writer.go
    message(
        "refused",
        "error writing messages to ",
        r"error writing messages to (?P<topic>[\w.-]{1,249}) \(partition {partition}, attempt \d{1,9}\): "
        rf"{_OF_KAFKA_GO}(?P<why>[^\n]{{1,300}})",
        _numbered,
        api="Produce",
    ),
    message(
        "refused",
        "Message Size Too Large: [10] ",
        rf"{_WHO}[\w ]{{1,80}}: \[10\] Message Size Too Large",
        api="Produce",
        error="MESSAGE_TOO_LARGE",
        detail=GIVEN,
    ),
    # What applications log of franz-go's error
    message(
        "refused",
        "UNKNOWN_TOPIC_OR_PARTITION: This server",
        rf"{_WHO}(?P<error>UNKNOWN_TOPIC_OR_PARTITION): This server does not host this topic-partition",
        api="Produce",
        detail=GIVEN,
    ),
    # What applications log of Java's and Python's errors
    *(
        message(
            "refused",
            text,
            rf"{_WHO}(?:[\w.]{{1,80}}: )?{_INVALID}: (?:\[Error \d+\] \w+: )?(?P<why>[^\n]{{1,1000}})",
            _invalid,
            api="Produce",
        )
        for text in ("InvalidRecord", "InvalidTimestamp")
    ),
    # What applications log of any client's error: Errors.INVALID_TRANSACTION_TIMEOUT
    message(
        "refused",
        "ransaction timeout is larger than the maximum value",
        rf"{_WHO}[^\n]{{0,300}}?ransaction timeout is larger than the maximum value",
        api="InitProducerId",
        error=TRANSACTION_TIMEOUT,
        detail=GIVEN,
    ),
    message(
        "refused",
        "InvalidTransactionTimeout: ",
        rf"{_WHO}InvalidTransactionTimeout(?:Error)?: ",
        api="InitProducerId",
        error=TRANSACTION_TIMEOUT,
        detail=GIVEN,
    ),
    # What applications log of Java's errors, and of librdkafka's
    message(
        "refused",
        " present in metadata after ",
        rf"{_WHO}[^\n]{{0,100}}?(?:Partition {{partition}} of topic|Topic) (?P<topic>[\w.-]{{1,249}}) "
        r"(?:with partition count \d{1,10} is )?not present in metadata after ",
        api="Produce",
        error="UNKNOWN_TOPIC_OR_PARTITION",
        detail=GIVEN,
    ),
    message(
        "refused",
        "Local: Unknown partition",
        rf"{_WHO}[^\n]{{0,100}}?Local: Unknown partition",
        api="Produce",
        error="UNKNOWN_TOPIC_OR_PARTITION",
        detail=GIVEN,
    ),
    message(
        "complaint",
        " ms has passed since batch creation",
        rf"{_WHO}[\w.]{{1,80}}: Expiring \d{{1,10}} record\(s\) for {{tp}}:\d{{1,20}} ms has passed since",
        error=TIMED_OUT,
    ),
    message(
        "complaint",
        "Local: Message timed out",
        rf"{_WHO}[^\n]{{0,100}}?Local: Message timed out",
        error=TIMED_OUT,
    ),
    # kafka-python, producer/sender.py
    message(
        "refused",
        "Aborting producer batches due to fatal error: ",
        r"client_id=(?P<client>[^\s,>=]{1,300})[\s,>][^\n]{0,100}?"
        r"Aborting producer batches due to fatal error: "
        rf"{_OF_BATCHES}(?P<why>[^\n]{{1,300}})",
        _numbered,
        api="Produce",
    ),
    *(
        message(
            "refused",
            f"{code}: ",
            rf"{_WHO}(?:[\w.]{{1,80}}: )?(?P<error>{code}): (?:The|There|Messages|Producer) ",
            detail=GIVEN,
            api=None if code in _OF_TRANSACTIONS else "Produce",
        )
        for code in _CODES
    ),
)
