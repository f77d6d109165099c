"""What brokers know of share groups: what their members acquire and acknowledge, and what is left to do."""

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from mockbroker.errors import MockBrokerError
from mockbroker.server.serving import ServedCluster
from mockbroker.trace import Event
from mockbroker.trace.events import Answer, Request

from .journal import Entry, Granted, Opened, Settled
from .stage import Outcome

_APIS: Final = ("ShareFetch", "ShareAcknowledge")
_JOINS: Final = "ShareGroupHeartbeat"
_DONE: Final = ("acknowledged", "archived")
_NONE: Final = "NONE"
LOST: Final = "lost"


def unsettled(cluster: ServedCluster, group: str, topics: Sequence[str]) -> list[str]:
    """What a share group has neither processed nor archived, in words."""
    try:
        found = cluster.share_group(group)
    except MockBrokerError as error:
        return [str(error)]
    left: list[str] = []
    for topic in topics:
        with contextlib.suppress(MockBrokerError):
            for each in cluster.topic(topic).partitions:
                if each.high_watermark > each.log_start_offset:
                    left += _of_partition(found.get((topic, each.partition)), topic, each.partition, each)
    return left


def _of_partition(shared: Any, topic: str, partition: int, described: Any) -> Iterator[str]:
    where = f"{topic}-{partition}"
    if shared is None or shared.start_offset is None:
        yield f"{where} (the group has no part in it)"
        return
    following = max(shared.start_offset, described.log_start_offset)
    for each in shared.in_flight:
        if each.state not in _DONE and each.last >= described.log_start_offset:
            yield f"{where} offsets {each.first} to {each.last} ({each.state})"
        following = max(following, each.last + 1)
    if following < described.high_watermark:
        yield f"{where} from {following} on (not acquired)"


class Settling:
    """Notes what brokers answer members of share groups."""

    def __init__(self, cluster: ServedCluster, outcome: Outcome) -> None:
        self._cluster, self._outcome = cluster, outcome
        self._users = {user.name for user in outcome.plan.users}
        self._asked: dict[tuple[str, int], Request] = {}
        self._names: dict[str, str] = {}
        self._handles: dict[str, str] = {}
        """By member id: a client may still be answered when its user has opened another one."""

    def heard(self, event: Event) -> None:
        if not isinstance(event, Request | Answer) or event.api not in (*_APIS, _JOINS):
            return
        if event.client_id not in self._users:
            return
        key, user = (event.connection, event.correlation_id), event.client_id
        if isinstance(event, Request):
            self._asked[key] = event
            opened = [each.handle for each in self._outcome.journal.of(Opened) if each.user == user][-1:]
            for handle in opened:
                self._handles.setdefault(event.body["member_id"], handle)
        elif (request := self._asked.pop(key, None)) is not None and event.api != _JOINS:
            for entry in self._entries(request, event):
                entry.user, entry.handle = user, self._handles.get(request.body["member_id"], "")
                self._outcome.journal.add(entry)

    def _entries(self, request: Request, answer: Answer) -> Iterator[Entry]:
        answered = answer.outcome == "answer"
        top = answer.body["error_code"] if answered else LOST
        told = {
            (topic["topic_id"], each["partition_index"]): each
            for topic in (answer.body["responses"] if answered else ())
            for each in topic["partitions"]
        }
        code = "error_code" if answer.api == "ShareAcknowledge" else "acknowledge_error_code"
        for topic in request.body["topics"]:
            for each in topic["partitions"]:
                at = topic["topic_id"], each["partition_index"]
                own = told[at][code] if at in told else _NONE
                error = top if top != _NONE else own
                for batch in each["acknowledgement_batches"]:
                    yield Settled(
                        api=answer.api,
                        topic=self._name(at[0]),
                        partition=at[1],
                        first=batch["first_offset"],
                        last=batch["last_offset"],
                        types=tuple(batch["acknowledge_types"]),
                        error="" if error == _NONE else error,
                    )
        for (topic_id, partition), each in told.items():
            yield from self._granted(self._name(topic_id), partition, each)

    def _granted(self, topic: str, partition: int, told: Mapping[str, Any]) -> Iterator[Entry]:
        for each in told.get("acquired_records", ()):
            first, last, count = each["first_offset"], each["last_offset"], each["delivery_count"]
            yield Granted(topic=topic, partition=partition, first=first, last=last, count=count)

    def _name(self, topic_id: str) -> str:
        if topic_id not in self._names:
            known = self._cluster.run(
                lambda core: {str(id_): each.name for id_, each in core.topic_ids.items()}
            )
            self._names.update(known)
        return self._names.get(topic_id, topic_id)
