"""What a ShareFetch reads and acquires, waiting for it if need be (`DelayedShareFetch.java`)."""

from bisect import bisect_right
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from itertools import accumulate
from typing import Final, NamedTuple, overload

from ..cluster.call import Call
from ..cluster.led_share import LedShare
from ..cluster.share_sessions import Member, Place
from ..coordinators.share.settings import reads_committed
from ..environment import Timer
from ..policies.share_groups.acquired_ranges import acquired_ranges
from ..policies.share_groups.log_start_in_a_batch import log_start_in_a_batch
from ..policies.share_groups.log_start_in_a_gap import log_start_in_a_gap
from ..policies.share_groups.worn_records import worn_records
from ..portions import FEW, portions
from ..protocol.errors import ErrorCode
from ..protocol.messages import fetch
from ..protocol.messages.common import LeaderIdAndEpoch
from ..protocol.messages.share_fetch import AcquiredRecords, PartitionData, ShareFetchRequest
from ..protocol.record_batch import CONTROL, TRANSACTIONAL, header_of
from ..protocol.share_state_log import SharePartitionKey
from ..replication import reading
from ..replication.partition import Partition
from ..share_partitions.acquiring import Acquired
from ..share_partitions.share_partition import SharePartition

E = ErrorCode
_LIMITED: Final = 1
"""The acquire mode in which a batch may be divided (KIP-1206)."""
_HEAD: Final = 12
"""The bytes up to and with the length of a batch."""
Stored = bytes | bytearray | memoryview
Found = dict[Place, PartitionData]


class _Asked(NamedTuple):
    place: Place
    led: LedShare
    share: SharePartition
    offset: int


class _Read(NamedTuple):
    """`batches` are those of `stored` that are whole."""

    place: Place
    led: LedShare
    share: SharePartition
    offset: int
    result: fetch.PartitionData
    stored: Sequence[Stored]
    batches: Sequence[Stored]

    @property
    def falls_behind(self) -> bool:
        """Whether what can be read ends in a later segment than it began in."""
        log = self.led.partition.log
        end = log.high_watermark
        return self.offset < end and log.segment_of(log.batch_base(self.offset)) < log.segment_of(end)


class Reading:
    """Reads share partitions. `done` is called with what was found."""

    def __init__(
        self,
        call: Call,
        request: ShareFetchRequest,
        member: Member,
        done: Callable[[Found], None],
    ) -> None:
        self._call = call
        self._request = request
        self._member = member
        self._done = done
        self._committed = reads_committed(call.environment.configs, member.group)
        self._failed: Found = {}
        self._led: dict[Place, LedShare] = {}
        self._over = False
        self._timer: Timer | None = None

    def _find(self, place: Place) -> None:
        call = self._call
        assert place.topic_id is not None
        topic = call.cluster.topic_ids.get(place.topic_id)
        partition = call.partition(topic, place.partition)
        if partition is None:
            self._failed[place] = PartitionData(place.partition, E.UNKNOWN_TOPIC_OR_PARTITION)
        elif not partition.leads:
            self._failed[place] = _refused(place, E.NOT_LEADER_OR_FOLLOWER, partition)
        else:
            key = SharePartitionKey(self._member.group, place.topic_id, place.partition)
            self._led[place] = call.broker.shares.lead(key, partition)

    def begin(self, places: Sequence[Place]) -> Generator[None, None, None]:
        """Answers at once, or when there is enough to read of these partitions, which are read in this order,
        or its time is over."""
        for some in portions(places, FEW):
            for place in some:
                self._find(place)
            yield
        self._refuse_failed()
        if not self._led:
            self._complete()
        elif (found := self._enough()) is not None:
            self._complete(found)
        elif self._request.max_wait_ms <= 0:
            self._complete()
        else:
            self._timer = self._call.environment.wait(self._request.max_wait_ms, self._complete)
            for led in self._led.values():
                led.waiting.add(self._look)
                led.partition.waiting.add(self._arrived)

    def _refuse_failed(self) -> None:
        for place, led in list(self._led.items()):
            if led.failed is not None:
                self._failed[place] = _refused(place, led.failed, led.partition)
                self._forget(self._led.pop(place))

    def _arrived(self, size: int) -> None:
        self._look()

    def _look(self) -> None:
        """Whether it still has to wait. If looking fails, that ends this request, and nobody else's."""
        if not self._over:
            self._call.environment.contain(self._look_again, self._call)

    def _look_again(self) -> None:
        self._refuse_failed()
        if not self._led:
            self._complete()
        elif (found := self._enough()) is not None:
            self._complete(found)

    def _enough(self) -> list[_Read] | None:
        """What can be read, if that is enough; None if nothing is. Where nobody has looked yet is read first,
        and apart from the rest: of either, the first batch is sent whatever the limit (`maybeReadFromLog`,
        `combineLogReadResponse`)."""
        asked = self._asked()
        first = self._read([each for each in asked if each.share.looked_at != each.offset], len(asked))
        rest = self._read([each for each in asked if each.share.looked_at == each.offset], len(asked))
        for each in first:
            if not each.result.error_code:
                each.share.looked_at = each.offset
        found = rest + first
        if not found:
            return None
        least = min(self._request.min_bytes, self._request.max_bytes)
        enough = least <= 0 or any(size >= least for size in accumulate(_sizes(found)))
        if enough or any(each.result.error_code or each.falls_behind for each in found):
            return found
        return None

    def _asked(self) -> list[_Asked]:
        """The partitions of which something can be acquired, and where to read next."""
        shares = ((place, led, led.active()) for place, led in self._led.items())
        return [
            _Asked(place, led, share, share.next_fetch_offset())
            for place, led, share in shares
            if share is not None and share.can_acquire()
        ]

    def _read(self, asked: Sequence[_Asked], several: int) -> list[_Read]:
        """What can be read of these; `several` are that share the request's limit."""
        found: list[_Read] = []
        limit = max(1, self._request.max_bytes // max(1, several))
        # As long as no partition had more than its share, there is another one for each that follows.
        exact = limit * len(asked) > self._request.max_bytes
        for place, led, share, offset in asked:
            left = self._request.max_bytes - (sum(_sizes(found)) if exact else limit * len(found))
            part = fetch.FetchPartition(place.partition, fetch_offset=offset, partition_max_bytes=limit)
            result = reading.read(
                led.partition,
                part,
                committed=self._committed,
                followers_serve=False,
                max_bytes=max(0, left),
                at_least_one=not any(each.stored for each in found),
                at_once=True,
            )
            stored = result.records or ()
            exact = exact or (len(stored) == 1 and len(stored[0]) > limit)
            batches = stored if not stored or _is_whole(stored[-1]) else stored[:-1]
            found.append(_Read(place, led, share, offset, result, stored, batches))
        return found

    def _complete(self, found: list[_Read] | None = None) -> None:
        """Acquires what was read just now; otherwise it is read now."""
        self._over = True
        for led in self._led.values():
            self._forget(led)
        if self._timer is not None:
            self._timer.cancel()
        answer: Found = {}
        room = self._request.max_records
        if found is None:
            asked = self._asked()
            found = self._read(asked, len(asked))
        for each in found:
            part, count = self._acquire(each, room)
            room -= count
            answer[each.place] = part
        self._done(answer | self._failed)

    def _forget(self, led: LedShare) -> None:
        led.waiting.discard(self._look)
        led.partition.waiting.discard(self._arrived)

    def _acquire(self, read: _Read, room: int) -> tuple[PartitionData, int]:
        part = PartitionData(read.place.partition)
        error = ErrorCode(read.result.error_code)
        if error is E.OFFSET_OUT_OF_RANGE:
            read.share.move_log_start(
                read.led.partition.log.start_offset,
                moves_gap=self._call.policies[log_start_in_a_gap] == "goes-on",
            )
            return part, 0
        if error:
            part.error_code = error
            return part, 0
        ranges = _Ranges(read.batches)
        acquired = read.share.acquire(
            self._member.id,
            ranges,
            read.offset,
            max_records=room,
            batch_size=self._request.batch_size,
            now=self._call.environment.now_ms,
            limited=self._request.share_acquire_mode == _LIMITED,
            throttled=self._call.policies[worn_records] == "fewer-and-fewer",
            joined=self._call.policies[acquired_ranges] == "joined",
            there=self._call.policies[log_start_in_a_batch] == "there",
        )
        if acquired and self._committed and read.result.aborted_transactions:
            acquired = read.share.withdraw(acquired, _aborted(read))
        read.led.watch()
        if not acquired:
            return part, 0
        # A single batch is sent with what was read behind it.
        alone = len(read.batches) == 1
        part.records = list(read.stored) if alone else _overlapping(read.batches, ranges, acquired)
        part.acquired_records = [AcquiredRecords(*each) for each in map(_fields, acquired)]
        return part, sum(each.last - each.first + 1 for each in acquired)


def _refused(place: Place, error: ErrorCode, partition: Partition) -> PartitionData:
    """With the leader, if the client has to ask that."""
    part = PartitionData(place.partition, error)
    if error is E.NOT_LEADER_OR_FOLLOWER:
        part.current_leader = LeaderIdAndEpoch(partition.leader, partition.leader_epoch)
    return part


def _fields(acquired: Acquired) -> tuple[int, int, int]:
    return acquired.first, acquired.last, acquired.delivery_count


def _is_whole(batch: Stored) -> bool:
    """The last one may be cut short."""
    return len(batch) >= _HEAD and len(batch) >= _HEAD + int.from_bytes(batch[_HEAD - 4 : _HEAD])


def _range(batch: Stored) -> tuple[int, int]:
    header = header_of(batch)
    return header.base_offset, header.base_offset + header.last_offset_delta


class _Ranges(Sequence[tuple[int, int]]):
    """The first and last offsets of batches. Few are looked at, however many were read."""

    def __init__(self, batches: Sequence[Stored]) -> None:
        self._batches = batches

    def __len__(self) -> int:
        return len(self._batches)

    @overload
    def __getitem__(self, index: int) -> tuple[int, int]: ...

    @overload
    def __getitem__(self, index: slice) -> list[tuple[int, int]]: ...

    def __getitem__(self, index: int | slice) -> tuple[int, int] | list[tuple[int, int]]:
        if isinstance(index, slice):
            return [_range(each) for each in self._batches[index]]
        return _range(self._batches[index])


def _sizes(found: Iterable[_Read]) -> Iterator[int]:
    for each in found:
        yield from map(len, each.stored)


def _overlapping(
    batches: Sequence[Stored], ranges: Sequence[tuple[int, int]], acquired: Sequence[Acquired]
) -> list[Stored]:
    """From the batch of the first record that was acquired to that of the last one."""
    first, last = acquired[0].first, acquired[-1].last
    begin = max(0, bisect_right(ranges, first, key=_low) - 1)
    return list(batches[begin : bisect_right(ranges, last, key=_low)])


def _low(offsets: tuple[int, int]) -> int:
    return offsets[0]


def _aborted(read: _Read) -> list[tuple[int, int]]:
    """The batches of transactions that were aborted."""
    begun = sorted((each.first_offset, each.producer_id) for each in read.result.aborted_transactions or ())
    open_ids: set[int] = set()
    found = []
    for batch in read.batches:
        header = header_of(batch)
        if header.producer_id < 0:
            continue
        last = header.base_offset + header.last_offset_delta
        while begun and begun[0][0] <= last:
            open_ids.add(begun.pop(0)[1])
        if header.attributes & CONTROL:
            open_ids.discard(header.producer_id)
        elif header.attributes & TRANSACTIONAL and header.producer_id in open_ids:
            found.append((header.base_offset, last))
    return found
