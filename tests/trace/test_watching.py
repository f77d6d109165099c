"""A look at what was set since the last one tells as much as a look at everything."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator

from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.counting import Steps
from mockbroker.cluster.cluster import Cluster
from mockbroker.cluster.topic import TopicPartition
from mockbroker.rig.batches import batch
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
        while not self.states.are_quiet:
            # Who is looked at may hear of a partition.
            self.told += sum(1 for _ in self.states.changes_of_partitions())
        self.looks += 1
        unused = {
            (each.topic.name, each.index) for each in self.cluster.partitions() if not is_looked_at(each)
        }
        known = {each for each in self.states.snapshot().changes() if each.kind in OF_PARTITIONS}
        assert {each for each in known if each.values[:2] not in unused} == set(everything(self.cluster))

    def again_and_again(self) -> None:
        self.look()
        self.cluster.environment.after(EVERY_MS, self.again_and_again)


HISTORIES = (
    Options(kafka="0.11"),
    Options(kafka="2.3", compacted=True),
    Options(kafka="3.9", offsets_topic=True),
    Options(slow_metadata=True),
    Options(consumer_groups=True),
    Options(share_groups=True),
)


@given(st.integers(0, 1_000_000), st.sampled_from(HISTORIES))
@settings(max_examples=examples(25), deadline=None)
def test_of_a_history(seed: int, options: Options) -> None:
    looked: list[Checked] = []

    def watch(world: World) -> None:
        looked.append(Checked(world.cluster))
        looked[0].again_and_again()

    happen(draw(seed, options), watch=watch)
    assert looked[0].looks > 50
    assert looked[0].told > 10


class Changing(FaultyDriver):
    """A cluster in which anything happens to the partitions of topics, besides what histories have."""

    def __init__(self) -> None:
        super().__init__()
        self.sequences = Counter[tuple[int, int]]()

    def write(self, number: int) -> None:
        """As a producer that is idempotent."""
        partition, producer = number % 2, number % 3
        first = self.sequences[partition, producer]
        records = batch(1, producer_id=producer, producer_epoch=0, sequence=first)
        data = [{"index": partition, "records": records}]
        self.send("produce", acks=1, topic_data=[{"name": "t", "partition_data": data}])
        self.sequences[partition, producer] += 1

    def forget(self, number: int) -> None:
        for replica in self.partition(number).hosted:
            replica.log.producers.forget(replica.log.producers.idle())

    def delete_records(self, number: int) -> None:
        if (found := self.partition(number).led) is not None:
            found.advance_log_start(found.log.high_watermark)

    def make(self, number: int) -> None:
        name = f"made-{number}"
        if name in self.cluster.topics:
            self.cluster.delete_topics([self.cluster.topics[name]])
        else:
            create(self.cluster, name, 2, 3)

    def grow(self, number: int) -> None:
        self.cluster.topics["t"].add_partitions([[1 + number % 3]])

    def lead(self, number: int) -> None:
        self.partition(number).lead(1 + number % 3)

    def restart(self, number: int) -> None:
        broker = 1 + number % 3
        (self.stop_broker if self.cluster.brokers[broker].online else self.start_broker)(broker)

    def wait(self, number: int) -> None:
        self.advance(10**number)

    def partition(self, number: int) -> TopicPartition:
        return self.cluster.topics["t"].partitions[number % 2]


OPERATIONS = (
    Changing.write,
    Changing.forget,
    Changing.delete_records,
    Changing.make,
    Changing.grow,
    Changing.lead,
    Changing.restart,
    Changing.wait,
)


@given(st.lists(st.tuples(st.sampled_from(OPERATIONS), st.integers(0, 8)), max_size=30))
@settings(max_examples=examples(60), deadline=None)
def test_of_anything(operations: list[tuple[Callable[[Changing, int], None], int]]) -> None:
    driver = Changing()
    checked = Checked(driver.cluster)
    for operation, number in [(Changing.write, 0), *operations, (Changing.lead, 1)]:
        operation(driver, number)
        checked.look()
    assert checked.told


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
