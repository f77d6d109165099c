"""Log messages of KafkaJS, franz-go, sarama and kafka-go about positions, groups and producers."""

import re
from collections.abc import Iterator
from typing import Final

from ...protocol.errors import error_name
from .log_entries import Entry
from .log_messages import Table, Values, message

_PLACE: Final = r"topic: (?P<topic>[\w.-]+), partition: {partition}"
_PARTITION: Final = re.compile(r"partition (\d{1,9})")


UNSUBSCRIBED: Final = "received unsubscribed topics"
"""What a member says that was given partitions of a topic that it does not read."""


def _numbered(_: Entry, found: re.Match[str]) -> Values:
    return {"error": error_name(int(found["code"]))}


def _quoted(found: re.Match[str]) -> Iterator[Values]:
    names = found.string[found.end() :].partition("]")[0]
    for topic in names.split(", "):
        yield {"topic": topic.strip("'\"")}


def _committed(found: re.Match[str]) -> Iterator[Values]:
    """Each topic is in a line of its own, before its partitions."""
    topic = None
    for line in found.string[found.end() :].split("\n"):
        named, _, value = line.strip().partition(": ")
        if named == "topic":
            topic = value
        elif topic is not None and (partition := _PARTITION.fullmatch(named)) and value.isdecimal():
            yield {"topic": topic, "partition": int(partition[1]), "offset": int(value)}


TABLE: Final = Table.of(
    # KafkaJS, consumerGroup.js
    message(
        "refused",
        "Offset out of range, resetting to default offset",
        rf"Offset out of range, resetting to default offset.*?{_PLACE}",
        api="Fetch",
        error="OFFSET_OUT_OF_RANGE",
    ),
    message(
        "reset",
        "Offset out of range, resetting to default offset",
        rf"Offset out of range, resetting to default offset.*?{_PLACE}",
        detail="default offset",
    ),
    # KafkaJS, consumerGroup.js
    message(
        "complaint",
        UNSUBSCRIBED,
        rf"(?P<detail>Consumer group {UNSUBSCRIBED}); topicsNotSubscribed: \[",
        several=_quoted,
    ),
    # KafkaJS, errors.js and protocol/error.js
    *(
        message("refused", text, rf"Crash: KafkaJSProtocolError: {text}", api="JoinGroup", error=error)
        for text, error in (
            ("The group member's supported protocols are incompatible", "INCONSISTENT_GROUP_PROTOCOL"),
            ("The consumer group has reached its max size", "GROUP_MAX_SIZE_REACHED"),
            ("The session timeout is not within the range allowed by the broker", "INVALID_SESSION_TIMEOUT"),
        )
    ),
    # franz-go, source.go
    message(
        "refused",
        "received OFFSET_OUT_OF_RANGE",
        rf"received OFFSET_OUT_OF_RANGE.*?{_PLACE}, prior_offset: {{offset}}",
        api="Fetch",
        error="OFFSET_OUT_OF_RANGE",
    ),
    message(
        "reset",
        "received OFFSET_OUT_OF_RANGE",
        rf"received OFFSET_OUT_OF_RANGE.*?{_PLACE}, prior_offset: {{from_offset}}",
        detail="configured offset",
    ),
    # franz-go, producer.go, txn.go, consumer_group.go
    message(
        "transaction",
        "producer id initialization success",
        r"producer id initialization success; id: {producer_id}, epoch: {producer_epoch}",
        detail="initialized",
    ),
    message(
        "transaction",
        "bumping idempotent producer epoch",
        r"locally bumping idempotent producer epoch [^;\n]*; id: {producer_id}, old_epoch: -?\d+, new_epoch: "
        r"{producer_epoch}",
        detail="begins the next epoch",
    ),
    *(
        message(
            "transaction",
            text,
            rf"{text}; transactional_id: (?P<transactional_id>[^,\s]+), [^\n]*?producer_id: {{producer_id}}, "
            r"epoch: {producer_epoch}",
            detail=detail,
        )
        for text, detail in (
            ("ending transaction", "ending"),
            ("end transaction response successfully received", "ended"),
        )
    ),
    message(
        "group",
        "joined, balancing group",
        r"joined, balancing group; group: (?P<group>[^,\s]+), [^\n]*?generation: {generation}",
        detail="joined",
    ),
    *(
        message(
            "refused",
            text,
            rf"{text}; group: (?P<group>[^,\s]+), err: (?P<error>[A-Z][A-Z_]{{4,60}}): "
            r"(?P<detail>[^\n]{1,300})",
            api=api,
        )
        for text, api in (("join group failed", "JoinGroup"), ("heartbeat errored", "Heartbeat"))
    ),
    message(
        "refused",
        "unable to commit offset for topic partition",
        r"unable to commit offset for topic partition; group: (?P<group>[^,\s]+), topic: "
        r"(?P<topic>[\w.-]+), partition: {partition}, commit_from: -?\d+, commit_to: {offset}, "
        r"[^\n]*?error_code: (?P<code>\d{1,4})",
        _numbered,
        api="OffsetCommit",
    ),
    message(
        "refused",
        "in default commit: unable to commit offsets",
        r"unable to commit offsets for topic partition; group: (?P<group>[^,\s]+), topic: "
        r"(?P<topic>[\w.-]+), partition: {partition}, error: (?P<error>[A-Z][A-Z_]{4,60}): ",
        api="OffsetCommit",
    ),
    # sarama, transaction_manager.go
    message(
        "transaction",
        "txnmgr/init-producer-id",
        r"txnmgr/init-producer-id \[(?P<transactional_id>[^\]\s]+)\] obtained a ProducerId: {producer_id} "
        r"and ProducerEpoch: {producer_epoch}",
        detail="initialized",
    ),
    # kafka-go, consumergroup.go, reader.go
    message(
        "refused",
        "Failed to join group",
        r"Failed to join group (?P<group>\S+): \[(?P<code>\d{1,4})\]",
        _numbered,
        api="JoinGroup",
    ),
    message(
        "group",
        "oined group ",
        r"[Jj]oined group (?P<group>\S+) as member \S+ in generation {generation}",
        detail="joined",
        begins="with",
    ),
    message(
        "commit",
        "committed offsets for group",
        r"committed offsets for group (?P<group>[^\n]{1,300}?): ?(?:\n|$)",
        several=_committed,
    ),
    message(
        "restore",
        "initializing kafka reader for partition",
        r"initializing kafka reader for partition {partition} of (?P<topic>\S+) starting at offset "
        r"(?:first|last) offset",
        offset=-1,
        begins="from",
    ),
    message(
        "position",
        "initializing kafka reader for partition",
        r"initializing kafka reader for partition {partition} of (?P<topic>\S+) starting at offset {offset}",
        begins="from",
    ),
    message(
        "position",
        "the kafka reader for partition",
        r"the kafka reader for partition {partition} of (?P<topic>\S+) is seeking to offset {offset}",
        detail="seek",
        begins="there",
    ),
    message(
        "reset",
        "the kafka reader is reading before the first offset for partition",
        r"is reading before the first offset for partition {partition} of (?P<topic>\S+), skipping from "
        r"offset {from_offset} to {offset} ",
    ),
)
