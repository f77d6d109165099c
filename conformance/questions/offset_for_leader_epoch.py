"""OffsetForLeaderEpoch: KIP-101, KIP-279, KIP-320. kio has v2 and up."""

from typing import Any

from ...rig.batches import batch
from ..registry import Scene, Steps, question


def _epoch(
    s: Scene, topic: str, epoch: int, *, current: int = -1, partition: int = 0, client: Any = None
) -> Any:
    asked = {"partition": partition, "current_leader_epoch": current, "leader_epoch": epoch}
    fields = {"replica_id": -1, "topics": [{"topic": topic, "partitions": [asked]}]}
    return s.ask(fields, client=client)["topics"][0]["partitions"][0]


def one_epoch(s: Scene) -> Steps:
    topic = s.topic()
    for epoch in (0, 1, -1, -2):
        yield f"epoch {epoch}, empty log", _epoch(s, topic, epoch)
    s.fill(topic, 3, 4)
    for epoch in (0, 1, 2**31 - 1, -1, -2):
        yield f"epoch {epoch}", _epoch(s, topic, epoch)
    s.delete_records(topic, 5)
    for epoch in (0, 1, -1, -2):
        yield f"epoch {epoch}, log start 5", _epoch(s, topic, epoch)


def current_leader_epoch(s: Scene) -> Steps:
    topic = s.topic()
    s.fill(topic, 3)
    for current in (0, 1, -2):
        yield f"current epoch {current}", _epoch(s, topic, 0, current=current)


def unknown_partitions(s: Scene) -> Steps:
    topic = s.topic()
    yield "partition 1 of 1", _epoch(s, topic, 0, partition=1)
    yield "unknown topic", _epoch(s, s.name("unknown"), 0)


def several(s: Scene) -> Steps:
    topic = s.topic(partitions=2)
    s.fill(topic, 3, partition=1)
    parts = [{"partition": index, "current_leader_epoch": -1, "leader_epoch": 0} for index in (1, 0, 1)]
    yield "one twice", s.ask(replica_id=-1, topics=[{"topic": topic, "partitions": parts}])
    yield "no topics", s.ask(replica_id=-1, topics=[])
    yield "replica id -2", s.ask(replica_id=-2, topics=[{"topic": topic, "partitions": parts[:1]}])


@question(brokers=3)
def not_the_leader(s: Scene) -> Steps:
    topic = s.topic(replicas=[[0, 1]])
    for rank in (1, 2):
        client = s.new_client(broker=rank)
        yield f"asked of broker {rank}", _epoch(s, topic, 0, client=client)
        yield f"asked of broker {rank}, current epoch 9", _epoch(s, topic, 0, current=9, client=client)


@question(brokers=3)
def several_epochs(s: Scene) -> Steps:
    """Leadership moves back and forth; epochs without records leave no trace."""
    topic = s.topic(replicas=[[0, 1]])
    clients = [s.new_client(broker=rank) for rank in range(2)]
    leader = 0
    for records in (10, 10, 0, 10, 5):
        if records:
            s.produce(topic, batch(records), client=clients[leader])
        if records != 5:
            leader = 1 - leader
            _move(s, topic, leader)
    current = _state(s, topic)["leader_epoch"]
    for epoch in range(-1, current + 2):
        yield f"current {current}, epoch {epoch}", _epoch(s, topic, epoch, client=clients[leader])
    for given in (current - 1, current, current + 1):
        yield f"current epoch given as {given}", _epoch(s, topic, 0, current=given, client=clients[leader])
    yield "log end", s.offset(topic, client=clients[leader])


def _state(s: Scene, topic: str) -> dict[str, Any]:
    state: dict[str, Any] = s.described(topic)["partitions"][0]
    return state


def _move(s: Scene, topic: str, leader: int) -> None:
    """Makes the broker of that rank the preferred leader, and elects it."""
    replicas = [s.node(leader), s.node(1 - leader)]
    part = {"partition_index": 0, "replicas": replicas}
    s.call(
        "alter_partition_reassignments", {"timeout": 10000, "topics": [{"name": topic, "partitions": [part]}]}
    )
    s.until(lambda: _state(s, topic)["replica_nodes"] == replicas, "the reassignment")
    s.until(lambda: len(_state(s, topic)["isr_nodes"]) == 2, "the ISR")
    wanted = {"election_type": 0, "timeout": 10000, "topic_partitions": [{"topic": topic, "partitions": [0]}]}
    client = s.new_client(broker=leader)

    def led() -> bool:
        s.call("elect_leaders", wanted)
        return _state(s, topic)["leader_id"] == replicas[0] and s.offset(topic, client=client) is not None

    s.until(led, "the new leader")


def epochs_of_a_topic_twice(s: Scene) -> Steps:
    topic = s.topic(partitions=2)
    s.fill(topic, 3)

    def ask(name: str, *indexes: int) -> Any:
        part = {"current_leader_epoch": -1, "leader_epoch": 0}
        topics = [{"topic": name, "partitions": [{**part, "partition": index}]} for index in indexes]
        return s.ask(replica_id=-1, topics=topics)

    yield "the same partition", ask(topic, 0, 0)
    yield "another partition", ask(topic, 0, 1)
    yield "unknown", ask(s.name("unknown"), 0, 0)
