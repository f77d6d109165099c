"""What happens to any client on any day: the behaviours that it meets there are found by playing these."""

from typing import Final

from ...hunt.plan import PlannedTopic, PlannedUser
from ..scenario import member, producer, scenario, transactional
from ..scene import Scene

_ONE: Final = {"offsets.topic.num.partitions": "1", "transaction.state.log.num.partitions": "1"}
_QUICK: Final = {
    **_ONE,
    "broker.session.timeout.ms": "1000",
    "zookeeper.session.timeout.ms": "1000",
    "replica.lag.time.max.ms": "1000",
}
_TRANSACTIONS: Final = frozenset({"transactions"})


def _reader(name: str = "a") -> PlannedUser:
    return member(name, consumer={"isolation.level": "read_committed"})


@scenario(
    "rebalance",
    "members join, leave and are evicted",
    [member("a"), member("b")],
    topics=[PlannedTopic("t", 2)],
    config=_ONE,
)
async def _rebalance(scene: Scene) -> None:
    """A and B share a topic: B joins when A has read and committed, commits itself, and leaves. A goes on, is
    evicted, and comes back."""
    await scene.written(10)
    await scene.reads("a", 10)
    await scene.commits("a")
    for _ in range(15):
        await scene.member("a").poll()
        await scene.member("b").poll()
    for partition in range(2):
        await scene.written(5, partition=partition)
    await scene.until_read(("a", "b"), 10)
    for name in ("a", "b"):
        await scene.member(name).commit()
    await scene.member("b").close()
    await scene.written(5)
    await scene.until_read(("a",), 5)
    await scene.happens("evict-member", group="g", member="a")
    await scene.written(5)
    await scene.until_read(("a",), 5)


@scenario(
    "leaders-move",
    "leaders move, and brokers stop and die",
    [producer(), member("a")],
    config=_QUICK,
)
async def _leaders(scene: Scene) -> None:
    """Leaders move while a producer writes and a consumer reads; then a broker shuts down and comes back, and
    another one dies."""
    for broker in (2, 3, 1):
        await scene.sends("producer", 3)
        await scene.happens("move-leader", topic="t", partition=0, to=broker)
    await scene.reads("a", 9)
    await scene.commits("a")
    await scene.happens("stop-broker", broker=1)
    await scene.sends("producer", 3)
    await scene.happens("start-broker", broker=1)
    await scene.until("all replicas are in sync", lambda: len(scene.in_sync()) == 3)
    await scene.happens("kill-broker", broker=3)
    await scene.sends("producer", 3)
    await scene.reads("a", 6)
    await scene.commits("a")


@scenario(
    "coordinators-move",
    "coordinators move",
    [transactional(), _reader()],
    config=_ONE,
    needs=_TRANSACTIONS,
)
async def _coordinators(scene: Scene) -> None:
    """The coordinators of a group and of a transactional id move while both are in use."""
    user = scene.transactional()
    await user.transaction_of([("t", 0, "plain")], commits=True)
    await scene.reads("a", 1)
    for broker in (2, 3):
        await scene.happens("move-coordinator", group="g", to=broker)
        await scene.happens("move-coordinator", transactional_id=user.name, to=broker)
        await user.transaction_of([("t", 0, "plain")], commits=True)
        await scene.reads("a", 1)
        await scene.member("a").commit()


@scenario(
    "transactions",
    "transactions are committed, aborted and time out",
    [transactional(), _reader()],
    config=_ONE,
    needs=_TRANSACTIONS,
)
async def _transactions(scene: Scene) -> None:
    """Transactions are committed and aborted; one is left until it has timed out. A consumer reads what is
    committed."""
    user = scene.transactional()
    await user.transaction_of([("t", 0, "plain")] * 3, commits=True)
    await user.transaction_of([("t", 0, "plain")] * 3, commits=False)
    await scene.reads("a", 3)
    await user.transaction_of([("t", 0, "plain")], commits=True, before_end=scene.times_out)
    await user.transaction_of([("t", 0, "plain")] * 2, commits=True)
    await scene.reads("a", 2)


@scenario(
    "lost-answers",
    "answers to a producer are lost, and replicas missing",
    [producer(), member("a")],
    topics=[PlannedTopic("t", 1, {"min.insync.replicas": "2"})],
    config=_QUICK,
)
async def _lost_answers(scene: Scene) -> None:
    """The answers to two Produce requests are lost; one more is refused, because a replica is missing."""
    await scene.sends("producer", 2)
    scene.cluster.faults.add("disconnect", api="Produce", topic="t", when="after", times=2)
    await scene.sends("producer", 4)
    for broker in (2, 3):
        await scene.happens("pause-follower", topic="t", partition=0, broker=broker)
    await scene.written(1, acks=1)
    await scene.until("the followers leave the ISR", lambda: scene.in_sync() == {1})
    await scene.producer().send("t", 0)
    for broker in (2, 3):
        await scene.happens("resume-follower", topic="t", partition=0, broker=broker)
    await scene.producer().flush()
    await scene.until_read(("a",), 7)


@scenario(
    "retention",
    "records are deleted that were not read",
    [member("a")],
    config=_ONE,
)
async def _retention(scene: Scene) -> None:
    """Records are deleted that a group has not read, while nobody is there."""
    await scene.written(10)
    await scene.reads("a", 10)
    await scene.commits("a")
    await scene.member("a").close()
    await scene.written(10)
    await scene.deletes(15)
    await scene.reads("a", 5)
    await scene.commits("a")
    await scene.member("a").close()


@scenario(
    "topic-created",
    "topics are created when they are asked for, and created again",
    [producer(), member("a")],
    config=_ONE,
)
async def _created(scene: Scene) -> None:
    """A topic is deleted; a producer and a consumer begin with it, and it is created for them. Then it is
    deleted again, and created at once."""
    await scene.happens("delete-topic", topic="t")
    await scene.sends("producer", 1)
    await scene.reads("a", 1)
    await scene.happens("recreate-topic", topic="t")
    await scene.sends("producer", 2)
    await scene.polls("a")
