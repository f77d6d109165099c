"""What a log of `__consumer_offsets` says about groups (`GroupMetadataManager.doLoadGroupsAndOffsets`)."""

from collections.abc import Generator
from typing import TYPE_CHECKING, Final, NamedTuple

from ..policies.offsets.offsets_load import Unreadable
from ..protocol.batch_writing import marker_of
from ..protocol.consumer_group_keys import KINDS, Kind
from ..protocol.consumer_group_keys import Key as ConsumerKey
from ..protocol.consumer_group_keys import read_key as read_consumer_key
from ..protocol.group_metadata import GroupMetadata, read_group
from ..protocol.offsets_log import (
    CommitKey,
    GroupKey,
    OtherKey,
    group_key_of,
    is_commit_key,
    read_commit,
    read_key,
)
from ..protocol.record_batch import CONTROL, TRANSACTIONAL, Batch, header_of, pairs
from ..protocol.share_group_records import (
    SHARE_KINDS,
    ShareKey,
    ShareKind,
    ShareValue,
    read_share_key,
    read_share_value,
)
from ..protocol.streams_group_keys import STREAMS_KINDS, StreamsKey, StreamsKind, read_streams_key
from ..protocol.streams_group_records import StreamsValue, read_streams_value
from .group_records import Layout
from .offsets import CommittedOffset, Key

if TYPE_CHECKING:
    from ..log.log import Log
    from ..protocol.consumer_group_records import Value

BATCHES: Final = 64
"""How many batches are read in one part."""
_BUILT: Final = 256
"""How many values are parsed in one part."""
_CLASSIC: Final = 2
"""The highest version of a key of committed offsets and classic groups."""
_SERVED: Final = frozenset(range(_CLASSIC + 1)) | KINDS | SHARE_KINDS | STREAMS_KINDS
"""The kinds of keys that say something about groups that are served here."""
_SHORTEST: Final = 4
"""The bytes of a key with an empty group id."""
_NEWEST: Final = b"\0\4"
"""The highest version of a value."""


class Stored(NamedTuple):
    """The offset of a record in the log, and its value."""

    at: int
    value: bytes


class LoadedGroup:
    """A group as the log has it: `metadata` is None if the group only has offsets; `open` are the offsets of
    open transactions, by producer id. `consumer` are the records of a consumer group by kind and name,
    `share` those of a share group, `streams` those of a streams group, and `written` the same by key."""

    __slots__ = ("consumer", "metadata", "offsets", "open", "share", "streams", "written")

    def __init__(self) -> None:
        self.consumer: dict[Kind, dict[str, Value]] = {}
        self.share: dict[ShareKind, dict[str, ShareValue]] = {}
        self.streams: dict[StreamsKind, dict[str, StreamsValue]] = {}
        self.written: dict[bytes, bytes] = {}
        self.metadata: GroupMetadata | None = None
        self.offsets: dict[Key, CommittedOffset] = {}
        self.open: dict[int, dict[Key, CommittedOffset]] = {}


class UnreadableRecordError(ValueError):
    """A record of `__consumer_offsets` that can't be parsed."""


class EndlessLoadError(Exception):
    """A load that never ends."""


class Buffer(NamedTuple):
    """How a log is read. A load of a batch of more than `size` bytes never ends unless the buffer `grows`. If
    `first_counts`, what later buffers say about a group is dropped."""

    size: int = 1 << 31
    grows: bool = True
    first_counts: bool = False


_ENDLESS: Final = Buffer()


class Loading:
    """Reads a log from its start to its end, in parts; what is appended meanwhile is read too.

    `found` are the last values by key, as far as the log was read; `open` are those of transactions, by
    producer id.
    """

    def __init__(self, log: "Log", layout: Layout, unreadable: Unreadable, buffer: Buffer = _ENDLESS) -> None:
        self._log = log
        self._buffer = buffer
        self._buffered = 0
        self._dropped: set[str] = set()
        """The groups that count as loaded."""
        self._layout = layout
        self._unreadable = unreadable
        self._next = self._start = log.start_offset
        self._cut_count = log.cut_count
        self.found: dict[bytes, Stored] = {}
        self.open: dict[int, dict[bytes, Stored]] = {}
        self.groups: dict[str, LoadedGroup] = {}
        self._emptied: dict[bytes, None] = {}
        """Keys of groups some of whose offsets are gone."""

    @property
    def behind(self) -> bool:
        """Whether there is more to be read."""
        return self._next < self._log.end_offset

    def goes_on(self, log: "Log", layout: Layout) -> bool:
        """Whether later records of this log can be added to what was read: nothing was truncated or deleted
        since. A cleaner only removes records that later ones replace."""
        same = log is self._log and layout == self._layout
        return same and (log.cut_count, log.start_offset) == (self._cut_count, self._start)

    def read(self, batches: int = BATCHES) -> Generator[None, None, None]:
        """Yields between two parts. UnreadableRecordError, and `found` is what was read before;
        EndlessLoadError."""
        while part := self._log.batches_from(self._next, batches):
            for batch in part:
                self._fill(len(batch))
                self._read(batch)
            yield

    def _fill(self, size: int) -> None:
        """Another batch comes into the buffer, or into the next one."""
        buffer = self._buffer
        if size > buffer.size and not buffer.grows:
            raise EndlessLoadError
        self._buffered += size
        if self._buffered > buffer.size:
            self._buffered = size
            if buffer.first_counts:
                every = (self.found, *self.open.values())
                self._dropped.update(group_of(key) for found in every for key in found)

    def build(self) -> Generator[None, None, None]:
        """Makes `groups` of what was read. UnreadableRecordError."""
        self.groups = {}
        for number, (data, stored) in enumerate(self.found.items()):
            if not number % _BUILT:
                yield
            if (of_consumers := read_consumer_key(data)) is not None:
                self._add(of_consumers, data, stored)
                continue
            if (of_shares := read_share_key(data)) is not None:
                self._add_share(of_shares, data, stored)
                continue
            if (of_streams := read_streams_key(data)) is not None:
                self._add_streams(of_streams, data, stored)
                continue
            key = read_key(data)
            if isinstance(key, CommitKey):
                if (offset := self._offset(stored)) is not None:
                    self._group(key.group).offsets[key.topic, key.partition] = offset
            elif isinstance(key, GroupKey):
                try:
                    self._group(key.group).metadata = read_group(stored.value)
                except ValueError as error:
                    self._complain(stored.at, error)
        for producer_id, waiting in self.open.items():
            for data, stored in waiting.items():
                key = read_key(data)
                if isinstance(key, CommitKey) and (offset := self._offset(stored)) is not None:
                    opened = self._group(key.group).open.setdefault(producer_id, {})
                    opened[key.topic, key.partition] = offset

        for data in self._emptied:
            key = read_key(data)
            if isinstance(key, GroupKey):
                self._group(key.group)

    def read_so_far(self) -> dict[str, dict[Key, CommittedOffset]]:
        """The offsets that were read so far, by group; others may replace them later."""
        offsets: dict[str, dict[Key, CommittedOffset]] = {}
        for data, stored in self.found.items():
            key = read_key(data)
            if isinstance(key, CommitKey) and (offset := self._offset(stored)) is not None:
                offsets.setdefault(key.group, {})[key.topic, key.partition] = offset
        return offsets

    def _add(self, key: ConsumerKey, data: bytes, stored: Stored) -> None:
        """A record of a consumer group."""
        # Only now, because it takes a while to import construct.
        from ..protocol.consumer_group_records import read_value

        group = self._group(key.group)
        try:
            group.consumer.setdefault(key.kind, {})[key.name] = read_value(key.kind, stored.value)
        except ValueError as error:
            self._complain(stored.at, error)
            return
        group.written[data] = stored.value

    def _add_share(self, key: ShareKey, data: bytes, stored: Stored) -> None:
        """A record of a share group."""
        group = self._group(key.group)
        try:
            group.share.setdefault(key.kind, {})[key.name] = read_share_value(key.kind, stored.value)
        except ValueError as error:
            self._complain(stored.at, error)
            return
        group.written[data] = stored.value

    def _add_streams(self, key: StreamsKey, data: bytes, stored: Stored) -> None:
        """A record of a streams group."""
        group = self._group(key.group)
        try:
            group.streams.setdefault(key.kind, {})[key.name] = read_streams_value(key.kind, stored.value)
        except ValueError as error:
            self._complain(stored.at, error)
            return
        group.written[data] = stored.value

    def _group(self, group_id: str) -> LoadedGroup:
        group = self.groups.get(group_id)
        if group is None:
            group = self.groups[group_id] = LoadedGroup()
        return group

    def _offset(self, stored: Stored) -> CommittedOffset | None:
        try:
            return self._layout.offset_of(stored.value, stored.at)
        except ValueError as error:
            self._complain(stored.at, error)
            return None

    def _read(self, batch: Batch) -> None:
        header = header_of(batch)
        self._next = header.base_offset + header.last_offset_delta + 1
        if header.attributes & CONTROL:
            marker = marker_of(batch, header)
            if marker is not None:
                self._complete(marker.producer_id, committed=marker.committed)
            return
        found = self.found
        if header.attributes & TRANSACTIONAL:
            found = self.open.setdefault(header.producer_id, {})
        start = self._log.start_offset
        in_full = self._unreadable.keeps
        for at, key, value in pairs(header, batch):
            if at < start:
                continue
            try:
                kept = _is_kept(key or b"", value, in_full=in_full)
            except ValueError as error:
                self._complain(at, error)
                continue
            if not kept or key is None or (self._dropped and group_of(key) in self._dropped):
                continue
            if value is None:
                self._bury(key, found)
            else:
                found[key] = Stored(at, value)

    def _bury(self, key: bytes, found: dict[bytes, Stored]) -> None:
        gone = found.pop(key, None)
        if not self._layout.keeps_groups:
            return
        if not is_commit_key(key):
            self._emptied.pop(key, None)
            return
        for waiting in self.open.values():
            gone = waiting.pop(key, None) or gone
        if gone is not None:
            self._emptied[group_key_of(key)] = None

    def _complete(self, producer_id: int, *, committed: bool) -> None:
        for key, stored in self.open.pop(producer_id, {}).items():
            known = self.found.get(key)
            if committed and (self._layout.marker_counts or known is None or known.at < stored.at):
                self.found[key] = stored
            elif not committed and self._layout.keeps_groups:
                self._emptied[group_key_of(key)] = None

    def _complain(self, at: int, error: ValueError) -> None:
        if not self._unreadable.skips:
            raise UnreadableRecordError(f"the record at offset {at}: {error}")


def group_of(key: bytes) -> str:
    """The group of a key."""
    if (of_consumers := read_consumer_key(key)) is not None:
        return of_consumers.group
    if (of_shares := read_share_key(key)) is not None:
        return of_shares.group
    if (of_streams := read_streams_key(key)) is not None:
        return of_streams.group
    read = read_key(key)
    assert isinstance(read, CommitKey | GroupKey)
    return read.group


def _is_kept(key: bytes, value: bytes | None, *, in_full: bool) -> bool:
    """Whether the record says something about a group that is served here. ValueError.

    If not `in_full`, only the versions are looked at, because most records are replaced later.
    """
    if not in_full and key[:1] == b"\0" and (value is None or value[:2] <= _NEWEST):
        return key[1] in _SERVED
    kind = int.from_bytes(key[:2])
    if kind > _CLASSIC:
        return _is_of_consumers(kind, key, value, in_full=in_full)
    if in_full:
        read = read_key(key)
        if value is not None and isinstance(read, CommitKey):
            read_commit(value)
        elif value is not None and not isinstance(read, OtherKey):
            read_group(value)
    elif len(key) < _SHORTEST or (value is not None and value[:2] > _NEWEST):
        raise ValueError("a key is cut short, or the version of a value is not known")
    return True


def _is_of_consumers(kind: int, key: bytes, value: bytes | None, *, in_full: bool) -> bool:
    if kind in SHARE_KINDS:
        if read_share_key(key) is not None and in_full and value is not None:
            read_share_value(ShareKind(kind), value)
        return True
    if kind in STREAMS_KINDS:
        if read_streams_key(key) is not None and in_full and value is not None:
            read_streams_value(StreamsKind(kind), value)
        return True
    if kind not in KINDS:
        return False
    if in_full and value is not None:
        from ..protocol.consumer_group_records import read_value

        read_value(Kind(kind), value)
    return True
