"""What members say of their records, in ShareAcknowledge and ShareFetch alike (KIP-932)."""

from collections.abc import Callable, Generator, Iterable, Iterator
from functools import partial
from typing import Any, Final, NamedTuple, Protocol
from uuid import UUID

from ..acls import Operation, ResourceType
from ..cluster.call import Call
from ..cluster.share_sessions import Member
from ..coordinators.share.requests import is_member_id
from ..policies.share_groups.share_member_id import share_member_id
from ..portions import MANY, Pace, portions
from ..protocol.api_error import ApiError
from ..protocol.errors import ErrorCode
from ..protocol.primitives import uuid_of_short
from ..protocol.share_state_log import SharePartitionKey
from ..share_partitions.acknowledgement import Acknowledgement

E = ErrorCode
Key = tuple[UUID | None, int]
_RENEW: Final = 4
_REJECT: Final = 3
_RENEWS_SINCE: Final = 2


class Outcome(NamedTuple):
    error: ErrorCode = E.NONE
    message: str | None = None


Outcomes = dict[Key, Outcome]


class _Said(Protocol):
    """A request with acknowledgements."""

    group_id: str | None
    member_id: str | None
    is_renew_ack: bool
    topics: Any


def member_of(call: Call, group_id: str | None, member_id: str | None) -> "Member | ErrorCode":
    """Who sends a request; or why nobody can have sent it."""
    refused = call.policies[share_member_id]
    if refused.null and (group_id is None or member_id is None):
        return E.INVALID_REQUEST
    if member_id is None or (refused.needs_uuid and uuid_of_short(member_id) is None):
        return E.UNKNOWN_SERVER_ERROR
    if refused.too_long and not is_member_id(member_id):
        return E.INVALID_REQUEST
    return Member(group_id or "", member_id)


def named(call: Call, topics: Iterable[Any]) -> Iterator[bool]:
    """Of each topic of which a request has partitions, whether it has a name."""
    known = call.broker.image.topic_ids
    return (topic.topic_id in known for topic in topics if topic.partitions)


def check_named(call: Call, are_named: Iterable[bool]) -> Generator[None, None, None]:
    """ApiError UNKNOWN_SERVER_ERROR if an authorizer is to be asked about a topic that has no name, even for
    one who may do everything (`AuthHelper.filterByAuthorized`)."""
    if call.cluster.authorizer is None:
        return
    for some in portions(are_named, MANY):
        if not all(some):
            raise ApiError(E.UNKNOWN_SERVER_ERROR)
        yield


def acknowledge(
    call: Call, request: _Said, member: Member, done: Callable[[Outcomes], None]
) -> Generator[None, None, None]:
    """Calls `done` with the outcome for each partition once everything is written. Partitions without
    batches are left out if there are no others. Raises ApiError UNKNOWN_SERVER_ERROR, for the request."""
    outcomes: Outcomes = {}
    empty: Outcomes = {}
    asked: dict[Key, list[Acknowledgement]] = {}
    pace = Pace()
    for topic in request.topics:
        known = call.broker.image.topic_ids.get(topic.topic_id) if topic.topic_id else None
        for part in topic.partitions:
            key = topic.topic_id, part.partition_index
            batches = part.acknowledgement_batches
            if known is None:
                outcomes[key] = Outcome(E.UNKNOWN_TOPIC_ID)
            elif not (yield from _are_valid(call, batches, request.is_renew_ack)):
                outcomes[key] = Outcome(E.INVALID_REQUEST)
            elif call.asker is not None and not _may_read(call, known.name):
                outcomes[key] = Outcome(E.TOPIC_AUTHORIZATION_FAILED)
            elif not 0 <= part.partition_index < len(known.partitions):
                outcomes[key] = Outcome(E.UNKNOWN_TOPIC_OR_PARTITION)
            elif not batches:
                empty[key] = Outcome()
            else:
                asked[key] = yield from _said(batches)
            if pace.enough():
                yield
    if not asked:
        done(outcomes)
        return
    outcomes.update(empty)
    waiting = set(asked)

    def settled(key: Key, error: ErrorCode, message: str | None) -> None:
        outcomes[key] = Outcome(error, message)
        waiting.discard(key)
        if not waiting:
            done(outcomes)

    for key, said in asked.items():
        led = call.broker.shares.find(SharePartitionKey(member.group, key[0] or UUID(int=0), key[1]))
        if led is None:
            missing = E.UNKNOWN_TOPIC_OR_PARTITION
            settled(key, missing, "This server does not host this topic-partition.")
        else:
            led.acknowledge(member.id, said, partial(settled, key))
        if pace.enough(1 + len(said)):
            yield


def _said(batches: Iterable[Any]) -> Generator[None, None, list[Acknowledgement]]:
    found: list[Acknowledgement] = []
    for some in portions(batches):
        found += [
            Acknowledgement(each.first_offset, each.last_offset, tuple(each.acknowledge_types))
            for each in some
        ]
        yield
    return found


def _may_read(call: Call, topic: str) -> bool:
    return call.asker is None or call.asker.may(Operation.READ, ResourceType.TOPIC, topic)


def _are_valid(call: Call, batches: Iterable[Any], renews: bool) -> Generator[None, None, bool]:
    """Whether ranges are in order, and each has one type or one for each of its records."""
    last, most = -1, _RENEW if call.version >= _RENEWS_SINCE else _REJECT
    pace = Pace()
    for each in batches:
        types = each.acknowledge_types
        if each.first_offset > each.last_offset or each.first_offset < last or not types:
            return False
        if len(types) > 1 and each.last_offset - each.first_offset != len(types) - 1:
            return False
        if not all(0 <= kind <= most for kind in types) or (_RENEW in types and not renews):
            return False
        last = each.last_offset
        if pace.enough(1 + len(types) // MANY):
            yield
    return True
