"""A look at what was committed since the last one tells as much as a look at all offsets."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.counting import Steps
from mockbroker.cluster.cluster import Cluster
from mockbroker.coordinators.offsets import CommittedOffset, Offsets
from mockbroker.simulation.history import draw, happen
from mockbroker.simulation.plan import Options
from mockbroker.simulation.world import World
from mockbroker.trace import events
from mockbroker.trace.commits import Commits
from mockbroker.trace.looks import Change
from tests.driving.groups import GroupDriver
from tests.properties import examples

EVERY_MS = 37
MANY = 300


def everything(cluster: Cluster) -> Iterator[Change]:
    for broker in cluster.brokers.values():
        for group in broker.groups.groups.values() if "groups" in vars(broker) else ():
            for where, one in group.offsets.committed.items():
                yield Change(events.Committed, (*where, group.id, one.offset, one.leader_epoch))


class Checked:
    """Looks at what groups have committed, and compares."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        self.commits = Commits(cluster)
        self.state = {each.values[:3]: each for each in self.commits.whole()}
        self.told = 0

    def look(self) -> None:
        for each in self.commits.changes():
            self.told += 1
            self.state[each.values[:3]] = each
        now = {each for each in self.state.values() if each.values[3] != -1}
        assert now == set(self.commits.whole())
        # Those of a group that no coordinator has at the moment are remembered.
        there = {group for broker in self.cluster.brokers.values() for group in broker.groups.groups}
        assert {each for each in now if each.values[2] in there} == set(everything(self.cluster))

    def again_and_again(self) -> None:
        self.look()
        self.cluster.environment.after(EVERY_MS, self.again_and_again)


@given(
    st.integers(0, 1_000_000), st.sampled_from([Options(offsets_topic=True), Options(consumer_groups=True)])
)
@settings(max_examples=examples(10), deadline=None)
def test_of_a_history(seed: int, options: Options) -> None:
    looked: list[Checked] = []

    def watch(world: World) -> None:
        looked.append(Checked(world.cluster))
        looked[0].again_and_again()

    happen(draw(seed, options), watch=watch)
    assert looked


class Changing(GroupDriver):
    """A group whose offsets change in every way."""

    def __init__(self) -> None:
        super().__init__(brokers=3)
        self.write(0)

    def write(self, number: int) -> None:
        self.commit({("orders", number % 3): number, ("payments", 0): 2 * number})

    def open(self, number: int) -> None:
        one = CommittedOffset(number, 0, "", self.cluster.now_ms, at=number)
        self.of_group.commit_open(number % 2, {("orders", number % 3): one})

    def close(self, number: int) -> None:
        self.of_group.complete(number % 2, number > 2, replaces=number > 5)

    def forget(self, number: int) -> None:
        self.delete_offsets(("orders", number % 3))

    def expire(self, number: int) -> None:
        self.of_group.expire(
            self.cluster.now_ms + 10, number, lambda each: each.commit_ms, keep_open=number % 2 == 0
        )

    def end(self, number: int) -> None:
        self.delete()

    def replace(self, number: int) -> None:
        self.of_group.committed = {("orders", 0): CommittedOffset(number, 0, "", 0)}

    def wait(self, number: int) -> None:
        self.advance(10**number)

    @property
    def of_group(self) -> Offsets:
        if "g" not in self.groups.groups:
            self.write(1)
        return self.groups.groups["g"].offsets


OPERATIONS = (
    Changing.write,
    Changing.open,
    Changing.close,
    Changing.forget,
    Changing.expire,
    Changing.end,
    Changing.replace,
    Changing.wait,
)


@given(st.lists(st.tuples(st.sampled_from(OPERATIONS), st.integers(0, 8)), max_size=30))
@settings(max_examples=examples(60), deadline=None)
def test_of_anything(operations: list[tuple[Callable[[Changing, int], None], int]]) -> None:
    driver = Changing()
    checked = Checked(driver.cluster)
    for operation, number in [*operations, (Changing.write, 9)]:
        operation(driver, number)
        checked.look()
    assert checked.told


def steps(partitions: int) -> int:
    """Of commits of one partition, and of the looks after them, with so many that were committed before."""
    driver = GroupDriver()
    driver.cluster.create_topic("large", [[1]] * partitions)
    driver.commit({("large", index): 1 for index in range(partitions)})
    commits = Commits(driver.cluster)
    assert len(list(commits.whole())) == partitions
    told: list[Change] = []
    with Steps() as counted:
        for number in range(3):
            driver.commit({("large", number): 2})
            told += commits.changes()
    assert [each.values[:2] for each in told] == [("large", 0), ("large", 1), ("large", 2)]
    return counted.count


def test_it_costs_what_has_changed() -> None:
    assert steps(MANY) < 1.05 * steps(3)
