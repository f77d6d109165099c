"""The share groups that read from the partitions of one broker (`SharePartitionManager.java`)."""

from collections.abc import Iterable
from typing import TYPE_CHECKING
from uuid import UUID

from ..protocol.share_state_log import SharePartitionKey
from ..share_partitions.kept import Persister
from .led_share import InParts, LedShare
from .share_sessions import Member, Place, ShareSession, ShareSessions

if TYPE_CHECKING:
    from ..replication.partition import Partition
    from .dead_letters import DeadLetters


class ShareLeader:
    """The share sessions at one broker, and the share partitions that it leads."""

    def __init__(self, persister: Persister, letters: "DeadLetters", in_parts: InParts) -> None:
        self._persister = persister
        self._in_parts = in_parts
        self._letters = letters
        self._led: dict[SharePartitionKey, LedShare] = {}
        self.sessions = ShareSessions(self._release, self._forget_group)

    def known(self, key: SharePartitionKey) -> LedShare | None:
        """One that was fetched from before, though it may not be led any more."""
        return self._led.get(key)

    def of_group(self, group: str) -> list[LedShare]:
        """Those that are led still."""
        return [each for key, each in self._led.items() if key.group == group and each.current]

    def waited_for(self) -> list[LedShare]:
        """Those from which a member waits for records."""
        return [each for each in self._led.values() if each.current and list(each.waiting)]

    def drop_sessions(self) -> None:
        """All members have to begin new ones; what they have acquired is let go."""
        for member in self.sessions.members():
            self.end_session(member)

    def find(self, key: SharePartitionKey) -> LedShare | None:
        """One that was fetched from before, and is led still."""
        led = self._led.get(key)
        if led is not None and not led.current:
            self._drop(led)
            return None
        return led

    def lead(self, key: SharePartitionKey, partition: "Partition") -> LedShare:
        """The share partition, read from its share coordinator if need be."""
        led = self.find(key)
        if led is None:
            led = LedShare(key, partition, self._persister, self._drop, self._letters, self._in_parts)
            if led.failed is None:
                self._led[key] = led
        return led

    def end_session(self, member: Member) -> None:
        """The member does not read on: what it has acquired is let go."""
        session = self.sessions.remove(member)
        if session is not None:
            self._release(session)

    def halt(self) -> None:
        """The broker goes down."""
        for led in list(self._led.values()):
            led.stop()
        self._led.clear()

    def release(self, member: Member, places: Iterable[Place]) -> None:
        """Lets go what the member has acquired of these partitions."""
        for place in places:
            led = self.find(SharePartitionKey(member.group, place.topic_id or UUID(int=0), place.partition))
            if led is not None:
                led.release(member.id)

    def _release(self, session: ShareSession) -> None:
        # What is let go may answer a fetch of that session, which reorders them.
        self.release(session.member, list(session.told))

    def _forget_group(self, group: str) -> None:
        for led in [each for each in self._led.values() if each.key.group == group]:
            self._drop(led)

    def _drop(self, led: LedShare) -> None:
        if self._led.get(led.key) is led:
            del self._led[led.key]
            led.stop()
