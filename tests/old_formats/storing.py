"""Topics whose records are kept in an old format, up to 2.8 (`message.format.version`)."""

import zlib
from typing import Final

from mockbroker.protocol.message_set import message_of, read_message
from mockbroker.protocol.record_batch import LOG_APPEND_TIME
from mockbroker.protocol.record_batch import Record as Message
from mockbroker.rig.batches import GZIP, LZ4, OLD, TRANSACTIONAL, ZSTD, Record, batch, message_set
from mockbroker.rig.stories import Steps

from .producing import CODECS, THREE
from .stage import OldStage

_NAMED_SINCE: Final = 6
"""The version from when on brokers look for a transactional id first."""


def formats(s: OldStage) -> Steps:
    """What is written in each format, and how each version of Fetch gets it."""
    for release, name in (("0.9.0", "magic-0"), ("0.10.2", "magic-1")):
        for codec_name, codec in CODECS.items():
            topic = f"{name}-{codec_name}"
            s.create(topic, message_format_version=release)
            for magic in (0, 1):
                label = f"{topic}, magic {magic}"
                yield label, s.produce(2, topic, message_set(THREE, magic=magic, codec=codec))
            yield f"{topic}, a batch", s.produce(s.newest("produce", 7), topic, batch(THREE, codec=codec))
            for version in (each for each in (0, 2, 4, 11) if each <= s.newest("fetch")):
                for offset in (0, 4):
                    fetched = s.fetch(version, topic, offset)
                    if codec:
                        # The size of what was kept depends on who compressed it.
                        fetched["records"] = [each for each in fetched["records"] if "cut" not in each]
                    yield f"{topic}, v{version} from {offset}", fetched
            yield f"{topic}, v4 in part", s.fetch(4, topic, partition_max_bytes=60)


def odd(s: OldStage) -> Steps:
    """What an old format does not have."""
    for release, name in (("0.9.0", "odd-0"), ("0.10.2", "odd-1")):
        s.create(name, message_format_version=release)
        yield (
            f"{name}, headers",
            s.produce(s.newest("produce", 7), name, batch([Record(headers=(("h", b"1"),))])),
        )
        one = batch(1, producer_id=5, producer_epoch=0, sequence=0)
        yield f"{name}, idempotent", s.produce(s.newest("produce", 7), name, one)
        one = batch(1, producer_id=5, producer_epoch=0, sequence=0, attributes=TRANSACTIONAL)
        if s.newest("produce") >= _NAMED_SINCE:
            yield f"{name}, transactional", s.produce(7, name, one)
        named = s.produce(s.newest("produce", 7), name, one, transactional_id="tx")
        yield f"{name}, transactional, named", named
        one = batch(2, producer_id=5, producer_epoch=0, sequence=0, attributes=TRANSACTIONAL, codec=GZIP)
        named = s.produce(s.newest("produce", 7), name, one, transactional_id="tx")
        yield f"{name}, transactional, compressed", named
        if s.knows_zstd:
            yield f"{name}, zstd", s.produce(7, name, batch(THREE, codec=ZSTD))
        yield f"{name}, lz4", s.produce(s.newest("produce", 7), name, batch(THREE, codec=LZ4))
        yield f"{name}, -1", s.produce(s.newest("produce", 7), name, batch([Record(timestamp=-1)]))
        yield f"{name}: kept", s.kept(name)
        topic = f"{name}-appended"
        s.create(topic, message_format_version=release, message_timestamp_type="LogAppendTime")
        answer = s.produce(s.newest("produce", 7), topic, batch([Record(timestamp=OLD)]))
        yield f"{topic}", answer
        for asked in (-1, -2, OLD, OLD + 1):
            yield f"{name}, listed {asked}", s.listed(name, asked)
        part = {"partition": 0, "leader_epoch": 0}
        fields = {"topics": [{"topic": name, "partitions": [part]}]}
        version = s.newest("offset_for_leader_epoch", 1)
        yield f"{name}, epoch", s.ask("offset_for_leader_epoch", fields, version=version)


def _packed(
    magic: int,
    offset: int = 2,
    *,
    first: int = 0,
    key: bytes | None = None,
    newest: int = OLD + 2,
    kind: int = 0,
) -> bytes:
    """A compressed message as nobody else would compress it: around three, whose offsets begin at `first`."""
    packed = zlib.compressobj(0, wbits=31)
    inner = b"".join(
        message_of(Message(first + number, each.timestamp, each.key, each.value), magic)
        for number, each in enumerate(THREE)
    )
    value = packed.compress(inner) + packed.flush()
    return message_of(Message(offset, newest, key, value), magic, GZIP | kind)


def as_sent(s: OldStage) -> Steps:
    """Which compressed messages are kept as they were sent, and what is written into them."""
    topics = {
        "magic-0": {"message_format_version": "0.9.0"},
        "magic-1": {"message_format_version": "0.10.2"},
        "appended": {"message_format_version": "0.10.2", "message_timestamp_type": "LogAppendTime"},
        "gzip": {"message_format_version": "0.10.2", "compression_type": "gzip"},
        "lz4": {"message_format_version": "0.10.2", "compression_type": "lz4"},
    }
    sets = {
        "magic 0": _packed(0),
        "magic 1": _packed(1),
        "at offset 0": _packed(1, 0),
        "at offset 9": _packed(1, 9),
        "from offset 1": _packed(1, 3, first=1),
        "with a key": _packed(1, key=b"k"),
        "of another time": _packed(1, newest=OLD + 9),
        "of no time": _packed(1, newest=-1),
        "of a broker's time": _packed(1, newest=OLD + 9, kind=LOG_APPEND_TIME),
        "two": _packed(1) * 2,
    }
    for prefix, configs in topics.items():
        for number, (label, sent) in enumerate(sets.items()):
            topic = f"as-sent-{prefix}-{number}"
            s.create(topic, **configs)
            s.produce(s.newest("produce", 7), topic, batch(1))
            yield f"{prefix}, {label}", s.produce(2, topic, sent)
            value = read_message(sent).value
            assert value is not None
            as_sent = value in s.data(topic)
            yield f"{prefix}, {label}: as it was sent", as_sent
            fetched = s.fetch(2, topic, 1)
            for each in () if as_sent else fetched["records"]:
                # What the broker wrote may have its time.
                del each["content"]
            yield f"{prefix}, {label}: kept", fetched
