"""Fetch v0 to v3."""

from typing import Final

from mockbroker.rig.batches import OLD, ZSTD, Record, batch, records
from mockbroker.rig.stories import Steps

from .producing import CODECS, THREE
from .stage import OldStage

VERSIONS: Final = (0, 1, 2, 3)


def formats(s: OldStage) -> Steps:
    """Batches of magic 2 as old consumers get them."""
    for name, codec in {**CODECS, **({"zstd": ZSTD} if s.knows_zstd else {})}.items():
        topic = f"fetched-{name}"
        s.create(topic)
        for _ in range(2):
            s.produce(s.newest("produce", 7), topic, batch(THREE, codec=codec))
        for version in VERSIONS:
            for offset in (0, 1, 3, 4, 6):
                yield f"{name} v{version} from {offset}", s.fetch(version, topic, offset)


def limits(s: OldStage) -> Steps:
    """Where not all fits."""
    s.create("limits")
    for size in (10, 300, 10):
        s.produce(s.newest("produce", 7), "limits", batch(records(2, size=size)))
    for version in VERSIONS:
        for limit in (0, 1, 11, 12, 60, 85, 100, 150, 200, 500, 900):
            yield f"v{version}, {limit}", s.fetch(version, "limits", 0, partition_max_bytes=limit)
        yield f"v{version}, 100 from 2", s.fetch(version, "limits", 2, partition_max_bytes=100)
        yield f"v{version}, 1000 from 3", s.fetch(version, "limits", 3, partition_max_bytes=1000)
    for limit in (0, 1, 100, 500):
        yield f"v3, {limit} in all", s.fetch(3, "limits", 0, max_bytes=limit)


def mixed(s: OldStage) -> Steps:
    """Headers, batches that can't be converted, and records that grow or shrink."""
    s.create("headers")
    s.produce(s.newest("produce", 7), "headers", batch([Record(b"v", headers=(("name", b"x" * 40),))] * 3))
    s.create("grown")
    s.produce(
        s.newest("produce", 7), "grown", batch([Record(b"", timestamp=OLD + each) for each in range(40)])
    )
    s.produce(s.newest("produce", 7), "grown", batch([Record(b"last", timestamp=OLD + 99)]))
    s.create("mixed-zstd")
    s.produce(s.newest("produce", 7), "mixed-zstd", batch(THREE))
    s.produce(s.newest("produce", 7), "mixed-zstd", batch(THREE))
    if s.knows_zstd:
        s.produce(7, "mixed-zstd", batch(THREE, codec=ZSTD))
    s.produce(s.newest("produce", 7), "mixed-zstd", batch(THREE))
    s.create("empty")
    for version in VERSIONS:
        for topic in ("headers", "grown", "mixed-zstd", "empty"):
            yield f"{topic} v{version}", s.fetch(version, topic)
        yield f"zstd v{version} from 3", s.fetch(version, "mixed-zstd", 3)
        yield f"zstd v{version} from 6", s.fetch(version, "mixed-zstd", 6)
        yield f"grown v{version} from 39", s.fetch(version, "grown", 39)
        yield f"beyond v{version}", s.fetch(version, "empty", 5)
        yield f"no such topic v{version}", s.fetch(version, "none-such")


def markers(s: OldStage) -> Steps:
    """Markers of transactions are left out."""
    s.create("markers")
    for sequence in (0, 1):
        s.produce(s.newest("produce", 7), "markers", batch(2))
        s.mark("markers", sequence)
    s.produce(s.newest("produce", 7), "markers", batch(2))
    s.mark("markers", 2)
    s.mark("markers", 3)
    for version in VERSIONS:
        for offset in range(s.end("markers") + 1):
            yield f"v{version} from {offset}", s.fetch(version, "markers", offset)


def refused(s: OldStage) -> Steps:
    """`message.downconversion.enable=false` (KIP-283), and `compression.type=zstd`."""
    s.needs("produce", 7)
    s.create("refused", message_downconversion_enable="false")
    s.create("maybe-zstd", compression_type="zstd")
    for version in (*VERSIONS, 4):
        for topic in ("refused", "maybe-zstd"):
            yield f"{topic} v{version}, empty", s.fetch(version, topic)
    s.produce(s.newest("produce", 7), "refused", batch(THREE))
    for version in (*VERSIONS, 4):
        yield f"v{version}", s.fetch(version, "refused")
        yield f"v{version}, beyond", s.fetch(version, "refused", 9)
