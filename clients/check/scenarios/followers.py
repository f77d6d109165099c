"""Followers that can't go on (KAFKA-7104)."""

from typing import Final

from ..scenario import member, producer, scenario
from ..scene import Scene

_STORY: Final = "KAFKA-7104"
_LIVE: Final = {"fetch-log-start-offset": "live"}


@scenario(
    "log-start-past-follower",
    "a follower is told a log start offset past its data",
    [producer(), member("a")],
    brokers=2,
    source="KAFKA-7104",
    stories=[_STORY],
    config={"replica.lag.time.max.ms": "1000", "offsets.topic.num.partitions": "1"},
    variants=(_LIVE, {**_LIVE, "follower-log-start-offset": "bounded"}),
)
async def _past_log_end(scene: Scene) -> None:
    """The follower has left the ISR. It fetches slowly: the leader reads records for it, then all records are
    deleted, and only then it is answered. It is told a log start offset past what it has. Then the topic
    gets `min.insync.replicas=2`, so that a producer needs both replicas."""
    await scene.sends("producer", 5)
    await scene.happens("pause-follower", topic="t", partition=0, broker=2)
    await scene.written(2, acks=1)
    await scene.until("the follower leaves the ISR", lambda: scene.in_sync() == {1})
    await scene.happens("slow-follower", topic="t", partition=0, broker=2, delay_ms=2000)
    await scene.written(4, acks=1)
    await scene.deletes(scene.log_end() - 1)
    await scene.until("the follower is in sync, or dead", lambda: _settled(scene))
    if 2 in scene.in_sync():
        await scene.happens("resume-follower", topic="t", partition=0, broker=2)
    scene.cluster.run(lambda core: core.topics["t"].configure({"min.insync.replicas": "2"}))
    await scene.sends("producer", 1)


def _settled(scene: Scene) -> bool:
    (follower,) = [each for each in scene.cluster.replicas("t", 0) if each.broker == 2]
    return follower.state == "failed" or follower.in_sync
