"""What holds of offsets and assignments while coordinators move, go down and load, in whatever order."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mockbroker.controller import elections
from mockbroker.coordinators.group_records import Layout
from mockbroker.coordinators.loading import Loading
from mockbroker.policies.offsets.offsets_load import offsets_load
from mockbroker.protocol.errors import ErrorCode

from ..driving.cluster import Asked
from ..driving.groups import Generation, GroupDriver
from ..properties import examples

KEY = ("orders", 0)
CHANGES = ("move", "stop", "kill", "start", "cut off", "rejoin", "advance")
REQUESTS = ("commit", "fetch", "join", "sync")


class World:
    """`candidates` are the offset that was acknowledged last, and those that were sent since."""

    def __init__(self, release: str) -> None:
        self.driver = GroupDriver(
            release,
            brokers=3,
            offsets_topic_num_partitions=1,
            offsets_topic_replication_factor=3,
            group_initial_rebalance_delay_ms=0,
            broker_session_timeout_ms=1_000,
            zookeeper_session_timeout_ms=1_000,
        )
        self.offset = 0
        self.acknowledged = False
        self.candidates: list[int] = []
        self.commits: list[tuple[int, Asked]] = []
        self.joins: list[Asked | None] = [None] * 3
        self.ids = [""] * 3
        self.syncs: list[tuple[int, Asked]] = []
        self.rounds = 0
        self.assigned: dict[tuple[str, int], bytes] = {}

    def do(self, what: str, how: int) -> None:
        getattr(self, what.replace(" ", "_"))(how)
        self.listen()
        self.check_log()

    # -- what happens to brokers

    def move(self, how: int) -> None:
        partition = self.driver.cluster.offsets_partition("g")
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

    def commit(self, how: int) -> None:
        if not self.follow(how):
            return
        group = self.driver.groups.groups.get("g")
        member = next(iter(group.members), None) if group is not None else None
        joined = Generation(group.generation, member) if group is not None and member is not None else None
        self.offset += 1
        self.candidates.append(self.offset)
        self.commits.append((self.offset, self.driver.commit_later({KEY: self.offset}, joined)))

    def fetch(self, how: int) -> None:
        if not self.follow(how):
            return
        current = self.driver.cluster.coordinator("g")
        if current is not None and current is not self.driver.broker:
            return  # It leads an epoch that is over, and does not know: its clients find the next one.
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
        asked = self.driver.sync(Generation(group.generation, member), assignments, version=4)
        self.syncs.append((group.generation, asked))

    # -- what was answered

    def listen(self) -> None:
        for offset, asked in [each for each in self.commits if not each[1].parked]:
            self.commits.remove((offset, asked))
            if asked.response is not None and self._error(asked) == ErrorCode.NONE:
                self.acknowledged = True
                self.candidates = [each for each in self.candidates if each >= offset]
        for number, join in enumerate(self.joins):
            if join is not None and not join.parked:
                self.joins[number] = None
                self.ids[number] = join.member_id if join.error_code == ErrorCode.NONE else ""
        for generation, sync in [each for each in self.syncs if not each[1].parked]:
            self.syncs.remove((generation, sync))
            if sync.error_code == ErrorCode.NONE and sync.assignment:
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
@given(
    steps=st.lists(st.tuples(st.sampled_from(CHANGES + 3 * REQUESTS), st.integers(0, 11)), max_size=60),
)
def test_an_acknowledged_offset_is_never_lost_and_no_generation_is_assigned_twice(
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
