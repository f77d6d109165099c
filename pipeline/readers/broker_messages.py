"""Log messages of brokers and controllers, from 0.8.2 to 4.x, about offsets, epochs and replicas.

Comments name the classes that log them; texts differ by release, and each form has its own entry.
"""

import re
from typing import Final

from . import (
    administration_messages,
    broker_life_messages,
    coordinator_messages,
    denial_messages,
    producer_messages,
    refusal_messages,
    rejection_messages,
    share_messages,
)
from .log_entries import Entry, cause
from .log_messages import Table, Values, message

BEYOND: Final = "beyond "
"""How the detail of a deletion begins that is due to retention.bytes."""
NO_DISK: Final = "its disk has failed"
"""Why a broker can't lead a partition that it should."""
COMPACTED: Final = "compacted"
"""What the cleaner did with a log."""
_ERRORS: Final = {
    "OutOfOrderSequence": "OUT_OF_ORDER_SEQUENCE_NUMBER",
    "UnknownProducerId": "UNKNOWN_PRODUCER_ID",
    "ProducerFenced": "PRODUCER_FENCED",
    "InvalidProducerEpoch": "INVALID_PRODUCER_EPOCH",
}
_HIGHER: Final = re.compile(
    r"Cannot increment the log start offset to (\d+) of partition \S+ since it is larger than "
    r"the high watermark (\d+)"
)


def _failed(entry: Entry, found: re.Match[str]) -> Values:
    """`offset` is the log start offset that a follower could not move to (KAFKA-7104), else where it
    fetched."""
    row: Values = {"detail": cause(entry) or found[0].partition("\n")[0]}
    if higher := _HIGHER.search(entry.whole):
        row["from_offset"] = int(found["offset"])
        row["offset"], row["end_offset"] = int(higher[1]), int(higher[2])
    return row


def _shrunk(entry: Entry, found: re.Match[str]) -> Values:
    return {"detail": f"{'shrank' if found['how'] == 'Shrinking' else 'grew'} from {found['before']}"}


def _unclean(entry: Entry, found: re.Match[str]) -> Values:
    return {"detail": "unclean"} if found["unclean"] else {}


def _error(entry: Entry, found: re.Match[str]) -> Values:
    return {"error": _ERRORS[found["exception"]]}


TABLE: Final = Table.of(
    # AbstractFetcherThread, ReplicaFetcherThread
    message(
        "truncation",
        "Truncating partition",
        r"Truncating partition {tp} with TruncationState\(offset={offset}, completed=\w+\) "
        r"(?P<detail>due to leader epoch and offset EpochEndOffset\("
        r"(?:errorCode=\d+, partition=\d+, )?leaderEpoch={leader_epoch}, endOffset=-?\d+\))",
    ),
    message(
        "truncation",
        "Truncating partition",
        r"Truncating partition {tp} with TruncationState\(offset={offset}, completed=\w+\) "
        r"(?P<detail>due to (?!leader epoch and offset EpochEndOffset).*?)(?: \([\w.]+\))?(?:\n|$)",
    ),
    message(
        "truncation",
        "to local high watermark",
        r"Truncating partition {tp} to (?P<detail>local high watermark) {offset}",
    ),
    message(
        "truncation",
        "runcating partition",
        r"[Tt]runcating partition (?:{tp} )?to (?:offset )?{offset}",
    ),
    message(
        "truncation",
        "below high watermark",
        r"Truncating (?:future )?{tp} to offset {offset} (?P<detail>below high watermark \d+)",
    ),
    message(
        "truncation",
        "eset fetch offset for partition",
        r"(?:Truncate fully and r|R)eset fetch offset for partition {tp} from {from_offset} to (?:the )?"
        r"current (?P<detail>leader's (?:start|latest) offset) {offset}",
    ),
    message(
        "refused",
        "Reset fetch offset to",
        r"Current offset {from_offset} for partition {tp} is out of range, .*?"
        r"Reset fetch offset to {offset}",
        error="OFFSET_OUT_OF_RANGE",
        api="Fetch",
        detail="follower",
    ),
    message(
        "follower-failure",
        "rror processing data for partition",
        r"[Ee]rror processing data for partition {tp} offset {offset}",
        _failed,
    ),
    message(
        "follower-failure",
        "processing data for partition",
        r"while processing data for partition {tp} at offset {offset}",
        _failed,
    ),
    message(
        "follower-failure",
        "ound invalid messages during fetch",
        r"[Ff]ound invalid messages during fetch for partition {tp} offset {offset}",
        _failed,
    ),
    message(
        "follower-failure",
        "marked as failed",
        r"Partition {tp} (?P<detail>marked as failed)",
    ),
    # Log, UnifiedLog
    message("truncation", "Truncating to offset", r"Truncating to offset {offset}"),
    message(
        "log-start",
        "log start offset",
        r"Increment(?:ing|ed) log start offset (?:of partition {tp} )?to {offset}"
        r"(?: due to (?P<detail>.+?)(?: \([\w.]+\))?(?:\n|$))?",
    ),
    # UnifiedLog, up to 2.8 Log: W is when the segment's file was changed last
    message(
        "expiry",
        "breach based on the largest record timestamp",
        r"Deleting segment LogSegment\(baseOffset={offset}, size=\d+, "
        r"lastModifiedTime=(?P<written_from>\d+), "
        r"largestRecordTimestamp=(?:Some\()?(?P<stamp_from>\d+)\)?\) due to (?:log )?retention time "
        r"(?P<kept_from>\d+)ms breach",
        lambda _, found: {
            "detail": f"after {found['kept_from']} ms: written until {found['written_from']}, "
            f"timestamps until {found['stamp_from']}"
        },
    ),
    message(
        "expiry",
        "retention size ",
        r"Deleting segment LogSegment\(baseOffset={offset}, size=\d+, [^)\n]{1,200}\)?\) due to (?:log )?"
        r"retention size (?:in bytes )?(?P<kept_from>\d+) breach",
        lambda _, found: {"detail": f"{BEYOND}{found['kept_from']} bytes"},
    ),
    message(
        "log-start",
        "ompleted load of log",
        r"Completed load of log (?:(?P<name>\S+) )?with \d+ (?:log )?segments, log start offset {offset} "
        r"and log end offset {end_offset}",
        lambda _, found: {"name": None, "detail": "loaded"},
    ),
    message(
        "log-start",
        "ompleted load of Log(",
        r"Completed load of Log\(.*?topic=(?P<topic>[\w.-]+), partition={partition}, .*?"
        r"logStartOffset={offset}, logEndOffset={end_offset}\)",
        detail="loaded",
    ),
    message(
        "high-watermark",
        "initial high watermark",
        r"Log loaded for partition {tp} with initial high watermark {offset}",
        detail="loaded",
    ),
    message(
        "high-watermark",
        "on-monotonic update of high watermark",
        r"Non-monotonic update of high watermark from \(?offset={from_offset}[^)]*\)? to \(?offset={offset}",
        detail="fell",
    ),
    # LogManager; ReplicationControlManager
    message(
        "log",
        "Created log for partition",
        r"Created log for partition {tp} in (?!\S+-future)",
        detail="created",
    ),
    # LogCleaner, Cleaner
    message(
        "log",
        "Building offset map for log",
        r"Building offset map for log {tp} for \d+ segments in offset range \[{from_offset}, {end_offset}\)",
        detail=COMPACTED,
    ),
    message("log", "is renamed to", r"Log for partition {tp} is renamed to \S+-delete ", detail="deleted"),
    message(
        "log", "TopicRecord for topic", r"Replayed TopicRecord for topic (?P<topic>\S+) ", detail="created"
    ),
    message(
        "topic-id",
        "TopicRecord for topic",
        r"Replayed TopicRecord for topic (?P<topic>\S+) with topic ID (?P<detail>[\w-]{22})",
    ),
    message(
        "log",
        "TopicRecord for topic",
        r"Replayed RemoveTopicRecord for topic (?P<topic>\S+) ",
        detail="deleted",
    ),
    message(
        "truncation",
        "orruption found in segment",
        r"(?P<detail>Corruption found in segment \d+), truncating to offset {offset}",
    ),
    # ProducerStateManager, ProducerAppendInfo, as reported by ReplicaManager
    message(
        "refused",
        "sequence number for producer",
        r"(?P<exception>OutOfOrderSequence)Exception: (?P<detail>Out of order sequence number for "
        r"producer(?:Id)? {producer_id}(?: at offset {offset} in partition {tp})?: (?:found )?{sequence} "
        r"\(incoming seq\. number\),? [^\n]+)",
        _error,
        api="Produce",
    ),
    message(
        "refused",
        "Found no record of producerId",
        r"(?P<exception>UnknownProducerId)Exception: (?P<detail>Found no record of producerId={producer_id} "
        r"on the broker(?: at offset {offset} ?in partition {tp}\.)?[^\n]*)",
        _error,
        api="Produce",
    ),
    message(
        "refused",
        "sequence number for new epoch",
        r"(?P<exception>OutOfOrderSequence)Exception: (?P<detail>Invalid sequence number for new epoch"
        r"(?: of producer {producer_id} ?)?(?: ?at offset {offset} in partition {tp})?: "
        r"{producer_epoch} \(request epoch\), {sequence} \(seq\. number\)[^\n]*)",
        _error,
        api="Produce",
    ),
    # Partition
    message(
        "in-sync-replicas",
        " ISR from ",
        r"(?:\[Partition {tp} broker={leader}\].*?)?(?P<how>Shrinking|Expanding) ISR from "
        r"\[?(?P<before>[\d, ]+)\]? to \[?{replicas}\]?",
        _shrunk,
    ),
    message(
        "high-watermark",
        "(highWatermark: ",
        r"(?:\[Partition {tp} broker=\d+\].*?)?\(highWatermark: {offset}, endOffset: {end_offset}\)",
    ),
    message(
        "in-sync-replicas",
        "ISR updated to ",
        r"(?:\[Partition {tp} broker={leader}\].*?)?ISR updated to \[?{replicas}\]?"
        r"(?P<detail> \(under-min-isr\))?",
        lambda _, found: {"detail": "under-min-isr" if found["detail"] else None},
    ),
    message(
        "leader",
        "tarts at leader epoch",
        r"Leader {tp} (?:with topic id .*?)?starts at leader epoch {leader_epoch} from offset "
        r"{offset}(?: .*?(?P<detail>[Pp]revious leader epoch was -?\d+))?",
        detail="became leader",
        leads=True,
    ),
    message(
        "in-sync-replicas",
        " ISR [",
        r"Leader {tp} (?:with topic id .*?)?starts at leader epoch {leader_epoch}.*? ISR "
        r"\[{replicas}\]",
    ),
    # A leader that hears of its ISR from the controller before AlterPartition is answered says only this.
    message(
        "in-sync-replicas",
        "Skipped the become-leader",
        r"Skipped the become-leader state change for {tp} .*? with leader epoch {leader_epoch}\. .*?, ISR "
        r"\[{replicas}\]",
    ),
    message(
        "leader",
        "tarts at leader epoch",
        r"Follower {tp} starts at leader epoch {leader_epoch} from offset {offset}"
        r"(?:.*?Current leader is {leader})?(?:.*?(?P<detail>[Pp]revious leader epoch was -?\d+))?",
        detail="became follower",
    ),
    message(
        "leader",
        "starts at Leader Epoch",
        r"(?<![\w.-]){tp} starts at Leader Epoch {leader_epoch} from offset {offset}"
        r"(?:.*?(?P<detail>Previous Leader Epoch was: -?\d+))?",
        leads=True,
    ),
    # KafkaController and its state machines, ReplicationControlManager
    message(
        "leader",
        "partition change for",
        r"(?P<unclean>UNCLEAN )?partition change for {tp} with topic ID .*?leader: -?\d+ -> {leader}, "
        r".*?leaderEpoch: \d+ -> {leader_epoch}",
        _unclean,
    ),
    message(
        "in-sync-replicas",
        "partition change for",
        r"partition change for {tp} with topic ID .*?isr: \[[\d, ]*\] -> \[{replicas}\]",
    ),
    message(
        "leader",
        "LeaderAndIsr(leader=",
        r"Changed partition {tp} from \w+ to \w+ with state LeaderAndIsr\(leader={leader}, "
        r"leaderEpoch={leader_epoch}",
    ),
    message(
        "in-sync-replicas",
        "LeaderAndIsr(leader=",
        r"Changed partition {tp} from \w+ to \w+ with state LeaderAndIsr\(.*?isr=List\({replicas}\)",
    ),
    message(
        "leader",
        "potential data loss",
        r"No broker in ISR .{0,99}?for {tp}\.? .{0,99}?[Ee]lect leader {leader} from live brokers",
        detail="unclean",
    ),
    message(
        "leader",
        "unclean election",
        r"Setting new leader for topicId (?P<topic>\S+), partition {partition} to {leader} using "
        r"an unclean election",
        detail="unclean",
    ),
    message(
        "leader",
        "was marked as RECOVERING",
        r"The topic partition {tp} was marked as RECOVERING",
        detail="unclean",
        leads=True,
    ),
    # ReplicaManager
    message(
        "leader",
        "Unable to bring up new local leader",
        r"Unable to bring up new local leader {tp} with topic id \S+ because it resides in an offline log "
        r"directory",
        detail=NO_DISK,
    ),
    *coordinator_messages.MESSAGES,
    *producer_messages.BROKER,
    *broker_life_messages.MESSAGES,
    *administration_messages.MESSAGES,
    *rejection_messages.MESSAGES,
    *refusal_messages.BROKER,
    *denial_messages.BROKER,
    *share_messages.BROKER,
)
