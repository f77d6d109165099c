"""Records of streams groups in `__consumer_offsets` (KIP-1071, `StreamsGroup*.json`)."""

import struct
from collections.abc import Callable, Iterable, Mapping, Sequence, Sized
from operator import itemgetter
from typing import Final, NamedTuple, TypeVar

from ..portions import MANY, Pace, Parts, at_once, portions
from .primitives import write_compact_string, write_uvarint
from .record_fields import RecordReader, write_ints, write_nullable
from .streams_group_keys import StreamsKind

_INT8: Final = struct.Struct(">b")
_INT16: Final = struct.Struct(">h")
_UINT16: Final = struct.Struct(">H")
_INT32: Final = struct.Struct(">i")
_INT64: Final = struct.Struct(">q")
_NULL, _PRESENT = -1, 1
_UNKNOWN: Final = -1
_PER_SUBTOPOLOGY: Final = 16
"""As many partitions take as long as a subtopology by itself."""
T = TypeVar("T")
W = TypeVar("W", bound=Sized)


Pairs = tuple[tuple[str, str], ...]
Partitions = Mapping[str, Sequence[int]]
"""By subtopology."""
Epochs = Mapping[str, Mapping[int, int]]
"""By subtopology and partition, the epoch in which a task was assigned."""


class InternalTopic(NamedTuple):
    """A topic that is made for the application. 0 stands for a number of partitions that follows from other
    topics, and for the default replication factor."""

    name: str
    partitions: int
    replication_factor: int
    configs: Pairs


class Copartition(NamedTuple):
    """Topics with the same number of partitions, by their places in the lists of the subtopology."""

    sources: tuple[int, ...]
    regexes: tuple[int, ...]
    repartitions: tuple[int, ...]


class Subtopology(NamedTuple):
    """What it reads from: `sources` and `repartitions`; what it writes to: `sinks` and `changelogs`."""

    id: str
    sources: tuple[str, ...]
    regexes: tuple[str, ...]
    changelogs: tuple[InternalTopic, ...]
    sinks: tuple[str, ...]
    repartitions: tuple[InternalTopic, ...]
    copartitions: tuple[Copartition, ...]


class TopologyValue(NamedTuple):
    epoch: int
    subtopologies: tuple[Subtopology, ...]


class StreamsEpochValue(NamedTuple):
    """`validated` is the epoch of the topology for which all topics are there, `described` and `failed` those
    of the topologies whose descriptions were stored, or could not be; -1 for none. `configs` are those with
    which tasks were assigned."""

    epoch: int
    validated: int = _UNKNOWN
    configs: Pairs | None = None
    described: int = _UNKNOWN
    failed: int = _UNKNOWN
    metadata_hash: int = 0
    """Of the group's topics."""


class StreamsMemberValue(NamedTuple):
    """What a member has said of itself; its endpoint is a host and a port."""

    instance_id: str | None
    rack_id: str | None
    client_id: str
    client_host: str
    rebalance_timeout_ms: int
    topology_epoch: int
    process_id: str
    endpoint: tuple[str, int] | None
    tags: Pairs


class StreamsTargetEpochValue(NamedTuple):
    """`assigned_ms` is 0 if it is not known."""

    epoch: int
    assigned_ms: int


class StreamsTargetValue(NamedTuple):
    active: Partitions
    standby: Partitions
    warmup: Partitions


class StreamsCurrentValue(NamedTuple):
    """`state` is 0 for stable, 1 for tasks to give up, 2 for tasks to wait for."""

    epoch: int
    previous_epoch: int
    state: int
    active: Epochs
    standby: Partitions
    warmup: Partitions
    revoking_active: Epochs
    revoking_standby: Partitions
    revoking_warmup: Partitions


StreamsValue = (
    TopologyValue
    | StreamsEpochValue
    | StreamsMemberValue
    | StreamsTargetEpochValue
    | StreamsTargetValue
    | StreamsCurrentValue
)


def write_streams_value(value: StreamsValue, *, with_times: bool) -> bytes:
    """As `writing_streams_value`."""
    return at_once(writing_streams_value(value, with_times=with_times))


def writing_streams_value(value: StreamsValue, *, with_times: bool) -> Parts[bytes]:
    """`with_times` is whether it says when tasks were assigned, as since 4.3."""
    out = bytearray(_INT16.size)
    match value:
        case TopologyValue():
            out += _INT32.pack(value.epoch)
            write_uvarint(out, len(value.subtopologies) + 1)
            for some in portions(value.subtopologies):
                for each in some:
                    _write_subtopology(out, each)
                yield
            out.append(0)
        case StreamsEpochValue():
            out += struct.pack(">iq", value.epoch, value.metadata_hash)
            _write_tags(out, _tags_of(value))
        case StreamsMemberValue():
            _write_member(out, value)
        case StreamsTargetEpochValue():
            out += _INT32.pack(value.epoch)
            times = {0: struct.pack(">q", value.assigned_ms)} if with_times and value.assigned_ms else {}
            _write_tags(out, times)
        case StreamsTargetValue():
            for tasks in value:
                yield from _writing_tasks(out, tasks, _write_tasks)
            out.append(0)
        case StreamsCurrentValue():
            out += struct.pack(">iib", value.epoch, value.previous_epoch, value.state)
            yield from _writing_tasks(out, value.active, _write_owned)
            for tasks in (value.standby, value.warmup):
                yield from _writing_tasks(out, tasks, _write_tasks)
            yield from _writing_tasks(out, value.revoking_active, _write_owned)
            for tasks in (value.revoking_standby, value.revoking_warmup):
                yield from _writing_tasks(out, tasks, _write_tasks)
            out.append(0)
    return bytes(out)


def _write_member(out: bytearray, value: StreamsMemberValue) -> None:
    write_nullable(out, value.instance_id)
    write_nullable(out, value.rack_id)
    write_compact_string(out, value.client_id)
    write_compact_string(out, value.client_host)
    out += struct.pack(">ii", value.rebalance_timeout_ms, value.topology_epoch)
    write_compact_string(out, value.process_id)
    if value.endpoint is None:
        out += _INT8.pack(_NULL)
    else:
        out += _INT8.pack(_PRESENT)
        write_compact_string(out, value.endpoint[0])
        out += _UINT16.pack(value.endpoint[1]) + b"\0"
    _write_array(out, value.tags, _write_pair)
    out.append(0)


def _write_subtopology(out: bytearray, each: Subtopology) -> None:
    write_compact_string(out, each.id)
    _write_array(out, each.sources, write_compact_string)
    _write_array(out, each.regexes, write_compact_string)
    _write_array(out, each.changelogs, _write_topic)
    _write_array(out, each.sinks, write_compact_string)
    _write_array(out, each.repartitions, _write_topic)
    _write_array(out, each.copartitions, _write_copartition)
    out.append(0)


def _write_topic(out: bytearray, topic: InternalTopic) -> None:
    write_compact_string(out, topic.name)
    out += struct.pack(">ih", topic.partitions, topic.replication_factor)
    _write_array(out, topic.configs, _write_pair)
    out.append(0)


def _write_copartition(out: bytearray, group: Copartition) -> None:
    for places in group:
        _write_array(out, places, lambda out, place: out.extend(_INT16.pack(place)))
    out.append(0)


def _write_pair(out: bytearray, pair: tuple[str, str]) -> None:
    for text in pair:
        write_compact_string(out, text)
    out.append(0)


def _write_tasks(out: bytearray, entry: tuple[str, Sequence[int]]) -> None:
    write_compact_string(out, entry[0])
    write_ints(out, list(entry[1]))
    out.append(0)


def _write_owned(out: bytearray, entry: tuple[str, Mapping[int, int]]) -> None:
    partitions = sorted(entry[1])
    write_compact_string(out, entry[0])
    write_ints(out, partitions)
    epochs = bytearray()
    write_ints(epochs, list(map(entry[1].__getitem__, partitions)))
    _write_tags(out, {0: bytes(epochs)})


def _tags_of(value: StreamsEpochValue) -> dict[int, bytes]:
    tags: dict[int, bytes] = {}
    if value.validated != _UNKNOWN:
        tags[0] = _INT32.pack(value.validated)
    if value.configs is not None:
        configs = bytearray()
        _write_array(configs, value.configs, _write_pair)
        tags[1] = bytes(configs)
    if value.described != _UNKNOWN:
        tags[2] = _INT32.pack(value.described)
    if value.failed != _UNKNOWN:
        tags[3] = _INT32.pack(value.failed)
    return tags


def _writing_tasks(
    out: bytearray, tasks: Mapping[str, W], write: Callable[[bytearray, tuple[str, W]], object]
) -> Parts[None]:
    write_uvarint(out, len(tasks) + 1)
    pace = Pace(MANY)
    for entry in sorted(tasks.items(), key=itemgetter(0)):
        write(out, entry)
        if pace.enough(_PER_SUBTOPOLOGY + len(entry[1])):
            yield


def _write_array(out: bytearray, entries: Sequence[T], write: Callable[[bytearray, T], object]) -> None:
    write_uvarint(out, len(entries) + 1)
    for each in entries:
        write(out, each)


def _write_tags(out: bytearray, tags: Mapping[int, bytes]) -> None:
    write_uvarint(out, len(tags))
    for tag, data in tags.items():
        write_uvarint(out, tag)
        write_uvarint(out, len(data))
        out += data


def read_streams_value(kind: StreamsKind, data: bytes) -> StreamsValue:
    """ValueError for another version, or if it is cut short."""
    reader = RecordReader(data, 0)
    if reader.number(_INT16):
        raise ValueError("the record of a streams group has an unknown version")
    match kind:
        case StreamsKind.TOPOLOGY:
            epoch = reader.number(_INT32)
            return _tagged(reader, TopologyValue(epoch, _array(reader, _read_subtopology)))
        case StreamsKind.EPOCH:
            return _read_epoch(reader)
        case StreamsKind.MEMBER:
            return _read_member(reader)
        case StreamsKind.TARGET_EPOCH:
            epoch, tags = reader.number(_INT32), reader.tags()
            return StreamsTargetEpochValue(epoch, int.from_bytes(tags.get(0, b""), signed=True))
        case StreamsKind.TARGET:
            return _tagged(reader, StreamsTargetValue(*(_read_tasks(reader) for _ in range(3))))
        case StreamsKind.CURRENT:
            epoch, previous = reader.number(_INT32), reader.number(_INT32)
            value = StreamsCurrentValue(
                epoch,
                previous,
                reader.number(_INT8),
                _read_owned(reader, epoch),
                _read_tasks(reader),
                _read_tasks(reader),
                _read_owned(reader, epoch),
                _read_tasks(reader),
                _read_tasks(reader),
            )
            return _tagged(reader, value)


def _read_epoch(reader: RecordReader) -> StreamsEpochValue:
    epoch, metadata_hash = reader.number(_INT32), reader.number(_INT64)
    tags = reader.tags()
    validated, described, failed = (
        _INT32.unpack(tags[tag])[0] if tag in tags else _UNKNOWN for tag in (0, 2, 3)
    )
    configs = _array(RecordReader(tags[1], 0), _read_pair) if 1 in tags else None
    return StreamsEpochValue(epoch, validated, configs, described, failed, metadata_hash)


def _read_member(reader: RecordReader) -> StreamsMemberValue:
    said = reader.nullable(), reader.nullable(), reader.compact(), reader.compact()
    timeout_ms, topology_epoch = reader.number(_INT32), reader.number(_INT32)
    process_id, endpoint = reader.compact(), None
    if reader.number(_INT8) != _NULL:
        endpoint = reader.compact(), reader.number(_UINT16)
        reader.tags()
    tags = _array(reader, _read_pair)
    value = StreamsMemberValue(*said, timeout_ms, topology_epoch, process_id, endpoint, tags)
    return _tagged(reader, value)


def _read_subtopology(reader: RecordReader) -> Subtopology:
    return _tagged(
        reader,
        Subtopology(
            reader.compact(),
            _array(reader, RecordReader.compact),
            _array(reader, RecordReader.compact),
            _array(reader, _read_topic),
            _array(reader, RecordReader.compact),
            _array(reader, _read_topic),
            _array(reader, _read_copartition),
        ),
    )


def _read_topic(reader: RecordReader) -> InternalTopic:
    name, partitions, factor = reader.compact(), reader.number(_INT32), reader.number(_INT16)
    return _tagged(reader, InternalTopic(name, partitions, factor, _array(reader, _read_pair)))


def _read_copartition(reader: RecordReader) -> Copartition:
    return _tagged(reader, Copartition(*(_array(reader, _read_place) for _ in range(3))))


def _read_place(reader: RecordReader) -> int:
    return reader.number(_INT16)


def _read_pair(reader: RecordReader) -> tuple[str, str]:
    return _tagged(reader, (reader.compact(), reader.compact()))


def _read_tasks(reader: RecordReader) -> dict[str, list[int]]:
    found = {}
    for _ in range(reader.count()):
        subtopology = reader.compact()
        found[subtopology] = reader.ints()
        reader.tags()
    return found


def _read_owned(reader: RecordReader, epoch: int) -> dict[str, dict[int, int]]:
    """If the record does not say in which epoch a task was assigned, that of the member counts."""
    found = {}
    for _ in range(reader.count()):
        subtopology, partitions = reader.compact(), reader.ints()
        tags = reader.tags()
        epochs: Iterable[int] = [epoch] * len(partitions)
        if 0 in tags and len(known := RecordReader(tags[0], 0).ints()) == len(partitions):
            epochs = known
        found[subtopology] = dict(zip(partitions, epochs, strict=True))
    return found


def _array(reader: RecordReader, read: Callable[[RecordReader], T]) -> tuple[T, ...]:
    return tuple(read(reader) for _ in range(reader.count()))


def _tagged(reader: RecordReader, value: T) -> T:
    """A value with tagged fields after it, which are skipped."""
    reader.tags()
    return value
