"""Producers that a broker has forgotten (KIP-360), and errors of sequences for no reason (KIP-185)."""

from typing import Final

from ...hunt.plan import PlannedTopic
from ..scenario import member, producer, scenario, transactional
from ..scene import Scene

_STORY: Final = "KIP-360"
_SPURIOUS: Final = "spurious out-of-order sequences"
_FORGETS: Final = {
    "producer-state-retention": "with-records",
    "unknown-producer": "unknown-producer-id",
}
_FORGETS_NAMELESSLY: Final = {**_FORGETS, "unknown-producer": "out-of-order-sequence-number"}
_CONFIG: Final = {"offsets.topic.num.partitions": "1", "transaction.state.log.num.partitions": "1"}


@scenario(
    "idle-producer",
    "an idempotent producer outlives its records",
    [producer(), member("a")],
    source="KIP-360, KAFKA-7190; KIP-185",
    stories=[_STORY, _SPURIOUS],
    config=_CONFIG,
    variants=(_FORGETS, _FORGETS_NAMELESSLY),
)
async def _idle(scene: Scene) -> None:
    """Records are acknowledged, read, and deleted as retention does. Then the producer sends again."""
    await scene.sends("producer", 3)
    await scene.reads("a", 3)
    await scene.happens("delete-records", topic="t", partition=0)
    await scene.sends("producer", 1)
    await scene.sends("producer", 2)


@scenario(
    "idle-transactional-producer",
    "a transactional producer outlives its records",
    [transactional()],
    source="KIP-360",
    stories=[_STORY],
    config=_CONFIG,
    needs=frozenset({"transactions"}),
    variants=(_FORGETS, _FORGETS_NAMELESSLY),
)
async def _idle_transaction(scene: Scene) -> None:
    """The same in transactions: all that the producer wrote is deleted between two of them."""
    sends = [("t", 0, "plain")]
    await scene.transactional().transaction_of(sends * 3, commits=True)
    await scene.happens("delete-records", topic="t", partition=0)
    await scene.transactional().transaction_of(sends * 2, commits=True)


@scenario(
    "retry-after-deletion",
    "a record is sent again after it was deleted",
    [producer(), member("a")],
    topics=[PlannedTopic("t", 1)],
    source="KIP-360",
    stories=[_STORY],
    config=_CONFIG,
    variants=(_FORGETS,),
)
async def _retried(scene: Scene) -> None:
    """A record is written and read, and its acknowledgement is lost. Before it is sent again, all records are
    deleted. A broker that has forgotten the producer can't tell that it had the record."""
    await scene.sends("producer", 3)
    await scene.reads("a", 3)
    faults = scene.cluster.faults
    faults.add("disconnect", api="Produce", topic="t", when="after", times=1)
    again = faults.add("hold", api="Produce", topic="t", nth=2)
    await scene.producer().send("t", 0)
    await scene.reads("a", 1)
    await scene.until("the record is sent again", lambda: again.held > 0)
    await scene.happens("delete-records", topic="t", partition=0)
    again.release()
    await scene.producer().flush()
