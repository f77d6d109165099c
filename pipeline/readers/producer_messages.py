"""Log messages of transaction coordinators and of Java's producers, from 2.8 to 4.x.

Comments name the classes that log them.
"""

import re
from typing import Final

from .error_names import of_exception
from .log_entries import Entry
from .log_messages import END, Values, message
from .refusal_messages import TRANSACTION_TIMEOUT

TIMED_OUT: Final = "timed out"
"""The state of a transaction that its coordinator aborted."""
_TOO_LONG: Final = "The transaction timeout is larger than the maximum value"
_ID: Final = r"(?P<transactional_id>\S+)"


def _failed(_: Entry, found: re.Match[str]) -> Values:
    """An error that no broker answers is only a complaint."""
    if _TOO_LONG in found["detail"]:
        return {"error": TRANSACTION_TIMEOUT, "api": "InitProducerId"}
    error = of_exception(found["exception"])
    return {"error": error} if error else {"kind": "complaint", "error": found["exception"]}


def _timed_out(_: Entry, found: re.Match[str]) -> Values:
    return {"detail": TIMED_OUT}


def _returned(_: Entry, found: re.Match[str]) -> Values:
    return {"api": {"InitProducerId": "InitProducerId", "EndTransaction": "EndTxn"}[found["what"]]}


def _loaded(_: Entry, found: re.Match[str]) -> Values:
    return {"detail": f"finished in {found['took']} ms"}


CLIENT: Final = (
    # TransactionManager
    message(
        "refused",
        "error state due to",
        r"Transiting to (?:fatal|abortable) error state due to (?P<detail>(?:[a-z]\w*\.)*"
        rf"(?P<exception>[A-Z]\w+): [^\n]+?){END}",
        _failed,
    ),
    message(
        "transaction",
        "InitProducerId with current producer ID and epoch",
        r"Invoking InitProducerId with current producer ID and epoch ProducerIdAndEpoch\("
        r"producerId={producer_id}, epoch={producer_epoch}\)",
        detail="asks for the next epoch",
    ),
    message(
        "transaction",
        "Going to bump epoch and reset sequence numbers",
        r"No inflight batches remaining for {tp}, last ack'd sequence for partition is "
        r"{sequence}, next sequence",
        detail="asks for the next epoch",
    ),
    # KafkaProducer, Sender
    message(
        "transaction",
        "Aborting incomplete transaction",
        r"Aborting incomplete transaction",
        detail="aborting",
    ),
    message(
        "refused",
        "FencedException: ",
        rf"(?P<exception>ProducerFenced|FencedInstanceId)Exception: (?P<detail>[^\n]+?){END}",
        _failed,
    ),
)

BROKER: Final = (
    # TransactionCoordinator
    message(
        "transaction",
        "Initialized transactionalId",
        rf"Initialized transactionalId {_ID} with producerId {{producer_id}} and producer epoch "
        r"{producer_epoch} on partition",
        detail="initialized",
    ),
    message(
        "transaction",
        "Completed rollback of ongoing transaction",
        rf"Completed rollback of ongoing transaction for transactionalId {_ID} due to timeout",
        _timed_out,
    ),
    message(
        "refused",
        "error code to client for",
        rf"Returning (?P<error>[A-Z_]+) error code to client for {_ID}'s (?P<what>InitProducerId) request",
        _returned,
    ),
    message(
        "refused",
        " error to client for ",
        rf"returning (?P<error>[A-Z_]+) error to client for {_ID}'s (?P<what>EndTransaction) request",
        _returned,
    ),
    # ProducerStateManager, ProducerAppendInfo
    message(
        "refused",
        "Epoch of producer",
        r"(?P<detail>Epoch of producer {producer_id} at offset {offset} in {tp} is "
        r"{producer_epoch}, which is "
        rf"(?:smaller|older|less) [^\n]+?){END}",
        api="Produce",
        error="INVALID_PRODUCER_EPOCH",
    ),
    # TransactionStateManager
    message(
        "load",
        "Loading transaction metadata from",
        r"Loading transaction metadata from {tp} at epoch {leader_epoch}",
        detail="began",
    ),
    message(
        "load",
        "transaction metadata from",
        r"Finished loading \d+ transaction metadata from {tp} in (?P<took>\d+) milliseconds",
        _loaded,
    ),
    message(
        "load",
        "on become-follower transition",
        r"Unloaded transaction metadata .*? for {tp} on become-follower transition",
        detail="left",
    ),
)
