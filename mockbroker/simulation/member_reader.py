"""What a member of a consumer group reads of one partition, with the epoch and over the connections of the
member."""

from collections.abc import Callable
from typing import Any, ClassVar, Protocol

from ..protocol.api_keys import ApiKey
from ..protocol.messages.offset_commit import OffsetCommitRequest, OffsetCommitRequestTopic
from ..protocol.messages.offset_fetch import OffsetFetchRequestGroup, OffsetFetchRequestTopics
from .client import RETRY_BACKOFF_MS
from .consumer import ModelConsumer
from .consumer_setting import ConsumerSetting
from .consumption import Consumption
from .ledger import Place
from .ownership import Ownership
from .scene import Scene


class Owner(Protocol):
    """The member, as seen from here."""

    scene: Scene
    name: str
    group: str
    setting: ConsumerSetting
    ownership: Ownership
    id: str
    epoch: int
    instance_id: str | None
    known_coordinator: int

    def send(
        self, broker: int, api: ApiKey, version: int, request: Any, then: Callable[[Any], None], lane: str
    ) -> None: ...
    def later(self, action: Callable[[], None], delay_ms: int = RETRY_BACKOFF_MS) -> None: ...
    def refused(self, error: int | None) -> None: ...


class MemberReader(ModelConsumer):
    """Reads a partition while its member owns that."""

    speaks: ClassVar = {**ModelConsumer.speaks, ApiKey.OFFSET_COMMIT: 9, ApiKey.OFFSET_FETCH: 9}

    def __init__(self, member: Owner, consumption: Consumption, place: Place) -> None:
        name = f"{member.name}/{place[0]}-{place[1]}"
        super().__init__(member.scene, consumption, name, member.group, place, member.setting)
        self.member = member

    def ask(
        self, broker: int, api: ApiKey, request: Any, then: Callable[[Any], None], lane: str = ""
    ) -> None:
        """Over a connection of its member, one for each partition."""
        lane = f"{lane}/{self.topic}-{self.partition}"
        self.member.send(broker, api, self.versions[api], request, then, lane)

    def later(self, action: Callable[[], None], delay_ms: int = RETRY_BACKOFF_MS) -> None:
        self.member.later(action, delay_ms)

    def coordinator(self, group: str) -> int:
        return self.member.known_coordinator

    def _as_member(self, topics: list[OffsetFetchRequestTopics]) -> OffsetFetchRequestGroup:
        return OffsetFetchRequestGroup(self.group, self.member.id, self.member.epoch, topics)

    def _from_member(self, topics: list[OffsetCommitRequestTopic]) -> OffsetCommitRequest:
        member = self.member
        return OffsetCommitRequest(self.group, member.epoch, member.id, member.instance_id, topics)

    def _refused(self, error: int | None) -> None:
        self.member.refused(error)

    def _acknowledged(self, offset: int, before: int | None) -> None:
        if before is not None and offset < before:
            self.consumption.committed_less(self, offset, before)

    def _take(self, batch: Any, aborted: bool = False) -> None:
        self.member.ownership.reads(self.member.name, self.place)
        super()._take(batch, aborted)
