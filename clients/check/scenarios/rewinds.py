"""Committed offsets that a coordinator loads wrongly (LinkedIn, 2015)."""

from typing import Final

from ..scenario import member, scenario
from ..scene import Scene

_SOURCE: Final = "Kafkaesque Days at LinkedIn, Part 1"
_KEY: Final = bytes.fromhex("000100056f746865720005766965777300000000")
_UNREADABLE: Final = bytes.fromhex("000961206e6577657220666f726d6174")
"""Another group's commit, in version 9 of the record."""
_MINUTE_MS: Final = 60_000
_DAY_MS: Final = 24 * 60 * _MINUTE_MS
_MEMBERS: Final = [member(name) for name in ("a", "b", "c")]
_CONFIG: Final = {"offsets.topic.num.partitions": "1", "log.retention.ms": "-1"}
_DEAD: Final = {"compaction": "dead", "offsets-load-pace": "slow", "offsets-cleanup": "during-load"}


async def _turn(scene: Scene, name: str, count: int, commits: int = 1) -> None:
    """A member reads what is new, commits it so many times, and leaves."""
    await scene.written(count)
    await scene.reads(name, count)
    for _ in range(commits):
        await scene.commits(name)
    await scene.member(name).close()


@scenario(
    "load-stops",
    "a coordinator stops loading offsets at a record that it can't parse",
    _MEMBERS,
    source=_SOURCE,
    stories=["LinkedIn's first rewind"],
    config=_CONFIG,
    variants=({"offsets-load": "stops"}, {"offsets-load": "skips"}),
)
async def _stops(scene: Scene) -> None:
    """A reads and commits. Another writer leaves a record in `__consumer_offsets` that the coordinator can't
    parse. B reads on and commits. The coordinator moves, and the new one loads the topic. C takes over."""
    await _turn(scene, "a", 10)
    await scene.cluster.produce_async("__consumer_offsets", _UNREADABLE, key=_KEY, partition=0)
    await _turn(scene, "b", 10)
    await scene.happens("move-coordinator", group="g")
    await scene.written(5)
    await scene.polls("c")


@scenario(
    "cleanup-during-load",
    "a coordinator deletes expired offsets while it loads",
    _MEMBERS,
    source=_SOURCE,
    stories=["LinkedIn's second rewind"],
    config={
        **_CONFIG,
        "offsets.retention.minutes": "7200",
        "offsets.retention.check.interval.ms": "1000",
    },
    variants=(_DEAD, {**_DEAD, "offsets-cleanup": "after-load"}),
)
async def _cleaned(scene: Scene) -> None:
    """A reads, and commits again and again; three days later B reads on and commits. Offsets are kept for
    five days. On the sixth the coordinator moves; while the new one loads, it looks for offsets that have
    expired, and finds A's. C takes over."""
    await _turn(scene, "a", 10, commits=30)
    await scene.happens("pass-time", by_ms=3 * _DAY_MS)
    await _turn(scene, "b", 10)
    await scene.happens("pass-time", by_ms=3 * _DAY_MS)
    await scene.happens("move-coordinator", group="g")
    await scene.happens("pass-time", by_ms=2 * _MINUTE_MS)
    await scene.written(5)
    await scene.polls("c")
