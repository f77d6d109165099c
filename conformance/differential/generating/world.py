"""What a generator believes of the broker, so that most of what it draws makes sense."""

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ....rig.batches import OLD
from ..steps import Step

Versions = Mapping[str, Sequence[int]]


@dataclass
class BoundProducer:
    """A producer id that InitProducerId binds as `slot`."""

    slot: int
    transactional_id: str | None
    next_sequence: dict[tuple[str, int], int] = field(default_factory=dict)

    @property
    def id(self) -> dict[str, Any]:
        return {"$producer": self.slot}

    def epoch(self, plus: int = 0) -> dict[str, Any]:
        return {"$epoch": [self.slot, plus]}


@dataclass
class BoundMember:
    """A member id that JoinGroup binds as `slot`, with a connection of its own."""

    slot: int
    group: str
    instance: str | None
    client: int


@dataclass
class SharingMember:
    """A member of a share group; `slot` binds its epochs. It reads once it has begun a session."""

    slot: int
    id: str
    group: str
    client: int
    joined: bool = False
    reads: bool = False


@dataclass
class ConsumerMember:
    """A member of a consumer group; `slot` binds its epochs and partitions."""

    slot: int
    id: str
    group: str
    client: int
    instance: str | None
    joined: bool = False


@dataclass
class StreamsMember:
    """A member of a streams group; `slot` binds its epochs and tasks."""

    slot: int
    id: str
    group: str
    client: int
    process: str
    instance: str | None
    endpoint: dict[str, Any] | None
    joined: bool = False


def topic_to_create(
    name: str,
    configs: list[dict[str, Any]],
    count: int = -1,
    factor: int = -1,
    placed: Sequence[list[int]] = (),
) -> dict[str, Any]:
    """Of CreateTopics; partitions are counted, or placed on brokers."""
    return {
        "name": name,
        "num_partitions": count,
        "replication_factor": factor,
        "assignments": [
            {"partition_index": index, "broker_ids": brokers} for index, brokers in enumerate(placed)
        ],
        "configs": configs,
    }


class World:
    """One sequence while it is drawn."""

    def __init__(
        self, rng: random.Random, versions: Versions, addressed: Callable[["World", Step], Step] | None = None
    ) -> None:
        """`addressed` makes of each step what is put to one of several brokers; None where there is one."""
        self.rng = rng
        self.versions = versions
        self._addressed = addressed
        self.steps: list[Step] = []
        self.topics: dict[str, int] = {}
        self.replicas: dict[str, list[list[int]]] = {}
        self.ends: dict[tuple[str, int], int] = {}
        self.producers: list[BoundProducer] = []
        self.members: list[BoundMember] = []
        self.sharing: list[SharingMember] = []
        self.consuming: list[ConsumerMember] = []
        self.streaming: list[StreamsMember] = []
        self.topologies: dict[str, dict[str, Any]] = {}
        self.instances: list[int] = []
        self.tokens: list[int] = []
        self.fetch_sessions: list[dict[str, Any]] = []
        self.asked_of_session: dict[int, int | tuple[str, int]] = {}
        self.down: list[int] = []
        self.impatient = False
        self.groups = ["g0~", "g1~"]
        self.transactional_ids = ["tx0~", "tx1~"]
        # Old and present times in one log roll a segment between them: rare, see docs/differential.md.
        self.era = rng.choices(("old", "now", "mixed"), (60, 39, 1))[0]
        self.slots = 0

    def slot(self) -> int:
        self.slots += 1
        return self.slots - 1

    def chance(self, percent: float) -> bool:
        return self.rng.random() * 100 < percent

    def has(self, api: str) -> bool:
        return bool(self.versions.get(api))

    def version(self, api: str, *, low: int = 0, high: int = 99) -> int:
        """One of the versions that both brokers have; the newest ones most often."""
        known = [each for each in self.versions[api] if low <= each <= high] or list(self.versions[api])
        return known[-1] if self.chance(25) else self.rng.choice(known)

    def add(self, api: str, version: int, fields: dict[str, Any], **more: Any) -> None:
        step = Step(api, version, fields, **more)
        self.steps.append(self._addressed(self, step) if self._addressed else step)

    def topic(self) -> str:
        """A topic, seldom one that does not exist."""
        if self.chance(4) or not self.topics:
            return self.rng.choice(["missing~", "gone~"])
        return self.rng.choice(list(self.topics))

    def partition(self, topic: str) -> int:
        if self.chance(3):
            return self.rng.choice([-1, 7, 2**31 - 1])
        return self.rng.randrange(max(1, self.topics.get(topic, 1)))

    def group(self) -> str:
        if self.chance(4):
            return self.rng.choice(["", "unheard~"])
        return self.groups[0] if self.chance(75) else self.groups[1]

    def own_group(self) -> str:
        """One that no other sequence has: offsets committed for the empty id would be left to them all."""
        return self.group() or "unheard~"

    def transactional_id(self) -> str:
        if self.chance(4):
            return self.rng.choice(["", "unheard~"])
        return self.transactional_ids[0] if self.chance(75) else self.transactional_ids[1]

    def time(self) -> Any:
        """A record's time in ms, or a placeholder for one."""
        era = self.era if self.era != "mixed" else self.rng.choice(("old", "now"))
        near = self.rng.choice((0, 0, 1, 10, 1000, 60_000, -5))
        return OLD + near if era == "old" else {"$now": -abs(near)}

    def offset(self, topic: str, partition: int) -> int:
        """Near the believed ends of a log."""
        end = self.ends.get((topic, partition), 0)
        if self.chance(75):
            return self.rng.randint(0, end)
        return self.rng.choice([-1, -2, -3, end + 1, end + 100, 2**63 - 1, 0, end])

    def some(self, counts: Sequence[int], weights: Sequence[int] | None = None) -> range:
        """As often as one of `counts` says."""
        if weights is None:
            return range(self.rng.choice(counts))
        return range(self.rng.choices(counts, weights)[0])

    def of_partitions(
        self, topics: range, parts: Callable[[], range], drawn: Callable[[str], Any]
    ) -> list[tuple[str, list[Any]]]:
        """So many topics, each with what is drawn for so many of its partitions."""
        found = []
        for _ in topics:
            topic = self.topic()
            found.append((topic, [drawn(topic) for _ in parts()]))
        return found

    def create(self, topics: list[dict[str, Any]]) -> None:
        """The topics that a sequence begins with."""
        fields = {"topics": topics, "timeout": 10_000, "validate_only": False}
        self.add("create_topics", self.version("create_topics"), fields)

    def refer(self, topic: str, key: str = "name") -> dict[str, Any]:
        """A topic by name and by id, for versions that use either."""
        ident: Any = {"$topic_id": topic}
        if self.chance(1):
            ident = None
        return {key: topic, "topic_id": ident}
