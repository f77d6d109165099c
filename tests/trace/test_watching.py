"""A look at what was set since the last one tells as much as a look at everything."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.counting import Steps
from mockbroker.cluster.cluster import Cluster
from mockbroker.cluster.topic import TopicPartition
from mockbroker.simulation.history import draw, happen
from mockbroker.simulation.plan import Options
from mockbroker.simulation.world import World
from mockbroker.trace import Trace, events
from mockbroker.trace.looks import Change, Look
from mockbroker.trace.states import States
from tests.driving.cluster import a_cluster, create
from tests.driving.faulty import FaultyDriver
from tests.properties import examples

OF_PARTITIONS = {
    events.Replica,
    events.Producer,
    events.Leader,
    events.InSyncReplicas,
    events.LogStart,
    events.HighWatermark,
    events.Follower,
}
EVERY_MS = 37


def is_looked_at(partition: TopicPartition) -> bool:
    return not partition.topic.internal or any(each.log.end_offset for each in partition.hosted)


def everything(cluster: Cluster) -> Iterator[Change]:
    for each in cluster.partitions():
        if is_looked_at(each):
            yield from Look.at(each, details=True).whole(each.topic.name, each.index)


class Checked:
    """Looks at a cluster, and compares. `told` counts what has changed."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        self.states = States(cluster, details=True)
        self.told = self.looks = 0

    def look(self) -> None:
        self.told += sum(1 for _ in self.states.changes_of_partitions())
        self.looks += 1
        unused = {
            (each.topic.name, each.index) for each in self.cluster.partitions() if not is_looked_at(each)
        }
        known = {each for each in self.states.whole() if each.kind in OF_PARTITIONS}
        assert {each for each in known if each.values[:2] not in unused} == set(everything(self.cluster))

    def again_and_again(self) -> None:
        self.look()
        self.cluster.environment.after(EVERY_MS, self.again_and_again)


@given(
    st.integers(0, 1_000_000),
    st.sampled_from(["0.11", "2.3", "3.9", "4.4"]),
    st.sampled_from(["offsets_topic", "slow_metadata", "compacted", "consumer_groups", "share_groups"]),
)
@settings(max_examples=examples(25), deadline=None)
def test_of_a_history(seed: int, kafka: str, besides: str) -> None:
    options = replace(Options(kafka="4.4" if "groups" in besides else kafka), **{besides: True})
    looked: list[Checked] = []

    def watch(world: World) -> None:
        looked.append(Checked(world.cluster))
        looked[0].again_and_again()

    happen(draw(seed, options), watch=watch)
    assert looked[0].looks > 50
    assert looked[0].told > 50


class Traced(FaultyDriver):
    """Topic `t` of so many partitions, each with a record, in a cluster that is traced."""

    def __init__(self, partitions: int) -> None:
        cluster = a_cluster(brokers=3)
        create(cluster, "t", partitions, 3)
        for each in cluster.partitions():
            each.lead(1)
        self.trace = Trace(cluster)
        self.begin(cluster, self.trace)
        self.trace.start()
        for partition in range(partitions):
            self.produce(partition)

    def steps(self) -> int:
        """Of requests, of time that goes by, and of an operation of the control API."""
        with Steps() as counted:
            for partition in range(3):
                self.produce(partition)
                self.cluster.advance(self.cluster.now_ms + 1)
                self.trace.time_went_by()
                self.trace.changed()
        return counted.count


def test_it_costs_what_has_changed() -> None:
    few, many = Traced(10), Traced(300)
    before = len(many.trace.events)
    assert many.steps() < 1.05 * few.steps()
    told = [each.kind for each in many.trace.events[before:]]
    assert told.count("high-watermark") == 3
    assert told.count("replica") >= 9
