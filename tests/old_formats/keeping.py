"""What a log has once the format of its topic changed, up to 2.8 (`message.format.version`)."""

from collections.abc import Iterator
from functools import partial
from typing import Any, Final

from mockbroker.rig import requests
from mockbroker.rig.batches import GZIP, NONE, OLD, Record, batch, message_set
from mockbroker.rig.stories import Steps

from .producing import THREE
from .stage import OldStage, only

_FORMATS: Final = {0: "0.9.0", 1: "0.10.2", 2: "0.11.0"}
_VERSIONS: Final = (0, 2, 3, 4, 11)
_LARGE: Final = [Record(b"v" * 100, b"k", OLD + number) for number in range(3)]


def _seen(s: OldStage, name: str) -> Iterator[tuple[str, Any]]:
    """What can be seen of a log without its records."""
    for asked in (-1, -2, OLD, OLD + 1, OLD + 2, OLD + 3):
        yield f"listed {asked}", s.listed(name, asked)
    for epoch in (-1, 0, 1):
        yield f"epoch {epoch}", s.epoch(name, epoch)
    yield "size", s.size(name)


def _write(s: OldStage, name: str, codec: int = NONE) -> Iterator[tuple[str, Any]]:
    yield "a batch", s.produce(s.newest("produce", 7), name, batch(THREE, codec=codec))
    for magic in (0, 1):
        yield f"magic {magic}", s.produce(2, name, message_set(THREE, magic=magic, codec=codec))


def _read(s: OldStage, name: str, *offsets: int) -> Iterator[tuple[str, Any]]:
    for version in _VERSIONS:
        if version <= s.newest("fetch"):
            for offset in offsets:
                yield f"v{version} from {offset}", s.fetch(version, name, offset)


def changing(s: OldStage) -> Steps:
    """What was written before stays as it was."""
    for way in ((2, 1, 0, 2), (0, 1, 2, 0), (1, 2, 1, 0)):
        name = "changed-" + "".join(map(str, way))
        s.create(name, message_format_version=_FORMATS[way[0]])
        for number, magic in enumerate(way):
            head = f"{name} {number}"
            if number:
                s.set_formats(name, _FORMATS[magic])
                yield from ((f"{head} before: {label}", seen) for label, seen in _seen(s, name))
            yield from ((f"{head}: {label}", each) for label, each in _write(s, name))
            yield from ((f"{head}: {label}", each) for label, each in _seen(s, name))
            yield from ((f"{head}: {label}", each) for label, each in _read(s, name, 0, 9 * number + 1))


def compressed(s: OldStage) -> Steps:
    """The same with compressed batches and messages."""
    for way in ((2, 1, 0), (0, 1, 2)):
        name = "compressed-" + "".join(map(str, way))
        s.create(name, message_format_version=_FORMATS[way[0]])
        for number, magic in enumerate(way):
            if number:
                s.set_formats(name, _FORMATS[magic])
            head = f"{name} {number}"
            yield from ((f"{head}: {label}", each) for label, each in _write(s, name, GZIP))
            for version in (0, 2, 4, 11):
                if version > s.newest("fetch"):
                    continue
                for offset in (0, 9 * number + 1):
                    fetched = s.fetch(version, name, offset)
                    # The size of what was kept depends on who compressed it.
                    fetched["records"] = [each for each in fetched["records"] if "cut" not in each]
                    yield f"{head}: v{version} from {offset}", fetched


def limits(s: OldStage) -> Steps:
    """How much is read of a log that has all formats."""
    s.create("limited")
    for magic in (2, 1, 0, 2):
        s.set_formats("limited", _FORMATS[magic])
        s.produce(s.newest("produce", 7), "limited", batch(THREE))
    for magic in (2, 0):
        s.set_formats("limited", _FORMATS[magic])
        for version in _VERSIONS:
            if version <= s.newest("fetch"):
                for size in (1, 40, 80, 100, 150, 200, 250, 300, 350):
                    for offset in (0, 4):
                        fetched = s.fetch(version, "limited", offset, partition_max_bytes=size)
                        yield f"{magic}, v{version}, {size} from {offset}", fetched


def sizes(s: OldStage) -> Steps:
    """What is too large, and where segments begin."""
    for magic in (0, 1):
        for most in (130, 140, 200, 300, 400, 420, 440, 460):
            name = f"most-{magic}-{most}"
            s.create(name, message_format_version=_FORMATS[magic], max_message_bytes=str(most))
            yield f"{name}, a batch", s.produce(s.newest("produce", 7), name, batch(_LARGE))
            for each in (0, 1):
                yield f"{name}, magic {each}", s.produce(2, name, message_set(_LARGE, magic=each))
            yield f"{name}, small ones", s.produce(s.newest("produce", 7), name, batch([Record(b"")] * 8))
            yield f"{name}, gzip", s.produce(s.newest("produce", 7), name, batch(_LARGE, codec=GZIP))
        name = f"rolled-{magic}"
        s.create(name, message_format_version=_FORMATS[magic], segment_bytes="800")
        for number in range(6):
            s.produce(s.newest("produce", 7), name, batch(_LARGE[: 1 + number % 3]))
        yield name, s.segments(name)
        yield f"{name}, size", s.size(name)
        yield f"{name}, larger than a segment", s.produce(s.newest("produce", 7), name, batch(_LARGE * 3))
        yield f"{name}, as large batches", s.produce(s.newest("produce", 7), name, batch([Record(b"")] * 40))
        yield f"{name} again", s.segments(name)
        for version in (0, 2, 4):
            for offset in (0, 1, 4, 7):
                fetched = s.fetch(version, name, offset)
                yield f"{name}, v{version} from {offset}", fetched


def _ends_at(s: OldStage, name: str, offset: int) -> bool:
    return s.end(name) == offset


def deleting(s: OldStage) -> Steps:
    """Records below some offset are deleted, or the broker restarts."""
    for way in ((2, 1, 0), (0, 1, 2), (1, 2, 1)):
        name = "deleted-" + "".join(map(str, way))
        s.create(name, message_format_version=_FORMATS[way[0]])
        for magic in way:
            s.set_formats(name, _FORMATS[magic])
            yield "written", s.produce(s.newest("produce", 7), name, batch(THREE))
    for offset in (1, 4, 5, 7):
        for name in ("deleted-210", "deleted-012", "deleted-121"):
            s.ask("delete_records", requests.delete_records(name, offset), version=0)
            yield from ((f"{name} to {offset}: {label}", each) for label, each in _seen(s, name))
            yield f"{name} to {offset}: kept", s.fetch(4, name, offset)
    s.stop(1)
    s.start(1)
    for name in ("deleted-210", "deleted-012", "deleted-121"):
        s.brokers.until(partial(_ends_at, s, name, 9), f"{name} to be led")
        yield from ((f"{name} after a restart: {label}", each) for label, each in _seen(s, name))
        yield f"{name} after a restart: kept", s.fetch(4, name, 7)
        yield f"{name} after a restart: written", s.produce(s.newest("produce", 7), name, batch(THREE))
        for label, each in _seen(s, name):
            # The epoch of a broker that restarted alone depends on the controller.
            if not label.startswith("epoch"):
                yield f"{name} then: {label}", each


def _await_another(s: OldStage, name: str, first: Any) -> None:
    s.brokers.until(lambda: s.kept(name)[:1] != first, f"{name} to be cleaned")


def compacting(s: OldStage) -> Steps:
    """Only the last record of each key stays."""
    keyed = [Record(b"%d" % number, b"abc"[number % 3 :][:1], OLD + number) for number in range(5)]
    keyed.append(Record(None, b"c", OLD + 9))
    for magic in (0, 1):
        for label, codec in (("none", NONE), ("gzip", GZIP)):
            name = f"compacted-{magic}-{label}"
            s.create(
                name,
                message_format_version=_FORMATS[magic],
                cleanup_policy="compact",
                min_cleanable_dirty_ratio="0.01",
                segment_bytes="600",
            )
            yield f"{name}, no key", s.produce(s.newest("produce", 7), name, batch(2))
            for part in (keyed[:4], keyed[2:]):
                yield name, s.produce(s.newest("produce", 7), name, batch(part, codec=codec))
            first = s.kept(name)[:1]
            filler = [Record(bytes(500), b"filler", OLD)]
            for _ in range(2):
                s.produce(s.newest("produce", 7), name, batch(filler))
            _await_another(s, name, first)
            for version in (0, 2, 4):
                for offset in (0, 5, 8):
                    fetched = s.fetch(version, name, offset)
                    if codec:
                        fetched["records"] = [each for each in fetched["records"] if "cut" not in each]
                    yield f"{name}, v{version} from {offset}", fetched
            for asked in (OLD, OLD + 3, OLD + 9):
                yield f"{name}, listed {asked}", s.listed(name, asked)
            if not codec:
                yield f"{name}, size", s.size(name)


def of_brokers(s: OldStage) -> Steps:
    """The format of all topics of a broker, also of those that it writes itself."""
    s.create("plain")
    yield from _write(s, "plain")
    yield "kept", s.kept("plain")
    s.until_coordinated("g")
    part = {"partition_index": 0, "committed_offset": 5, "committed_metadata": "m"}
    topics = [{"name": "plain", "partitions": [part]}]
    fields = {"group_id": "g", "generation_id_or_member_epoch": -1, "member_id": "", "topics": topics}
    yield "commit", s.ask("offset_commit", fields, version=2)
    asked = {"group_id": "g", "topics": [{"name": "plain", "partition_indexes": [0]}]}
    yield "committed", s.ask("offset_fetch", asked, version=2)
    yield "stored", [each[:24] for each in s.kept("__consumer_offsets")]
    tx: dict[str, Any] = {"transactional_id": "tx", "transaction_timeout": 60000}
    s.ask("find_coordinator", {"key": "tx", "key_type": 1}, version=1)
    s.brokers.until(
        lambda: s.ask("init_producer_id", tx, version=0)["error_code"] == "NONE", "the coordinator"
    )
    begun = s.ask("init_producer_id", tx, version=0)
    ids = {"producer_id": begun["producer_id"], "producer_epoch": begun["producer_epoch"]}
    named = {"transactional_id": "tx", **ids}
    yield "offsets added", s.ask("add_offsets_to_txn", {**named, "group_id": "g"}, version=0)
    yield "offsets", s.ask("txn_offset_commit", {**named, "group_id": "g", "topics": topics}, version=0)
    added = {f"v3_and_below_{key}": value for key, value in named.items()}
    added["v3_and_below_topics"] = [{"name": "plain", "partitions": [0]}]
    yield "partition added", s.ask("add_partitions_to_txn", added, version=0)
    marker = {
        **ids,
        "transaction_result": True,
        "topics": [{"name": "plain", "partition_indexes": [0]}],
        "coordinator_epoch": 0,
    }
    answer = s.ask("write_txn_markers", {"markers": [marker]}, version=0)
    yield "marker", only(answer, "markers", "topics", "partitions")
    yield "kept then", s.kept("plain")
    s.stop(1)
    s.start(1)
    s.until_coordinated("g")
    yield "committed after a restart", s.ask("offset_fetch", asked, version=2)
