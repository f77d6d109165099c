"""What holds of offsets and assignments while coordinators move, go down and load, in whatever order."""

from contextlib import suppress
from typing import Any, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mockbroker.cluster.topic import TopicPartition
from mockbroker.controller import elections
from mockbroker.coordinators.group_records import Layout
from mockbroker.coordinators.loading import Loading
from mockbroker.metadata.records import NO_LEADER
from mockbroker.policies.offsets.offsets_load import offsets_load
from mockbroker.protocol.api_error import ApiError
from mockbroker.protocol.errors import ErrorCode

from ..driving.cluster import Asked
from ..driving.groups import Generation, replicated
from ..properties import examples

KEY = ("orders", 0)
CHANGES = ("move", "stop", "kill", "start", "cut off", "rejoin", "advance", "elect")
REQUESTS = ("commit", "fetch", "join", "sync")


class Sent(NamedTuple):
    """A request whose answer says something about an offset or a generation."""

    number: int
    asked: Asked
    epoch: int
    """The leader epoch in which the asked broker led the offsets topic."""


class World:
    """`candidates` are the offset that was acknowledged last, and those that were sent since. After an
    unclean election they are all that were ever sent, and what is acknowledged in an earlier leader epoch
    doesn't count."""

    def __init__(self, release: str) -> None:
        self.driver = replicated(
            release,
            group_initial_rebalance_delay_ms=0,
            broker_session_timeout_ms=1_000,
            zookeeper_session_timeout_ms=1_000,
        )
        self.offset = 0
        self.acknowledged = False
        self.candidates: list[int] = []
        self.unclean_elections = 0
        self.unclean_epoch = -1
        """The leader epoch that began with the last unclean election."""
        self.commits: list[Sent] = []
        self.joins: list[Asked | None] = [None] * 3
        self.ids = [""] * 3
        self.syncs: list[Sent] = []
        self.rounds = 0
        self.assigned: dict[tuple[str, int], bytes] = {}

    def do(self, what: str, how: int) -> None:
        getattr(self, what.replace(" ", "_"))(how)
        self.look_at_elections()
        self.listen()
        self.check_log()

    @property
    def partition(self) -> TopicPartition:
        return self.driver.cluster.offsets_partition("g")

    def look_at_elections(self) -> None:
        count = self.driver.cluster.controller.unclean_elections
        if count > self.unclean_elections:
            self.unclean_elections, self.unclean_epoch = count, self.partition.leader_epoch
            self.acknowledged, self.candidates = False, list(range(1, self.offset + 1))
            self.assigned.clear()

    # -- what happens to brokers

    def move(self, how: int) -> None:
        partition = self.partition
        if how % 3 + 1 in partition.isr and how % 3 + 1 != partition.leader:
            elections.move_leader(partition, how % 3 + 1)

    def stop(self, how: int) -> None:
        self.driver.stop_broker(how % 3 + 1)

    def kill(self, how: int) -> None:
        self.driver.kill_broker(how % 3 + 1)

    def start(self, how: int) -> None:
        self.driver.start_broker(how % 3 + 1)

    def cut_off(self, how: int) -> None:
        self.driver.cut_off(how % 3 + 1)

    def rejoin(self, how: int) -> None:
        self.driver.rejoin(how % 3 + 1)

    def elect(self, how: int) -> None:
        """A replica that is not in sync comes to lead: those in sync have gone, or go down now.

        One that is in sync goes down, and may lead so the next time.
        """
        survivor, partition = how % 3 + 1, self.partition
        if survivor in partition.isr:
            self.stop(how)
            return
        for broker in partition.isr if partition.leader != NO_LEADER else ():
            self.driver.stop_broker(broker)
        self.rejoin(how)
        self.start(how)
        with suppress(ApiError):
            elections.elect_unclean(partition)

    def advance(self, how: int) -> None:
        self.driver.advance((1, 500, 5_000, 12_000)[how % 4])

    # -- what clients ask

    def follow(self, how: int) -> bool:
        """Asks a broker that thinks that it coordinates, if there is any."""
        online = [each for each in self.driver.cluster.brokers.values() if each.online]
        found = [each for each in online if not each.groups.refuses("g")]
        if found:
            self.driver.broker = found[how % len(found)]
            self.driver.groups = self.driver.broker.groups
        return bool(found)

    @property
    def epoch(self) -> int:
        """That in which the asked broker leads the offsets topic."""
        led = self.driver.broker.offsets_partition("g")
        assert led is not None
        return led.leader_epoch

    def commit(self, how: int) -> None:
        if not self.follow(how):
            return
        group = self.driver.groups.groups.get("g")
        member = next(iter(group.members), None) if group is not None else None
        joined = Generation(group.generation, member) if group is not None and member is not None else None
        self.offset += 1
        self.candidates.append(self.offset)
        epoch = self.epoch
        self.commits.append(Sent(self.offset, self.driver.commit_later({KEY: self.offset}, joined), epoch))

    def fetch(self, how: int) -> None:
        if not self.follow(how):
            return
        if self.epoch < self.partition.leader_epoch:
            return  # It leads an epoch that is over, and does not know.
        found = self.driver.offsets().get(KEY)
        if found is None:
            assert not self.acknowledged, "a committed offset is lost"
        else:
            assert found in self.candidates, f"{found} is served, which is older than what was acknowledged"

    def join(self, how: int) -> None:
        number = how % 3
        if self.joins[number] is None and self.follow(how):
            asked = self.driver.join(self.ids[number], rebalance_ms=5_000, session_ms=10_000, version=3)
            self.joins[number] = asked

    def sync(self, how: int) -> None:
        """Whoever leads assigns; each assignment is unlike every other."""
        if not self.follow(how):
            return
        group = self.driver.groups.groups.get("g")
        member = self.ids[how % 3]
        if group is None or member not in group.members:
            return
        self.rounds += 1
        assignments = {}
        if group.leader == member:
            assignments = {each: f"{self.rounds}".encode() for each in group.members}
        generation, epoch = group.generation, self.epoch
        asked = self.driver.sync(Generation(generation, member), assignments, version=4)
        self.syncs.append(Sent(generation, asked, epoch))

    # -- what was answered

    def listen(self) -> None:
        for sent in [each for each in self.commits if not each.asked.parked]:
            self.commits.remove(sent)
            if sent.asked.response is None or self._error(sent.asked) or sent.epoch < self.unclean_epoch:
                continue
            self.acknowledged = True
            self.candidates = [each for each in self.candidates if each >= sent.number]
        for number, join in enumerate(self.joins):
            if join is not None and not join.parked:
                self.joins[number] = None
                self.ids[number] = join.member_id if join.error_code == ErrorCode.NONE else ""
        for sent in [each for each in self.syncs if not each.asked.parked]:
            self.syncs.remove(sent)
            sync, generation = sent.asked, sent.number
            if sync.error_code == ErrorCode.NONE and sync.assignment and sent.epoch >= self.unclean_epoch:
                known = self.assigned.setdefault(("g", generation), sync.assignment)
                assert known == sync.assignment, f"generation {generation} was assigned twice"

    @staticmethod
    def _error(asked: Asked) -> Any:
        return asked.response.topics[0].partitions[0].error_code

    def check_log(self) -> None:
        """A coordinator that has just loaded its groups has what the log says."""
        for broker in self.driver.cluster.brokers.values():
            for shard in broker.groups.shards if broker.online else ():
                if self.commits or not shard.current or shard.loading is not None:
                    continue
                loading = Loading(shard.partition.log, Layout.of(self._release, broker.policies), _SKIPS)
                for part in (loading.read(), loading.build()):
                    list(part)
                logged = {name for name, group in loading.groups.items() if group.offsets}
                known = {name for name, group in broker.groups.groups.items() if group.offsets.committed}
                assert known <= logged

    @property
    def _release(self) -> Any:
        return self.driver.cluster.release


_SKIPS = offsets_load.answers["skips"]


@pytest.mark.parametrize("release", ["2.3", "3.9", "4.4"])
@settings(max_examples=examples(400), deadline=None)
@given(steps=st.lists(st.tuples(st.sampled_from(CHANGES + 3 * REQUESTS), st.integers(0, 11)), max_size=60))
def test_only_an_unclean_election_loses_an_acknowledged_offset_or_assigns_a_generation_again(
    release: str, steps: list[tuple[str, int]]
) -> None:
    world = World(release)
    for what, how in steps:
        world.do(what, how)
    for broker in (1, 2, 3):
        world.do("rejoin", broker - 1)
        world.do("start", broker - 1)
    for _ in range(4):
        world.do("advance", 3)
    world.do("fetch", 0)
    ends = {log.end_offset for log in world.partition.logs.values()}
    assert len(ends) == 1, "who led before an unclean election has not truncated its log"


@pytest.mark.parametrize("release", ["2.3", "3.9", "4.4"])
def test_an_unclean_election_loses_what_only_others_had(release: str) -> None:
    world = World(release)
    world.do("commit", 0)
    world.do("elect", 2)
    world.do("commit", 0)
    assert world.candidates == [2]
    world.do("elect", 2)
    assert world.unclean_elections == 1
    assert world.follow(0)
    assert world.driver.offsets() == {KEY: 1}
