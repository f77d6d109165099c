"""A member of a share group (KIP-932), as Java's is (`ShareHeartbeatRequestManager.java`,
`ShareMembershipManager.java`).

It reads the partitions that it was told from whichever brokers lead them, over one share session each.
"""

import hashlib
from collections.abc import Iterable
from typing import Final
from uuid import UUID

from ..protocol.api_keys import ApiKey
from ..protocol.errors import ErrorCode
from ..protocol.messages.share_group_heartbeat import ShareGroupHeartbeatRequest, ShareGroupHeartbeatResponse
from ..protocol.primitives import short_uuid
from .client import NO_BROKER, RETRY_BACKOFF_MS
from .group_member import FENCED, JOINING, LEAVING, LOST, REJOIN_MS, GroupMember
from .ledger import Place
from .scene import SHARERS, Scene
from .share_reader import ShareReader
from .share_setting import TOPIC, ShareSetting

_SPEAKS: Final = {
    ApiKey.METADATA: 9,
    ApiKey.FIND_COORDINATOR: 4,
    ApiKey.SHARE_GROUP_HEARTBEAT: 1,
    ApiKey.SHARE_FETCH: 2,
    ApiKey.SHARE_ACKNOWLEDGE: 2,
}
_POISON: Final = 13
"""One record in so many is poison."""
_DISCONNECTS: Final = 0.5
"""How often a member that leaves closes its connections."""


class ModelShareMember(GroupMember):
    """One member, in one life after another. One that is `careful` accepts everything at once."""

    def __init__(self, scene: Scene, name: str, setting: ShareSetting) -> None:
        super().__init__(scene, name, _SPEAKS, SHARERS)
        self.setting = setting
        self.careful = False
        self.readers: dict[int, ShareReader] = {}
        """By broker."""
        self._assigned: set[Place] = set()
        self._says_all = True
        self.muted = False
        """Whether it sends no heartbeats."""

    def _begin_life(self) -> None:
        """Brokers of 4.1 take only UUIDs for members."""
        super()._begin_life()
        self.id = short_uuid(UUID(bytes=hashlib.sha256(self.id.encode()).digest()[:16]))

    # -- what happens to it

    def stop(self) -> None:
        """It says what is left to say, ends its share sessions, and leaves."""
        if not self.running:
            return
        self.running, self._stopping = False, True
        self._turn += 1
        self.tell("stops")
        left = set(self.readers)
        for broker, reader in list(self.readers.items()):

            def closed(broker: int = broker) -> None:
                left.discard(broker)
                if not left and self._stopping:
                    self._leave()

            reader.close(closed)
        if not left and self._stopping:
            self._leave()

    def _leave(self) -> None:
        self._stopping = False
        request = ShareGroupHeartbeatRequest(self.group, self.id, LEAVING)
        disconnects = self.random.random() < _DISCONNECTS
        if self.known_coordinator != NO_BROKER and self.epoch > JOINING:
            self.ask(
                self.known_coordinator,
                ApiKey.SHARE_GROUP_HEARTBEAT,
                request,
                lambda answer: self._hang_up() if disconnects and not self.running else None,
                "heartbeats",
            )
        self._end()

    def _hang_up(self) -> None:
        self.scene.network.hang_up(self.name)

    def kill(self) -> None:
        """It dies without a word, and its connections with it."""
        if self.running:
            self.running = False
            self.tell("dies")
            self._end()
            self._hang_up()
            if self._held is not None:
                self._held = []

    def mute(self, ms: int) -> None:
        """It sends no heartbeats for a while, and goes on reading."""
        if self.running and not self.muted:
            self.tell(f"sends no heartbeats for {ms} ms")
            self.muted = True
            self.cluster.environment.after(ms, self._beats_again)

    def _beats_again(self) -> None:
        self.muted = False
        self._beat()

    def _end(self) -> None:
        super()._end()
        for reader in self.readers.values():
            reader.end()
        self.readers = {}
        self._assigned = set()

    def gets(self, place: Place, numbers: Iterable[int]) -> bool:
        """The application gets records. Whether it survives that."""
        if self.setting.poison and not self.careful and any(number % _POISON == 0 for number in numbers):
            self.kill()
            self.cluster.environment.after(REJOIN_MS, self.start)
            return False
        return True

    # -- heartbeats

    def _join(self) -> None:
        self._turn += 1
        self.epoch = JOINING
        self._asking = self._finding = False
        self._says_all = True
        self._assigned = set()
        self._beat()

    def _beat(self) -> None:
        if self._asking or self.muted or not self.running:
            return
        if self.known_coordinator == NO_BROKER:
            self._find()
            return
        self._asking = True
        topics = [TOPIC] if self._says_all else None
        request = ShareGroupHeartbeatRequest(self.group, self.id, self.epoch, None, topics)
        self._says_all = False

        def answered(answer: ShareGroupHeartbeatResponse | None) -> None:
            self._asking = False
            if answer is None or answer.error_code:
                self._failed(None if answer is None else ErrorCode(answer.error_code))
            else:
                self._heard(answer)

        coordinator = self.known_coordinator
        self.ask(coordinator, ApiKey.SHARE_GROUP_HEARTBEAT, request, self.unless_over(answered), "heartbeats")

    def _failed(self, error: ErrorCode | None) -> None:
        self._says_all = True
        if error in LOST:
            self.refused(error)
        elif error in FENCED:
            assert error is not None
            self.tell(f"is told {error.name}")
            self._join()
        else:
            self._beat_in(RETRY_BACKOFF_MS)

    def _heard(self, answer: ShareGroupHeartbeatResponse) -> None:
        if answer.assignment is not None:
            topics = self.cluster.topic_ids
            self._assigned = {
                (topics[each.topic_id].name, index)
                for each in answer.assignment.topic_partitions
                if each.topic_id in topics
                for index in each.partitions
            }
            if self.scene.recording:
                told = ", ".join(sorted(f"{topic}-{index}" for topic, index in self._assigned))
                self.tell(f"is told epoch {answer.member_epoch}, to read {told or 'nothing'}")
        self.epoch = answer.member_epoch
        self._beat_in(answer.heartbeat_interval_ms)
        self._read()

    # -- what it reads

    def _read(self) -> None:
        """Has a reader for each broker that leads something, and has all of them look again."""
        leaders = {place: self.leader_of(*place).leader for place in sorted(self._assigned)}
        if NO_BROKER in leaders.values():
            self.refresh(TOPIC, self.unless_over(self._read_known))
        for leader in leaders.values():
            if leader != NO_BROKER and leader not in self.readers:
                self.readers[leader] = ShareReader(self, leader)
        for reader in list(self.readers.values()):
            reader.go_on()

    def _read_known(self) -> None:
        """Reads what has a leader; if something has none, it looks again with the next heartbeat."""
        if self.running:
            for place in sorted(self._assigned):
                leader = self.leader_of(*place).leader
                if leader != NO_BROKER and leader not in self.readers:
                    self.readers[leader] = ShareReader(self, leader)
            for reader in list(self.readers.values()):
                reader.go_on()

    def reads_from(self, broker: int) -> set[Place]:
        """The partitions that it reads there."""
        return {place for place in self._assigned if self.leader_of(*place).leader == broker}

    def lost_leader(self) -> None:
        """Looks up leaders again."""
        self.refresh(TOPIC, self.unless_over(self._read_known))
