"""The topics of an answer to which brokers and coordinators both add partitions
(`OffsetCommitResponse.Builder`)."""

from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")


class AnsweredTopics(Generic[T]):
    """What a broker answers by itself comes first, topic by topic. The coordinator's results follow in the
    order of the request, a topic named twice in two entries; they are merged into topics that are there
    already, if there are any."""

    def __init__(self) -> None:
        self.topics: list[T] = []
        self._by_key: dict[object, T] = {}
        self._as_asked = False

    def begin_asked(self) -> None:
        """What follows comes from the coordinator."""
        self._as_asked = not self.topics

    def of(self, asked: object, key: object, make: Callable[[], T]) -> T:
        """The topic for the entry `asked` of the request, whose name or id is `key`; made if need be."""
        wanted = id(asked) if self._as_asked else key
        if (found := self._by_key.get(wanted)) is None:
            found = self._by_key[wanted] = make()
            self.topics.append(found)
        return found
