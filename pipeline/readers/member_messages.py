"""Log messages of Java's, Python's and librdkafka's group members: what they were given, and why they left.

Comments name the classes and files that log them.
"""

import re
from collections.abc import Iterator
from typing import Final

from .error_names import of_exception, of_librdkafka, of_message
from .log_entries import Entry
from .log_messages import END, Values, listed, message, split

_PARTITIONS: Final = listed("topic", r"\]? will be removed due to revocation")
UNKNOWN: Final = "?"
"""A member whose id is not told."""
OVERRAN: Final = "left: max.poll.interval.ms passed"
"""What a member is said to have done that did not poll in time."""


def _left(_: Entry, found: re.Match[str]) -> Values:
    return {"detail": f"{found.groupdict().get('member') or UNKNOWN} left: {found['why']}"}


def _overran(_: Entry, found: re.Match[str]) -> Values:
    by = found.groupdict().get("by")
    more = f", by {by} ms" if by else ""
    return {"detail": f"{found.groupdict().get('member') or UNKNOWN} {OVERRAN}{more}"}


def _assigned(_: Entry, found: re.Match[str]) -> Values:
    how = found["how"].lower()
    did = (
        "revoked" if how.startswith("revok") else "lost" if how.startswith(("lost", "giving")) else "assigned"
    )
    return {"detail": f"{did}: {found['what'].strip()[:300]}"}


def _refused(_: Entry, found: re.Match[str]) -> Values:
    error = found.groupdict().get("error")
    exception = found.groupdict().get("exception")
    return {
        "error": error or (exception and (of_exception(exception) or exception)),
        "detail": found["why"].strip(),
    }


def _fatal(_: Entry, found: re.Match[str]) -> Values:
    return {"error": of_message(found["detail"])}


def _of_librdkafka(_: Entry, found: re.Match[str]) -> Values:
    error = "PRODUCER_FENCED" if "(_FENCED)" in found[0] else of_librdkafka(found[0])
    return (
        {"error": error, "detail": found[0][:300]}
        if error
        else {"kind": "complaint", "detail": found[0][:300]}
    )


def _paused(found: re.Match[str]) -> Iterator[Values]:
    for each in _PARTITIONS(found):
        yield split(each["topic"])


FATAL: Final = "fatal: "
"""How the detail of an error begins after which a client sends nothing more."""


def _of_fatal(_: Entry, found: re.Match[str]) -> Values:
    return {"error": of_librdkafka(found[0]), "detail": f"{FATAL}{found[0][:300]}"}


UNREADABLE: Final = "RecordDeserializationException"
"""What a client is said to have told that can't read a record."""

JAVA: Final = (
    # CompletedFetch; whoever polls logs it
    message(
        "complaint",
        "Error deserializing ",
        r"(?P<detail>Error deserializing [\w/ ]{3,20} for partition {tp} at offset {offset}[^\n]{0,200})",
        error=UNREADABLE,
    ),
    # AbstractCoordinator, AbstractHeartbeatRequestManager
    message(
        "member",
        "sending LeaveGroup request",
        rf"Member (?P<member>\S+) sending LeaveGroup request to coordinator .*? due to "
        rf"(?P<why>[^\n]+?){END}",
        _left,
    ),
    message(
        "member",
        "onsumer poll timeout has expired. This means",
        r"onsumer poll timeout has expired\. This means",
        _overran,
    ),
    message(
        "member",
        "Time between subsequent calls to poll()",
        r"was longer than the configured max\.poll\.interval\.ms, exceeded approximately by "
        r"(?P<by>\d+) ms\. Member "
        r"(?P<member>\S+) will rejoin",
        _overran,
    ),
    message(
        "refused",
        "Attempt to heartbeat ",
        r"Attempt to heartbeat with (?:stale )?(?P<why>.*?) failed due to "
        r"(?:\w+\()?(?P<error>[A-Z_]{5,60})?[^\n]*",
        _refused,
        api="Heartbeat",
    ),
    *(
        message("refused", f"{api} failed: ", rf"{api} failed: (?P<why>[^\n]+?){END}", _refused, api=api)
        for api in ("JoinGroup", "SyncGroup")
    ),
    message(
        "refused",
        "JoinGroup failed due to fatal error",
        rf"JoinGroup failed due to fatal error: (?P<detail>[^\n]+?){END}",
        _fatal,
        api="JoinGroup",
    ),
    message(
        "group",
        "esetting generation ",
        rf"(?P<detail>Resetting generation [^\n]*?due to: [^\n]+?){END}",
    ),
    message(
        "group",
        "synced group in generation",
        r"Successfully synced group in generation Generation\{generationId={generation}",
        detail="synced",
    ),
    # ConsumerRebalanceListenerInvoker
    message(
        "paused",
        "will be removed due to revocation",
        r"The pause flag in partitions \[?",
        several=_paused,
    ),
    # ConsumerCoordinator, ConsumerRebalanceListenerInvoker
    message(
        "refused",
        "Failing OffsetCommit request since",
        r"(?P<detail>Failing OffsetCommit request since the consumer is not part of an active group)",
        api="OffsetCommit",
        error="UNKNOWN_MEMBER_ID",
    ),
    message(
        "refused",
        "OffsetCommit failed with",
        rf"OffsetCommit failed with (?P<why>[^\n]+?){END}",
        _refused,
        api="OffsetCommit",
    ),
    *(
        message(
            "group",
            text,
            rf"(?P<how>Adding|Revok\w+|Lost) (?:newly|previously) assigned partitions:? "
            rf"?(?P<what>[^\n]*?){END}",
            _assigned,
        )
        for text in ("newly assigned partitions", "previously assigned partitions")
    ),
    message(
        "group",
        "Giving away all assigned partitions as lost",
        rf"(?P<how>Giving) away all assigned partitions as lost since (?P<what>[^\n]+?){END}",
        _assigned,
    ),
)

LIBRDKAFKA: Final = (
    # rdkafka_cgrp.c
    message(
        "member",
        "Application maximum poll interval",
        r"Application maximum poll interval \(\d+ms\) exceeded by (?P<by>\d+)ms",
        _overran,
    ),
    message(
        "member",
        "group session timed out",
        r"(?P<why>Consumer group session timed out [^\n]*?): revoking assignment",
        _left,
    ),
    message(
        "refused",
        "Offset commit (",
        r"Offset commit \([^)]*\) failed for \d+/\d+ partition\(s\)[^\n]*",
        _of_librdkafka,
        api="OffsetCommit",
    ),
    # rdkafka_txnmgr.c
    *(
        message("refused", text, pattern, _of_librdkafka, api=api)
        for text, pattern, api in (
            ("Fatal transaction error", r"Fatal transaction error: [^\n]*", None),
            ("Current transaction failed in state", r"Current transaction failed in state [^\n]*", None),
            (
                "Failed to add partition",
                r'Failed to add partition "(?P<topic>[^"]+)" \[{partition}\] to transaction: [^\n]*',
                "AddPartitionsToTxn",
            ),
            (
                "Failed to add partition",
                r"Failed to add partition(?:s|\(s\)) to transaction[^\n]*",
                "AddPartitionsToTxn",
            ),
            (
                "Failed to add offsets to transaction",
                r"Failed to add offsets to transaction[^\n]*",
                "AddOffsetsToTxn",
            ),
            ("Failed to end transaction", r"Failed to end transaction[^\n]*", "EndTxn"),
        )
    ),
    # rdkafka_idempotence.c
    message(
        "refused",
        "Failed to acquire transactional PID from broker",
        r"Failed to acquire transactional PID from broker [^\n:]+: Broker: (?:There is a newer producer|"
        r"Producer attempted to use a producer id)[^\n]*",
        _of_librdkafka,
        api="InitProducerId",
    ),
    # rdkafka_request.c
    message(
        "refused",
        "failed due to sequence desynchronization",
        r"Fatal error: Broker: [^\n:]{1,200}+: ProduceRequest for (?P<topic>\S{1,249}) \[{partition}\] with "
        r"\d{1,9} message\(s\) failed due to sequence desynchronization with broker -?\d{1,9} "
        r"\(PID\{Id:{producer_id},Epoch:{producer_epoch}\}",
        _of_fatal,
        api="Produce",
    ),
    message(
        "refused",
        "ProduceRequest for ",
        r"ProduceRequest for (?P<topic>[\w.-]+) \[{partition}\] with \d+ message\(s\) failed: [^\n]*",
        _of_librdkafka,
        api="Produce",
    ),
)
