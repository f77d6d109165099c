"""ShareFetch (78): members of share groups acquire records (KIP-932, KIP-1206, KIP-1222)."""

from collections.abc import Generator, Iterable, Iterator
from dataclasses import replace
from itertools import chain
from typing import Final
from uuid import UUID

from ..acls import Operation, ResourceType
from ..cluster.call import Call
from ..cluster.share_sessions import BEGINS, ENDS, Place, ShareSession
from ..coordinators.reply import Reply
from ..coordinators.share.settings import lock_ms
from ..outcome import PARKED, Steps
from ..policies.share_groups.share_fetch_of_nothing import share_fetch_of_nothing
from ..policies.share_groups.unknown_share_topic import unknown_share_topic
from ..portions import MANY, Pace, at_once, portions
from ..protocol.api_error import ApiError
from ..protocol.api_keys import ApiKey
from ..protocol.errors import ErrorCode
from ..protocol.messages.of_share_groups import AcknowledgedPartition, AcknowledgedTopic
from ..protocol.messages.share_fetch import (
    PartitionData,
    ShareFetchableTopicResponse,
    ShareFetchRequest,
    ShareFetchResponse,
)
from ..protocol.releases import parse
from .leaders import fetch_endpoints
from .registry import handles
from .share_acknowledgements import Outcomes, acknowledge, check_named, member_of, named
from .share_reading import Found, Reading

E = ErrorCode
_MODES: Final = (0, 1)
_TOLD_SINCE: Final = parse("4.2")
"""Before, ShareFetch did not say why acknowledgements were refused."""


def _refused(call: Call, request: ShareFetchRequest) -> ShareFetchRequest:
    session = at_once(_session(call, request))
    epoch = request.share_session_epoch
    if epoch == ENDS:
        call.broker.shares.end_session(session.member)
        return request
    topics: dict[UUID | None, AcknowledgedTopic] = {}
    for place in dict.fromkeys((*_named(request.topics), *session.told)):
        if epoch != BEGINS:
            session.answers(place, failed=True, has_records=False)
        topic = topics.setdefault(place.topic_id, AcknowledgedTopic(place.topic_id))
        topic.partitions.append(AcknowledgedPartition(place.partition))
    return replace(request, topics=list(topics.values()))


@handles(
    ApiKey.SHARE_FETCH,
    changes=True,
    source="KafkaApis.handleShareFetchRequest, SharePartitionManager.newContext, DelayedShareFetch",
    top_retry="SHARE_SESSION_NOT_FOUND, INVALID_SHARE_SESSION_EPOCH, SHARE_SESSION_LIMIT_REACHED",
    top="UNSUPPORTED_VERSION, INVALID_REQUEST, GROUP_AUTHORIZATION_FAILED",
    partition_retry="""NOT_LEADER_OR_FOLLOWER, UNKNOWN_TOPIC_OR_PARTITION, UNKNOWN_TOPIC_ID,
        COORDINATOR_NOT_AVAILABLE, OFFSET_NOT_AVAILABLE, KAFKA_STORAGE_ERROR""",
    partition="CORRUPT_MESSAGE, GROUP_ID_NOT_FOUND, TOPIC_AUTHORIZATION_FAILED",
    in_session=_refused,
)
def share_fetch(call: Call, request: ShareFetchRequest) -> Steps:
    try:
        session = yield from _session(call, request)
        places = [] if request.share_session_epoch == ENDS else list(session.told)
        yield from check_named(call, chain(named(call, request.topics), map(session.is_named, places)))
        return (yield from _Fetch(call, request, session).begin(places))
    except ApiError as error:
        if error.code is E.SHARE_SESSION_LIMIT_REACHED:
            return _late(call, request, error.code)
        return ShareFetchResponse(error_code=error.code)


def _late(call: Call, request: ShareFetchRequest, error: ErrorCode) -> object:
    """The client would ask again at once."""
    reply: Reply[ShareFetchResponse] = Reply(call)
    wait_ms = max(0, request.max_wait_ms)
    call.environment.wait(wait_ms, lambda: reply.complete(ShareFetchResponse(error_code=error)))
    return reply.outcome()


def _named(topics: Iterable[object]) -> Iterator[Place]:
    for topic in topics:
        for part in topic.partitions:  # type: ignore[attr-defined]
            index = part if isinstance(part, int) else part.partition_index
            yield Place(topic.topic_id or UUID(int=0), index)  # type: ignore[attr-defined]


def _session(call: Call, request: ShareFetchRequest) -> Generator[None, None, ShareSession]:
    """The session of the request, as it is after it. ApiError UNSUPPORTED_VERSION, UNKNOWN_SERVER_ERROR,
    SHARE_SESSION_NOT_FOUND, INVALID_SHARE_SESSION_EPOCH, INVALID_REQUEST, SHARE_SESSION_LIMIT_REACHED."""
    if not call.broker.groups.shares.served:
        raise ApiError(E.UNSUPPORTED_VERSION)
    member = member_of(call, request.group_id, request.member_id)
    if isinstance(member, ErrorCode):
        raise ApiError(member)
    if request.group_id is None:
        raise ApiError(E.UNKNOWN_SERVER_ERROR)
    sizes = request.max_bytes, request.min_bytes, request.max_records, request.max_wait_ms
    if request.is_renew_ack and any(sizes):
        raise ApiError(E.INVALID_REQUEST)
    sessions, epoch = call.broker.shares.sessions, request.share_session_epoch
    if epoch != BEGINS:
        session = sessions.next(member, epoch)
        if epoch != ENDS:
            for some in portions(_named(request.topics)):
                session.add(some, call.broker.image.topic_ids)
                yield
            for some in portions(_named(request.forgotten_topics_data)):
                session.forget(some)
                yield
        return session
    if (yield from _acknowledges(request)):
        raise ApiError(E.INVALID_REQUEST)
    most = call.environment.configs.broker_int("group.share.max.share.sessions")
    session = sessions.begin(member, call.client, most)
    for some in portions(_named(request.topics)):
        session.add(some, call.broker.image.topic_ids, told=False)
        yield
    return session


def _acknowledges(request: ShareFetchRequest) -> Generator[None, None, bool]:
    """Whether it says something of records."""
    for topic in request.topics:
        for some in portions(topic.partitions, MANY):
            if any(part.acknowledgement_batches for part in some):
                return True
            yield
    return False


class _Fetch:
    """One request: answered once its acknowledgements are written and it has read."""

    def __init__(self, call: Call, request: ShareFetchRequest, session: ShareSession) -> None:
        self._call = call
        self._request = request
        self._member = session.member
        self._session = session
        self._reply: Reply[object] = Reply(call)
        self._outcomes: Outcomes | None = None
        self._found: Found | None = None
        self._fails = False
        """Whether the answer would have a topic that is not known, on which real brokers fail."""

    def begin(self, places: list[Place]) -> Steps:
        """Raises ApiError UNKNOWN_SERVER_ERROR."""
        call, request = self._call, self._request
        if (yield from _acknowledges(request)):
            yield from acknowledge(call, request, self._member, self._acknowledged)
        else:
            self._acknowledged({})
        if request.is_renew_ack:
            # Reading might take longer than the locks that were renewed.
            self._read({})
        else:
            yield from self._begin_to_read(places)
        return self._reply.outcome()

    def _begin_to_read(self, places: list[Place]) -> Generator[None, None, None]:
        request, image = self._request, self._call.broker.image
        failed: Found = {}
        readable = []
        pace = Pace()
        for place in places:
            if pace.enough():
                yield
            topic = image.topic_ids.get(place.topic_id) if place.topic_id else None
            if topic is None:
                self._fails = self._call.policies[unknown_share_topic] == "fails"
                named = self._session.is_named(place)
                error = E.UNKNOWN_TOPIC_OR_PARTITION if named else E.UNKNOWN_TOPIC_ID
                failed[place] = PartitionData(place.partition, error)
            elif not self._may_read(topic.name):
                failed[place] = PartitionData(place.partition, E.TOPIC_AUTHORIZATION_FAILED)
            elif not 0 <= place.partition < len(topic.partitions):
                failed[place] = PartitionData(place.partition, E.UNKNOWN_TOPIC_OR_PARTITION)
            else:
                readable.append(place)
        if readable and request.share_acquire_mode not in _MODES:
            raise ApiError(E.UNKNOWN_SERVER_ERROR)
        nothing = 0 in (request.max_records, request.max_bytes)
        if not readable or (nothing and self._call.policies[share_fetch_of_nothing] == "not-read"):
            self._read(failed)
            return
        if request.max_bytes == 0:
            error = E.UNKNOWN_SERVER_ERROR
            self._read({place: PartitionData(place.partition, error) for place in readable} | failed)
            return
        turn = max(0, request.share_session_epoch) % len(readable)
        turned = readable[turn:] + readable[:turn]
        reading = Reading(self._call, request, self._member, lambda found: self._read(found | failed))
        yield from reading.begin(turned)

    def _may_read(self, topic: str) -> bool:
        asker = self._call.asker
        return asker is None or asker.may(Operation.READ, ResourceType.TOPIC, topic)

    def _acknowledged(self, outcomes: Outcomes) -> None:
        self._outcomes = outcomes
        self._answer()

    def _read(self, found: Found) -> None:
        self._found = found
        if self._call.client.gone:
            # Real brokers notice that, and end the session, when they answer.
            self._call.broker.shares.release(self._member, list(found))
        self._answer()

    def _answer(self) -> None:
        if self._outcomes is None or self._found is None:
            return
        answer = self._call.in_parts(self._answered(self._outcomes, self._found))
        if answer is not PARKED:
            self._reply.complete(answer)

    def _answered(self, outcomes: Outcomes, found: Found) -> Steps:
        epoch, session = self._request.share_session_epoch, self._session
        if epoch > BEGINS:
            told: Found = {}
            for some in portions(list(found.items())):
                for place, part in some:
                    if session.answers(place, failed=bool(part.error_code), has_records=bool(part.records)):
                        told[place] = part
                yield
            found = told
        if self._fails:
            return ShareFetchResponse(error_code=E.UNKNOWN_SERVER_ERROR)
        for some_outcomes in portions(list(outcomes.items())):
            for (topic_id, index), outcome in some_outcomes:
                part = found.setdefault(Place(topic_id, index), PartitionData(index))
                part.acknowledge_error_code = outcome.error
                if self._call.environment.release >= _TOLD_SINCE:
                    part.acknowledge_error_message = outcome.message
            yield
        if epoch == ENDS:
            self._call.broker.shares.end_session(self._member)
        return (yield from self._response(found))

    def _response(self, found: Found) -> Steps:
        call = self._call
        lock = lock_ms(call.environment.configs, self._member.group)
        answer = ShareFetchResponse(acquisition_lock_timeout_ms=lock)
        topics: dict[UUID | None, ShareFetchableTopicResponse] = {}
        leaders, pace = set[int](), Pace()
        for place, part in found.items():
            if pace.enough():
                yield
            topic = topics.get(place.topic_id)
            if topic is None:
                topic = topics[place.topic_id] = ShareFetchableTopicResponse(place.topic_id)
                answer.responses.append(topic)
            topic.partitions.append(part)
            if part.error_code == E.NOT_LEADER_OR_FOLLOWER:
                leaders.add(part.current_leader.leader_id)
        answer.node_endpoints = fetch_endpoints(call, {each for each in leaders if each >= 0})
        return answer
