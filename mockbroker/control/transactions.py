"""Operations that look at transactional ids."""

from typing import Annotated, TypedDict

from ..contents import transactions as contents
from ..contents.values import TransactionDescription
from ..errors import NotThereError
from ..nearest import nearest
from .groups import Assigned
from .registry import operation
from .shaping import shaped
from .target import Target


class TransactionListing(TypedDict):
    """A transactional id in short."""

    transactional_id: str
    coordinator: int | None
    producer_id: int
    state: str


class TransactionState(TypedDict):
    """`start_ms` is null if no transaction has begun, and `coordinator` while there is none."""

    transactional_id: str
    state: str
    coordinator: int | None
    producer_id: int
    producer_epoch: int
    timeout_ms: int
    start_ms: int | None
    last_update_ms: int
    partitions: list[Assigned]


@operation("transactions list", "GET", "/transactions")
def list_transactions(target: Target) -> list[TransactionListing]:
    """Lists every transactional id and the state of its transaction."""
    return [shaped(TransactionListing, each) for each in transactions(target).values()]


@operation("transactions show", "GET", "/transactions/{transactional_id}")
def show(
    target: Target, transactional_id: Annotated[str, "A producer's transactional id."]
) -> TransactionState:
    """Shows a transactional id: its producer, and its transaction's state and partitions."""
    return shaped(TransactionState, transaction_named(target, transactional_id))


def transactions(target: Target) -> dict[str, TransactionDescription]:
    """By transactional id, in order."""
    return contents.transactions(target.cluster)


def transaction_named(target: Target, transactional_id: str) -> TransactionDescription:
    """NotThereError."""
    found = transactions(target)
    if transactional_id not in found:
        near = nearest(transactional_id, found) if found else ": no producer has one yet"
        raise NotThereError(f"no transactional id {transactional_id!r}{near}")
    return found[transactional_id]
