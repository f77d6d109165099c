"""Consumers that are reset though nothing they had to read was lost (KAFKA-19902)."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from ...hunt.plan import PlannedUser
from ..scenario import member, scenario
from ..scene import Scene

_STORY: Final = "KAFKA-19902"
_QUICK: Final[Mapping[str, str]] = {
    "broker.session.timeout.ms": "1000",
    "zookeeper.session.timeout.ms": "1000",
    "replica.lag.time.max.ms": "1000",
    "offsets.topic.num.partitions": "1",
    "offsets.topic.replication.factor": "3",
}


def _from_brokers(name: str, *brokers: int, **fields: object) -> PlannedUser:
    """A member that knows no other brokers when it starts."""
    return member(name, brokers=list(brokers), **fields)


@scenario(
    "cut-off-leader",
    "a leader that is cut off, and an offset that was committed without an epoch",
    [member("a"), _from_brokers("b", 1), _from_brokers("c", 2)],
    source="KAFKA-19902",
    stories=[_STORY],
    config=_QUICK,
    open_=frozenset({"reset-without-loss"}),
)
async def _cut_off(scene: Scene) -> None:
    """Broker 2 leads; A reads and commits 20 records and leaves. Broker 2 is cut off from the other brokers,
    and broker 1 is elected. B, which has met broker 1, reads and commits 50 records more and leaves. C takes
    over. It has met broker 2, which goes on as leader, and broker 3, which has not heard of the election: its
    position lies beyond the end of broker 2's log."""
    await scene.happens("move-leader", topic="t", partition=0, to=2)
    await scene.written(20)
    await scene.reads("a", 20)
    await scene.commits("a")
    await scene.member("a").close()
    await scene.coordinator_is(1)
    await scene.happens("slow-metadata", broker=3, delay_ms=600_000)
    await scene.happens("cut-off-broker", broker=2)
    await scene.until("broker 1 is elected", lambda: scene.leader() == 1)
    await scene.until("brokers 2 and 3 leave the ISR", lambda: scene.in_sync() == {1})
    await scene.written(50)
    await scene.reads("b", 50)
    await scene.commits("b")
    await scene.member("b").close()
    await scene.polls("c")


_cut_off_leader_position = replace(
    _cut_off,
    name="cut-off-leader-position",
    title="the same, but B commits its position, with an epoch if the client does that",
    users=[
        member("a", commits="position"),
        _from_brokers("b", 1, commits="position"),
        _from_brokers("c", 2, commits="position"),
    ],
)


@scenario(
    "epoch-removed",
    "retention removes the epoch of a committed offset",
    [
        member(name, commits="position", consumer={"auto.offset.reset": reset})
        for name, reset in (("a", "earliest"), ("b", "latest"))
    ],
    source="KAFKA-19902, KAFKA-7415",
    stories=[_STORY],
    config=_QUICK,
    variants=({"epoch-below-first": "undefined"}, {"epoch-below-first": "log-end-offset"}),
)
async def _removed(scene: Scene) -> None:
    """A reads and commits 20 records of epoch 0. Another broker leads in epoch 1 and appends 20. Those of
    epoch 0 are deleted: the log begins where the group stands. B takes over; it begins at the end of the log
    if it is reset."""
    await scene.written(20)
    await scene.reads("a", 20)
    await scene.happens("move-leader", topic="t", partition=0)
    await scene.commits("a")
    await scene.member("a").close()
    await scene.written(20)
    await scene.deletes(20)
    await scene.polls("b")
