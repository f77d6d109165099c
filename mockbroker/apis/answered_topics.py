"""Topics of an answer, and those of the request that they answer."""

from collections.abc import Callable, Iterable, Iterator
from typing import Generic, TypeVar

P = TypeVar("P")
T = TypeVar("T")


def each_partition(answer: list[T], topics: Iterable[tuple[T, Iterable[P]]]) -> Iterator[tuple[T, P]]:
    """Each partition that was asked for, with the topic of the answer that it belongs to."""
    for topic, partitions in topics:
        answer.append(topic)
        for each in partitions:
            yield topic, each


class AnsweredTopics(Generic[T]):
    """The topics of an answer to which brokers and coordinators both add partitions
    (`OffsetCommitResponse.Builder`). What a broker answers by itself comes first, topic by topic. The
    coordinator's results follow in the order of the request, a topic named twice in two entries; they
    are merged into topics that are there already, if there are any."""

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
