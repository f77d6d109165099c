"""A member of a consumer group whose coordinator assigns partitions (KIP-848), as Java's is
(`ConsumerHeartbeatRequestManager.java`, `AbstractMembershipManager.java`).

It gives partitions up, and commits them, before it takes others; it reads only what it owns. What it could
not say because an answer was lost it says again.
"""

from collections.abc import Callable
from functools import partial
from typing import Final

from ..protocol.api_keys import ApiKey
from ..protocol.errors import ErrorCode
from ..protocol.messages.consumer_group_heartbeat import (
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
    ConsumerGroupHeartbeatTopicPartitions,
)
from .client import NO_BROKER, RETRY_BACKOFF_MS
from .consumer_setting import ConsumerSetting
from .consumption import Consumption
from .group_member import FENCED, JOINING, LEAVING, LOST, REJOIN_MS, GroupMember
from .group_setting import EXPRESSIONS, NAMES, REBALANCE_MS, SESSION_MS
from .ledger import Place
from .member_reader import MemberReader
from .ownership import Ownership
from .scene import Scene

_SPEAKS: Final = {
    ApiKey.METADATA: 9,
    ApiKey.FIND_COORDINATOR: 4,
    ApiKey.CONSUMER_GROUP_HEARTBEAT: 1,
}
_LEAVING_FOR_A_WHILE: Final = -2


class ModelMember(GroupMember):
    """One member, in one life after another."""

    def __init__(
        self,
        scene: Scene,
        consumption: Consumption,
        ownership: Ownership,
        name: str,
        setting: ConsumerSetting,
        assignor: str,
        instance_id: str | None,
    ) -> None:
        super().__init__(scene, name, _SPEAKS, ownership.group)
        self.setting = setting
        self.consumption, self.ownership = consumption, ownership
        self.assignor, self.instance_id = assignor, instance_id
        self.names: tuple[str, ...] = NAMES[-1]
        self.expression: str | None = None
        self.readers: dict[Place, MemberReader] = {}
        """By the partitions that it owns, also those that it is giving up."""
        self._made: dict[Place, MemberReader] = {}
        self._target: set[Place] = set()
        """What it was told to own last, until it does."""
        self._reconciling = False
        self._says_all = True
        self._said: set[Place] = set()
        """What it has said that it owns, as far as it knows that this was heard."""
        self._asking_since_ms: int | None = None
        """When it sent the first heartbeat since the last that was answered."""

    @property
    def subscribed(self) -> tuple[str, ...]:
        """The topics that it subscribes to, one way or another."""
        by_expression = {None: (), "": (), "[mn]": NAMES[-1], "m.*": NAMES[0]}[self.expression]
        return tuple(sorted({*self.names, *by_expression}))

    # -- what happens to it

    def stop(self) -> None:
        """It commits and leaves; a static member for a while only."""
        if not self.running:
            return
        self.running, self._stopping = False, True
        self._turn += 1
        self.tell("stops")
        self._give_up(list(self.readers), self._leave)

    def _leave(self) -> None:
        self._stopping = False
        self.ownership.ends(self.name)
        epoch = LEAVING if self.instance_id is None else _LEAVING_FOR_A_WHILE
        request = ConsumerGroupHeartbeatRequest(self.group, self.id, epoch, self.instance_id)
        if self.known_coordinator != NO_BROKER and self.epoch > JOINING:
            self._heartbeat(request, lambda answer: None)
        self._end()

    def kill(self) -> None:
        """It dies without a word."""
        if self.running:
            self.running = False
            self.tell("dies")
            self._abandon()
            self._end()
            self._made.clear()
            if self._held is not None:
                self._held = []

    def _end(self) -> None:
        super()._end()
        self._reconciling = False

    def subscribe(self, choice: int) -> None:
        """Changes its subscription, to one of `NAMES` or of `EXPRESSIONS`."""
        if choice < len(NAMES):
            self.names = NAMES[choice]
        else:
            self.expression = EXPRESSIONS[choice - len(NAMES)]
            self.names = () if self.expression else NAMES[-1]
        if self.running:
            self.tell(f"subscribes to {', '.join(self.names) or self.expression}")
            self._says_all = True
            self._beat()

    # -- heartbeats

    def _join(self) -> None:
        self._turn += 1
        self.epoch = JOINING
        self._asking = self._finding = self._reconciling = False
        self._says_all, self._said, self._target = True, set(), set()
        self._asking_since_ms = None
        self._beat()

    def _beat(self) -> None:
        if self._asking or not self.running:
            return
        if self.known_coordinator == NO_BROKER:
            self._find()
            return
        self._asking = True
        sent_ms, owned, coordinator = self.cluster.now_ms, set(self.readers), self.known_coordinator
        if self._asking_since_ms is None:
            self._asking_since_ms = sent_ms
        floor = self.ownership.floor() if self.epoch == JOINING else None
        settled = not self._reconciling

        def answered(answer: ConsumerGroupHeartbeatResponse | None) -> None:
            self._asking = False
            if answer is None or answer.error_code:
                self._failed(None if answer is None else ErrorCode(answer.error_code))
                return
            self._said = owned
            if settled:
                self.ownership.claim(self.name).give_up_by_ms = None
            self.ownership.answered(self.name, coordinator)
            self._heard(answer, sent_ms, floor)

        self._heartbeat(self._request(owned), self.unless_over(answered))

    def _heartbeat(
        self,
        request: ConsumerGroupHeartbeatRequest,
        then: Callable[[ConsumerGroupHeartbeatResponse | None], None],
    ) -> None:
        self.ask(self.known_coordinator, ApiKey.CONSUMER_GROUP_HEARTBEAT, request, then, "heartbeats")

    def _request(self, owned: set[Place]) -> ConsumerGroupHeartbeatRequest:
        """All that there is to say, or what has changed."""
        request = ConsumerGroupHeartbeatRequest(self.group, self.id, self.epoch, self.instance_id)
        if self._says_all or owned != self._said:
            request.topic_partitions = [
                ConsumerGroupHeartbeatTopicPartitions(
                    self.cluster.topics[topic].id, sorted(index for name, index in owned if name == topic)
                )
                for topic in sorted({name for name, _ in owned})
            ]
        if self._says_all:
            request.rebalance_timeout_ms = REBALANCE_MS
            request.subscribed_topic_names = list(self.names)
            request.subscribed_topic_regex = self.expression
            request.server_assignor = self.assignor or None
            self._says_all = False
        return request

    def _failed(self, error: ErrorCode | None) -> None:
        self._says_all = True
        if error in LOST:
            self.refused(error)
            return
        assert error is not None
        if error is not ErrorCode.COORDINATOR_LOAD_IN_PROGRESS:
            self.tell(f"is told {error.name}")
        if error in FENCED:
            self._abandon()
            self._join()
        elif error is ErrorCode.COORDINATOR_LOAD_IN_PROGRESS:
            self._beat_in(RETRY_BACKOFF_MS)
        else:
            self._abandon()
            self._end()
            self._begin_life()
            self._soon(lambda: self._join() if self.running else None, REJOIN_MS)

    def _heard(self, answer: ConsumerGroupHeartbeatResponse, sent_ms: int, floor: int | None) -> None:
        claim = self.ownership.claim(self.name)
        since_ms = sent_ms if self._asking_since_ms is None else self._asking_since_ms
        self._asking_since_ms = None
        if answer.assignment is not None:
            topics = self.cluster.topic_ids
            self._target = {
                (topics[each.topic_id].name, index)
                for each in answer.assignment.topic_partitions
                if each.topic_id in topics
                for index in each.partitions
            }
            if not self._target.issuperset(self.readers):
                claim.give_up_by_ms = since_ms + REBALANCE_MS
        if self.scene.recording and (answer.assignment is not None or answer.member_epoch != self.epoch):
            owned = sorted(f"{topic}-{index}" for topic, index in self._target)
            self.tell(f"is told epoch {answer.member_epoch}, to own {', '.join(owned) or 'nothing'}")
        self.ownership.entered(self.name, answer.member_epoch, floor, sent_ms + SESSION_MS)
        self.epoch = answer.member_epoch
        self._beat_in(answer.heartbeat_interval_ms)
        self._reconcile()

    # -- partitions

    def _reconcile(self) -> None:
        """Gives up first what it no longer owns, then takes what is new to it."""
        if self._reconciling:
            return
        gone = [place for place in self.readers if place not in self._target]
        if gone:
            self._reconciling = True
            self._give_up(gone, self._given_up)
            return
        for place in sorted(self._target - self.readers.keys()):
            self.ownership.takes(self.name, place)
            reader = self._made.get(place)
            if reader is None:
                reader = self._made[place] = MemberReader(self, self.consumption, place)
            self.readers[place] = reader
            reader.start()
        if self.readers.keys() != self._said:
            self._beat()

    def _given_up(self) -> None:
        self._reconciling = False
        self._reconcile()

    def _give_up(self, places: list[Place], then: Callable[[], None]) -> None:
        """Stops reading, commits, and calls `then` once all commits are answered."""
        left = set(places)
        if not left:
            then()

        def committed(place: Place) -> None:
            self.ownership.gives_up(self.name, place)
            self.readers.pop(place)
            left.discard(place)
            if not left:
                then()

        for place in places:
            self.ownership.stops(self.name, place)
            self.readers[place].stop(True, self.unless_over(partial(committed, place)))

    def _abandon(self) -> None:
        """Stops reading what it owns, and commits nothing."""
        for reader in self.readers.values():
            reader.stop(False, lambda: None)
        self.readers.clear()
        self.ownership.ends(self.name)
