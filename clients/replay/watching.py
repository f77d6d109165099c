"""What real clients ask brokers and hear from them, in the form in which the simulator's world needs it."""

from collections.abc import Iterator
from typing import Any, Final

from mockbroker.simulation.client import NO_EPOCH, LeaderAndEpoch
from mockbroker.simulation.consumer import ModelConsumer
from mockbroker.simulation.consumer_setting import Reset
from mockbroker.simulation.consumption import Position
from mockbroker.trace import Answer, Event, Follower, InSyncReplicas, Leader, LogStart, Request, Truncation

from .stage import Stage

_OF_CLUSTER: Final = (Leader, InSyncReplicas, LogStart, Truncation, Follower)
_TIMESTAMPS: Final = {Reset.EARLIEST: -2, Reset.LATEST: -1}
"""In ListOffsets, the start and the end of the log."""


class Watch:
    """A listener of the cluster's trace, in the cluster's thread.

    A consumer that had a position has given it up if it asks for the start or the end of the log, and then
    fetches from elsewhere. Some clients also ask for other reasons.
    """

    def __init__(self, stage: Stage) -> None:
        self._stage = stage
        self._asked: dict[tuple[str, int], tuple[Request, int | None]] = {}
        """Requests without an answer yet, and what the group had committed when they came."""
        self._asks_for_start: set[str] = set()
        """Consumers that have a position, and have asked for the start or the end of the log since they
        fetched."""

    def __call__(self, event: Event) -> None:
        if isinstance(event, _OF_CLUSTER) and not event.topic.startswith("__"):
            self._stage.tell("cluster", event.text())
        elif isinstance(event, Request) and (consumer := self._consumer(event)):
            acknowledged = self._stage.consumption.committed_offset(consumer)
            if event.api == "OffsetFetch":
                consumer.acknowledged = acknowledged
            self._asked[event.connection, event.correlation_id] = event, acknowledged
            self._requested(consumer, event)
        elif isinstance(event, Answer):
            asked = self._asked.pop((event.connection, event.correlation_id), None)
            if event.errors:
                self._told_of_errors(event)
            elif event.outcome == "answer" and asked is not None and (consumer := self._consumer(event)):
                self._answered(consumer, event, *asked)

    def _consumer(self, event: Request | Answer) -> ModelConsumer | None:
        return next((each for each in self._stage.consumers if each.name == event.client_id), None)

    def _told_of_errors(self, event: Answer) -> None:
        self._stage.tell(
            str(event.client_id), f"is told {', '.join(event.errors)} by broker {event.broker} ({event.api})"
        )

    def _requested(self, consumer: ModelConsumer, event: Request) -> None:
        match event.api:
            case "OffsetCommit":
                one = entry(event.body, "committed_offset")
                self._stage.tell(
                    consumer.name,
                    f"commits offset {one['committed_offset']}, epoch {one['committed_leader_epoch']}",
                )
                self._stage.consumption.committing(consumer, one["committed_offset"])
            case "Fetch" if consumer.position is not None:
                for one in entries(event.body, "fetch_offset"):
                    self._fetches(consumer, consumer.position, one["fetch_offset"])
            case "ListOffsets" if consumer.position is not None and self._is_for_reset(consumer, event.body):
                self._asks_for_start.add(consumer.name)

    def _fetches(self, consumer: ModelConsumer, position: Position, offset: int) -> None:
        if offset != position.offset and consumer.name in self._asks_for_start:
            what = f"resets to {consumer.setting.reset}"
            self._stage.consumption.lost_position(consumer, position, what)
            consumer.position = at(offset, NO_EPOCH)
        elif offset > position.offset:
            # An application does not hear of a marker at the end of the log.
            consumer.position = at(offset, position.epoch)
        self._asks_for_start.discard(consumer.name)

    def _is_for_reset(self, consumer: ModelConsumer, body: Any) -> bool:
        return any(
            one["timestamp"] == _TIMESTAMPS.get(consumer.setting.reset) for one in entries(body, "timestamp")
        )

    def _answered(self, consumer: ModelConsumer, event: Answer, asked: Request, acked: int | None) -> None:
        match event.api:
            case "OffsetCommit":
                offset = entry(asked.body, "committed_offset")["committed_offset"]
                self._stage.consumption.committed(consumer, offset, asked.time_ms)
            case "OffsetFetch":
                one = entry(event.body, "committed_offset")
                self._restored(consumer, one["committed_offset"], one["committed_leader_epoch"], acked)
            case "OffsetForLeaderEpoch":
                one = entry(event.body, "end_offset")
                self._validated(consumer, event.broker, one["leader_epoch"], one["end_offset"])
            case "ListOffsets" if consumer.position is None and self._is_for_reset(consumer, asked.body):
                offset = entry(event.body, "timestamp")["offset"]
                self._stage.tell(consumer.name, f"begins at {consumer.setting.reset} offset {offset}")
                self._stage.consumption.began(consumer, offset)
                consumer.position = at(offset, NO_EPOCH)

    def _restored(self, consumer: ModelConsumer, offset: int, epoch: int, acknowledged: int | None) -> None:
        self._stage.consumption.restored(consumer, offset, acknowledged)
        if offset >= 0:
            self._stage.tell(consumer.name, f"goes on at its committed offset {offset}, epoch {epoch}")
            consumer.position = at(offset, epoch)

    def _validated(self, consumer: ModelConsumer, broker: int, epoch: int, end_offset: int) -> None:
        self._stage.tell(
            consumer.name, f"hears from broker {broker} that its epoch ends: ({epoch}, {end_offset})"
        )
        position = consumer.position
        if position is None or consumer.setting.reset is Reset.NONE or epoch == NO_EPOCH:
            return
        if 0 <= end_offset < position.offset:
            self._stage.consumption.went_back(consumer, position, end_offset)
            consumer.position = at(end_offset, epoch)


def at(offset: int, epoch: int) -> Position:
    """A position; nobody outside knows which leader the client takes it to be from."""
    return Position(offset, epoch, LeaderAndEpoch())


def entry(body: Any, name: str) -> dict[str, Any]:
    """The first entry in a request or an answer that has a field `name`. KeyError."""
    for found in entries(body, name):
        return found
    raise KeyError(name)


def entries(body: Any, name: str) -> Iterator[dict[str, Any]]:
    """All of them."""
    if isinstance(body, dict):
        if name in body:
            yield body
        for value in body.values():
            yield from entries(value, name)
    elif isinstance(body, list):
        for value in body:
            yield from entries(value, name)
