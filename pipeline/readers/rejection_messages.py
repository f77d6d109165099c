"""Log messages at INFO of brokers and controllers that something was rejected, given up or failed.

Comments name the classes that log them. What they say at WARN and ERROR is known by `statements.tsv`.
"""

import re
from typing import Final

from .error_names import of_exception, of_text
from .log_entries import Entry
from .log_messages import END, Values, message

_ID: Final = r"(?P<transactional_id>[^\s;,']{1,1000}+)"
_SPACED_ID: Final = f" {_ID}"


def _named(_: Entry, found: re.Match[str]) -> Values:
    """The error that the message names, by its code or its exception."""
    detail = found["detail"][:300]
    named = re.search(r"\b[A-Z]\w{2,60}(?:Exception|Error)\b", detail)
    error = of_text(detail) or (named and (of_exception(named[0]) or named[0]))
    return {"detail": detail, "error": error or None}


def _not_registered(_: Entry, found: re.Match[str]) -> Values:
    return {"detail": f"not registered: {found['error']}"}


MESSAGES: Final = (
    # ReplicationControlManager, KafkaController
    message(
        "complaint",
        "Rejecting AlterPartition",
        r"(?P<detail>Rejecting AlterPartition (?:request )?(?:from node \d+ )?for (?:{tp} because|"
        r"unknown) [^\n]+?)"
        rf"{END}",
        _named,
        api="AlterPartition",
    ),
    # Partition
    message(
        "complaint",
        "since the controller rejected the request with",
        rf"(?P<detail>Failed to alter partition to [^\n]*? rejected the request with [^\n]+?){END}",
        _named,
        api="AlterPartition",
    ),
    # KafkaApis
    message(
        "complaint",
        "request with broker epoch",
        rf"(?P<detail>Received [\w ]+ request with broker epoch \d+ smaller than [^\n]+?){END}",
        error="STALE_BROKER_EPOCH",
    ),
    # BrokerLifecycleManager
    message(
        "broker",
        "because the controller returned error",
        r"Unable to register broker {broker} because the controller returned error (?P<error>\w+)",
        _not_registered,
    ),
    # GroupCoordinator, GroupMetadataManager, ClassicGroup
    message(
        "refused",
        "is fenced by ",
        r"(?:\[GroupId (?P<group>[^\]]+)\] )?(?P<detail>(?:Request memberId=\S+ for s|S)tatic "
        r"member [^\n]*? is fenced "
        rf"by [^\n]+?){END}",
        error="FENCED_INSTANCE_ID",
    ),
    message(
        "complaint",
        "failed to join before ",
        rf"(?P<detail>Group leader \[[^\n]*? failed to join before (?:the )?rebalance timeout[^\n]*?){END}",
    ),
    # ProducerStateManager, ProducerAppendInfo
    message(
        "complaint",
        "Detected invalid coordinator epoch",
        r"(?P<detail>Detected invalid coordinator epoch for producerId {producer_id} at offset "
        r"{offset} in partition {tp}"
        rf"[^\n]*?){END}",
        error="TRANSACTION_COORDINATOR_FENCED",
    ),
    # TransactionMarkerRequestCompletionHandler, TransactionMarkerChannelManager, TransactionStateManager
    message(
        "complaint",
        "'s transaction marker ",
        rf"(?P<detail>Sending {_ID}'s transaction marker (?:for|from) partition {{tp}} has "
        rf"(?:permanently )?failed with "
        rf"[^\n]+?){END}",
        _named,
        api="WriteTxnMarkers",
    ),
    *(
        message("complaint", text, rf"(?P<detail>{pattern.replace(' ID', _SPACED_ID)}[^\n]*?){END}", _named)
        for text, pattern in (
            (
                "cancel appending",
                r"(?:the coordinator for|partition that contains) ID[^\n]*?cancel appending",
            ),
            ("; cancel sending", r"(?:coordinator for|contains|epoch for|metadata for) ID[^\n]*?; cancel"),
            (
                "append transaction log for",
                r"TransactionalId ID append transaction log for [^\n]*? failed due",
            ),
            (
                "aborting transition t",
                r"(?:metadata for|epoch for|anymore for) ID[^\n]*?; aborting transition t",
            ),
        )
    ),
    # LogManager
    message(
        "complaint",
        "Found stray log dir",
        rf"(?P<detail>Found stray log dir [^\n]+?){END}",
        lambda _, found: {"detail": found["detail"][:300]},
    ),
)
