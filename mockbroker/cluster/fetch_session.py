"""One fetch session: the partitions that a client wants, and which of them have to be read next."""

from collections.abc import Collection, Generator
from typing import Any, Final, Protocol
from uuid import UUID

from ..portions import MANY, PORTION, portions
from ..protocol.messages.fetch import NO_DIVERGENCE, FetchPartition, FetchRequest, PartitionData
from ..replication.partition import Partition

Key = tuple[str, UUID | None, int]
"""How a request names a partition: its topic by name up to v12, by id since v13."""
_IN_ORDER: Final = 1_000
"""So many partitions are sorted; of more, the session is walked through in its order."""


class Reader(Protocol):
    """A Fetch that reads only what is `due`."""

    def stirred(self, cached: "CachedPartition", size: int | None) -> None:
        """Something about a partition changed, as `Replica.sessions` says."""


class CachedPartition:
    """A partition in a session: what was asked for, and what was answered last.

    `turn` is its place in the order in which partitions are read. If it rests, its `replica` tells it of
    changes; `segment` is the base offset of the segment that it would be read from then.
    """

    __slots__ = (
        "_session",
        "asked",
        "existed",
        "high_watermark",
        "key",
        "log_start_offset",
        "replica",
        "segment",
        "turn",
    )

    def __init__(self, key: Key, asked: FetchPartition, turn: int) -> None:
        self._session: FetchSession | None = None
        self.key = key
        self.asked = asked
        self.existed = False
        self.high_watermark = -1
        self.log_start_offset = -1
        self.turn = turn
        self.replica: Partition | None = None
        self.segment = -1

    def differs(self, answer: PartitionData) -> bool:
        """Whether the client does not know these offsets yet."""
        return (
            answer.high_watermark != self.high_watermark or answer.log_start_offset != self.log_start_offset
        )

    def changed(self, answer: PartitionData) -> bool:
        """Whether an incremental answer has to include the partition; remembers what is answered."""
        changed = bool(answer.records) or answer.preferred_read_replica != -1
        if self.differs(answer):
            self.high_watermark = answer.high_watermark
            self.log_start_offset = answer.log_start_offset
            changed = True
        if answer.error_code:
            # So that it is included again until the error is gone, and the client learns of that too.
            self.high_watermark = -1
            changed = True
        return changed or answer.diverging_epoch.epoch != -1

    # -- whether it has to be read

    def follow(self, session: "FetchSession", replica: Partition) -> None:
        """From now on `replica` tells `session` of changes, and no other does."""
        if self.replica is not replica:
            self.let_go()
            self.replica, self._session = replica, session
            replica.sessions.add(self)

    def can_rest(self, replica: Partition, result: PartitionData, committed: bool) -> bool:
        """Whether a consumer that has read `result` gets nothing more until `replica` tells of a change."""
        offset = self.asked.fetch_offset
        rests = (
            not result.error_code
            and not result.records
            and result.diverging_epoch is NO_DIVERGENCE
            and result.preferred_read_replica < 0
            and offset == result.high_watermark
            and (not committed or offset == result.last_stable_offset)
        )
        if rests:
            self.segment = replica.log.segment_of(offset)
        return rests

    def __call__(self, size: int | None) -> None:
        """Its replica tells of a change."""
        if self._session is not None:
            self._session.stir(self, size)

    def let_go(self) -> None:
        """Its replica tells it nothing more."""
        if self.replica is not None:
            self.replica.sessions.discard(self)
            self.replica = self._session = None


class FetchSession:
    """The partitions that a client wants, which are kept between its requests.

    Those that are `due` have to be read for the next answer: they were asked for anew, changed, or have more
    to be read. All others rest: reading them again would yield nothing. That is known only of what a consumer
    reads from leaders, for as long as the requests are alike (`likeness`); one request at a time, the
    `reader`, may make use of it.
    """

    __slots__ = (
        "_turns",
        "by_id",
        "created_ms",
        "due",
        "ended",
        "epoch",
        "id",
        "knows_epochs",
        "likeness",
        "partitions",
        "reader",
        "used_ms",
    )

    def __init__(self, session_id: int, by_id: bool, now_ms: int) -> None:
        self.id = session_id
        self.by_id = by_id
        self.epoch = 1
        self.created_ms = now_ms
        self.used_ms = now_ms
        self.partitions: dict[Key, CachedPartition] = {}
        self.due: dict[Key, None] = {}
        self.reader: Reader | None = None
        self.likeness: tuple[Any, ...] = ()
        self.ended = False
        self.knows_epochs = False
        """Whether a leader epoch that the client knows is kept."""
        self._turns = 0

    def next_turn(self) -> int:
        """A turn after all others."""
        self._turns += 1
        return self._turns

    def take(self, request: FetchRequest, epochs: bool = True) -> Generator[None, None, None]:
        """Adds and changes partitions as the request says; without the leader `epochs` that the client knows,
        if these are not kept."""
        count = 0
        for topic in request.topics:
            for asked in topic.partitions:
                count += 1
                if not count % PORTION:
                    yield
                if not epochs:
                    asked.current_leader_epoch = -1
                key = (topic.topic, topic.topic_id, asked.partition)
                cached = self.partitions.get(key)
                if cached is None:
                    self.partitions[key] = CachedPartition(key, asked, self.next_turn())
                else:
                    cached.asked = asked
                self.due[key] = None
        self.knows_epochs |= epochs and count > 0

    def forget(self, request: FetchRequest) -> None:
        """Removes partitions as the request says; a request that begins a session removes none."""
        for gone in request.forgotten_topics_data:
            for index in gone.partitions:
                key = (gone.topic, gone.topic_id, index)
                cached = self.partitions.pop(key, None)
                if cached is not None:
                    cached.let_go()
                    self.due.pop(key, None)

    def forget_epochs(self) -> Generator[None, None, None]:
        """Forgets which leader epochs the client knows."""
        if not self.knows_epochs:
            return
        for few in portions(list(self.partitions.values()), MANY):
            for cached in few:
                cached.asked.current_leader_epoch = -1
            yield
        self.knows_epochs = False

    def served(self, key: Key) -> None:
        """Moves a partition that returned data to the end, so that others have their turn."""
        cached = self.partitions[key] = self.partitions.pop(key)
        cached.turn = self.next_turn()

    # -- what has to be read

    def was_read(self, key: Key, replica: Partition, result: PartitionData, committed: bool) -> bool:
        """Whether the client does not know yet what was read of a partition that rests from now on."""
        cached = self.partitions.get(key)
        if cached is None:
            return False
        if not replica.leads:
            cached.let_go()
            return False
        cached.follow(self, replica)
        if not cached.can_rest(replica, result, committed):
            return False
        self.due.pop(key, None)
        return cached.differs(result)

    def in_order(self, keys: Collection[Key]) -> list[Key]:
        """In the order in which they are read."""
        partitions = self.partitions
        if len(keys) <= _IN_ORDER:
            return sorted([key for key in keys if key in partitions], key=lambda key: partitions[key].turn)
        return [key for key in partitions if key in keys]

    def in_turn(self) -> list[CachedPartition]:
        """What is due, in the order in which it is read."""
        return [self.partitions[key] for key in self.in_order(self.due)]

    def stir(self, cached: CachedPartition, size: int | None) -> None:
        """A partition is due again."""
        self.due[cached.key] = None
        if self.reader is not None:
            self.reader.stirred(cached, size)

    def stir_all(self) -> Generator[None, None, None]:
        """Each partition is due again."""
        for few in portions(list(self.partitions.values())):
            for cached in few:
                if cached.key in self.partitions and cached.key not in self.due:
                    self.stir(cached, None)
            yield

    def end(self) -> Generator[None, None, None]:
        """Nobody can continue it. Its replicas tell it nothing more, unless a request still waits for
        that."""
        self.ended = True
        if self.reader is not None:
            return
        for few in portions(list(self.partitions.values()), MANY):
            for cached in few:
                cached.let_go()
            yield
