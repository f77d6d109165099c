"""The internal topics of Kafka Streams, which a broker has the controller create for streams groups
(`AutoTopicCreationManager.scala`, KIP-1071)."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Final, NamedTuple

from ..controller.topic_creation import MAX_PARTITIONS_PER_REQUEST, check_configs, check_name, place
from ..environment import Environment
from ..protocol.api_error import ApiError
from ..protocol.errors import ErrorCode
from ..protocol.streams_group_records import InternalTopic

if TYPE_CHECKING:
    from ..controller.controller import Controller

_DEFAULT: Final = -1


class _Failed(NamedTuple):
    why: str
    until_ms: int


class StreamsTopics:
    """What one broker has created. What failed is tried again only after a while, of which members hear."""

    def __init__(self, environment: Environment, controller: "Controller") -> None:
        self._environment = environment
        self._controller = controller
        self._failed: dict[str, _Failed] = {}

    def create(self, topics: Mapping[str, InternalTopic], patience_ms: int) -> None:
        """Has these topics created, after the answer to the heartbeat."""
        now_ms = self._environment.now_ms
        self._failed = {name: each for name, each in self._failed.items() if each.until_ms > now_ms}
        if wanted := [topic for name, topic in topics.items() if name not in self._failed]:
            self._environment.after(0, lambda: self._create(wanted, patience_ms))

    def failures(self, names: Iterable[str]) -> dict[str, str]:
        """Why topics could not be created, as far as that is remembered."""
        now_ms = self._environment.now_ms
        return {
            name: failed.why
            for name in names
            if (failed := self._failed.get(name)) is not None and failed.until_ms > now_ms
        }

    def _create(self, topics: Iterable[InternalTopic], patience_ms: int) -> None:
        controller = self._controller
        first = len(controller.image.topics)
        # Several members may have asked for it.
        topics = [topic for topic in topics if topic.name not in controller.image.topics]
        too_many = sum(topic.partitions for topic in topics) > MAX_PARTITIONS_PER_REQUEST
        for topic in topics:
            try:
                if too_many:
                    raise ApiError(
                        ErrorCode.POLICY_VIOLATION, "Excessively large number of partitions per request."
                    )
                check_name(controller, topic.name)
                overrides = check_configs(controller, topic.configs)
                made = place(controller, topic.partitions, topic.replication_factor or _DEFAULT, first)
            except ApiError as error:
                until_ms = self._environment.now_ms + patience_ms
                self._failed[topic.name] = _Failed(error.message or error.code.name, until_ms)
            else:
                controller.create_topic(topic.name, made, overrides)
