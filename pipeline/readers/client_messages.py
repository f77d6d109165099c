"""Log messages of Java clients, from 0.10 to 4.x, about positions, commits, resets, groups and producers."""

import re
from typing import Final

from . import member_messages, producer_messages, share_messages
from .error_names import of_exception
from .log_entries import Entry
from .log_messages import Table, Values, message

_REFUSED: Final = "OFFSET_OUT_OF_RANGE"
_OFFSET: Final = re.compile(
    r"(?<![\w.-])(?P<tp>[\w.-]+-\d+)=OffsetAndMetadata\{offset=(?P<offset>-?\d+)"
    r"(?:, leaderEpoch=(?P<epoch>\w+))?"
)
_STRATEGY: Final = re.compile(r"earliest|latest|by_duration\S*", re.IGNORECASE)


def _diverged(entry: Entry, found: re.Match[str]) -> Values:
    row: Values = {"from_offset": int(found["offset_from"]), "detail": "truncation detected"}
    epoch = found["leader_epoch_from"]
    if number := re.search(r"\d+", epoch):
        row["leader_epoch"] = int(number[0])
    return row


def _asked(entry: Entry, found: re.Match[str]) -> Values:
    number = re.search(r"\d+", found["leader_epoch_from"])
    known = re.search(
        r"diverge FetchPosition\{offset=(\d+)|"
        r"end offset from the broker is .{0,300}?endOffset=(\d+)",
        entry.message,
    )
    end = next((int(each) for each in known.groups() if each), -1) if known else -1
    return {"leader_epoch": int(number[0]) if number else None, "end_offset": end}


def _strategy(entry: Entry, found: re.Match[str]) -> Values:
    named = _STRATEGY.search(found["detail"])
    return {"detail": named[0].lower() if named else found["detail"]}


def _joined(entry: Entry, found: re.Match[str]) -> Values:
    return {"detail": f"joined as {found['member']}" if found["member"] else "joined"}


def _error(entry: Entry, found: re.Match[str]) -> Values:
    name = found["exception"]
    return {"error": of_exception(name) or name}


TABLE: Final = Table.of(
    # Fetcher, FetchCollector
    message(
        "position", "Fetch position ", r"Fetch position {position} is out of range(?: for partition {tp})?"
    ),
    message(
        "refused",
        "Fetch position ",
        r"Fetch position {position} is out of range(?: for partition {tp})?"
        r"(?:, (?P<detail>resetting offset|raising error))?",
        api="Fetch",
        error=_REFUSED,
    ),
    message(
        "refused",
        "Fetch offset ",
        r"Fetch offset {offset} is out of range for partition {tp}, (?P<detail>resetting offset)",
        api="Fetch",
        error=_REFUSED,
    ),
    # SubscriptionState
    message(
        "reset",
        "Resetting offset for partition",
        r"Resetting offset for partition {tp} to position {position}",
    ),
    message(
        "reset",
        "Resetting offset for partition",
        r"Resetting offset for partition {tp} to offset {offset}",
    ),
    message(
        "reset",
        "Resetting offset for partition",
        r"Resetting offset for partition {tp} to (?P<detail>earliest|latest) offset",
    ),
    message(
        "reset",
        "Seeking to ",
        r"Seeking to (?!offset )(?P<detail>\S+(?: \S+)?) offset of partition {tp}",
        _strategy,
    ),
    message(
        "epoch-answer",
        "Truncation detected for partition",
        r"Truncation detected for partition {tp} at offset {position_from}",
        _asked,
    ),
    message(
        "reset",
        "Truncation detected for partition",
        r"Truncation detected for partition {tp} at offset {position_from}, resetting offset"
        r"(?: to the first offset known to diverge {position})?",
        _diverged,
    ),
    message(
        "position",
        "Seeking to offset",
        r"Seeking to offset {offset} for partition {tp}",
        detail="seek",
    ),
    # ConsumerCoordinator, ConsumerUtils, CommitRequestManager
    message(
        "restore",
        "to the committed offset",
        r"Setting offset for partition {tp} to the committed offset {position}",
    ),
    message(
        "restore",
        "to the committed offset",
        r"Setting offset for partition {tp} to the committed offset {offset}",
    ),
    message(
        "restore",
        "Found no committed offset",
        r"Found no committed offset for partition {tp}",
        offset=-1,
    ),
    message("commit", "ommitted offset ", r"Committed offset {offset} for partition {tp}"),
    message(
        "commit",
        "OffsetCommit completed",
        r"OffsetCommit completed successfully for offset {offset} partition {tp}",
    ),
    message(
        "refused",
        "Offset commit failed on partition",
        r"Offset commit failed on partition {tp} at offset {offset}: (?P<detail>[^\n]+)",
        api="OffsetCommit",
    ),
    message(
        "epoch-answer",
        "OffsetsForLeaderEpoch response for",
        r"Handling OffsetsForLeaderEpoch response for {tp}\. Got offset {end_offset} for "
        r"(?P<detail>epoch -?\d+)",
    ),
    # AbstractCoordinator and the membership managers
    message(
        "group",
        "Successfully joined group",
        r"Successfully joined group with generation (?:Generation\{generationId=)?{generation}"
        r"(?:, memberId='?(?P<member>[^',}]+))?",
        _joined,
    ),
    message(
        "group",
        "joining group due to",
        r"(?P<detail>Request joining group due to: [^\n]+?)(?: \([\w.]+\))?(?:\n|$)",
    ),
    message(
        "group",
        "trigger rebalance since",
        r"(?P<detail>Requesting to re-join the group and trigger rebalance since [\w ]+ has changed)",
    ),
    # Metadata
    message(
        "leader",
        "last seen epoch",
        r"Updating last seen epoch (?:from (?:-?\d+|null) to {leader_epoch} )?for partition {tp}"
        r"(?: from \S+ to epoch (?P<epoch>\d+) from new metadata)?",
        lambda _, found: {"epoch": None} | ({"leader_epoch": int(found["epoch"])} if found["epoch"] else {}),
    ),
    # Sender, TransactionManager
    message(
        "refused",
        "Got error produce response",
        r"Got error produce response (?:with|in) correlation id \d+ on topic-partition {tp}, .*?"
        r"Error: (?P<error>[A-Z_]+)",
        api="Produce",
    ),
    message(
        "refused",
        "The broker returned",
        r"The broker returned (?P<detail>(?:[\w.]+\.)?(?P<exception>\w+?)Exception: .*?) for "
        r"topic-partition {tp} with producerId {producer_id}, epoch {producer_epoch}, and sequence number "
        r"{sequence}",
        _error,
        api="Produce",
    ),
    message(
        "refused",
        "The broker returned",
        r"The broker returned (?P<detail>(?:[\w.]+\.)?(?P<exception>\w+?)Exception: .*?) for "
        r"topic-partition {tp} at offset {offset}",
        _error,
        api="Produce",
    ),
    message(
        "transaction",
        "ProducerId set to",
        r"ProducerId set to {producer_id} with epoch {producer_epoch}",
        detail="initialized",
    ),
    *producer_messages.CLIENT,
    *member_messages.JAVA,
    # AbstractConfig
    message(
        "config",
        "ProducerConfig values:",
        r"ProducerConfig values:\s*?\n\s*(?P<detail>acks = -?\w+)\n.*?\n\s*client\.id = (?P<client>[^\n]+)",
    ),
    *share_messages.CLIENT,
)

LISTS: Final = "commit: OffsetAndMetadata{"
"""The name of what `lists` knows."""
COMMIT_FAILED: Final = "CommitFailedException"
"""How clients name it that a group went on without the member that commits."""
_PUT_OUT: Final = (
    "Commit cannot be completed since the group has already rebalanced",
    "Offset commit cannot be completed since the consumer is not part of an active group",
)
_DONE: Final = re.compile(r"Completed (?:a?synchronous )?auto-commit of offsets")
_FAILED: Final = re.compile(r"(?:uto-commit of|Offset commit with) offsets \{")


def lists(entry: Entry) -> list[Values]:
    """The rows of messages that name many partitions with their offsets."""
    text = entry.message
    if "OffsetAndMetadata{" not in text:
        return []
    done = _DONE.search(text) is not None
    if not done and not ((failed := _FAILED.search(text)) and text.find("} failed", failed.end()) >= 0):
        return []
    error = None if done or not any(each in text for each in _PUT_OUT) else COMMIT_FAILED
    return [
        {
            "kind": "commit" if done else "refused",
            "api": None if done else "OffsetCommit",
            "error": error,
            "tp": each["tp"],
            "offset": int(each["offset"]),
            "leader_epoch": int(each["epoch"]) if (each["epoch"] or "").isdecimal() else None,
        }
        for each in _OFFSET.finditer(text)
    ]
