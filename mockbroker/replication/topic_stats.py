"""What one broker counts of each topic (`BrokerTopicStats.java`)."""

from collections.abc import Mapping
from typing import Final, Protocol


class _Topic(Protocol):
    @property
    def name(self) -> str: ...


class TopicStats:
    """Bytes as producers sent them and consumers got them, and records that were appended. What followers
    fetch does not count."""

    __slots__ = ("bytes_in", "bytes_out", "messages_in")

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        self.bytes_in = 0
        self.bytes_out = 0
        self.messages_in = 0

    def appended(self, size: int, count: int) -> None:
        """The leader has appended a batch of so many bytes and records. A duplicate, which it acknowledges,
        counts as well (`ReplicaManager.appendToLocalLog`)."""
        self.bytes_in += size
        self.messages_in += count

    def add(self, other: "TopicStats") -> None:
        self.bytes_in += other.bytes_in
        self.bytes_out += other.bytes_out
        self.messages_in += other.messages_in


class BrokerTopicStats:
    """The topics of which a broker has replicas, since it started."""

    def __init__(self) -> None:
        self._topics: Final[dict[_Topic, TopicStats]] = {}
        self._removed: Final = TopicStats()

    def of(self, topic: _Topic) -> TopicStats:
        return self._topics.setdefault(topic, TopicStats())

    def remove(self, topic: _Topic) -> None:
        """The broker no longer has a replica of the topic, which still counts in `all_topics`."""
        if (stats := self._topics.pop(topic, None)) is not None:
            self._removed.add(stats)

    def clear(self) -> None:
        """The broker goes down: its counters begin at 0 when it is back."""
        for stats in (*self._topics.values(), self._removed):
            stats.clear()

    @property
    def topics(self) -> Mapping[str, TopicStats]:
        """By name, those for which there was any traffic."""
        found = ((topic.name, stats) for topic, stats in self._topics.items())
        return {name: stats for name, stats in found if stats.bytes_in or stats.bytes_out}

    @property
    def all_topics(self) -> TopicStats:
        """All together, including topics that are gone."""
        total = TopicStats()
        for stats in (*self._topics.values(), self._removed):
            total.add(stats)
        return total
