"""What holds whatever one to four members do, in whatever order and at whatever time."""

from dataclasses import dataclass
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from mockbroker.coordinators.classic.group import ClassicGroup
from mockbroker.coordinators.classic.states import GroupState

from ..driving.cluster import Asked
from ..driving.groups import SESSION_MS, Generation, GroupDriver
from ..properties import examples

LONG_MS = 1_800_000
REBALANCE_MS = 8_000
OFFERS = ({"a": b"1", "b": b"1"}, {"b": b"1", "a": b"2"}, {"b": b"2"}, {"c": b""})


@dataclass
class Actor:
    """A client: its requests go out one after the other, as on one connection."""

    instance: str | None
    session_ms: int
    member_id: str = ""
    join: Asked | None = None
    joined_ms: int = 0
    sync: Asked | None = None
    generation: int = -1
    leads: bool = False


class World:
    def __init__(self, members: list[tuple[bool, int]], delay_ms: int, release: str, max_size: int) -> None:
        self.driver = GroupDriver(release, group_initial_rebalance_delay_ms=delay_ms, group_max_size=max_size)
        self.actors = [
            Actor(f"i{n}" if static else None, session_ms) for n, (static, session_ms) in enumerate(members)
        ]
        self.generation = 0
        self.protocols: dict[int, str] = {}

    def do(self, who: int, what: str, how: int) -> None:
        actor = self.actors[who % len(self.actors)]
        if what == "advance":
            self.driver.advance((1, 2999, REBALANCE_MS - 1, REBALANCE_MS, SESSION_MS)[how % 5])
        elif what == "leave":
            self.driver.leave((actor.member_id, actor.instance or ""))
            self.driver.leave(actor.member_id or "nobody")
        elif not self.waits(actor):
            getattr(self, what)(actor, how)
        for actor in self.actors:
            self.listen(actor)
        self.check()

    def waits(self, actor: Actor) -> bool:
        return actor.join is not None or actor.sync is not None

    def join(self, actor: Actor, how: int) -> None:
        actor.joined_ms = self.driver.cluster.now_ms
        member_id = "" if how % 7 == 0 else actor.member_id
        actor.join = self.driver.join(
            member_id,
            instance=actor.instance,
            protocols=OFFERS[how % 4],
            session_ms=actor.session_ms,
            rebalance_ms=REBALANCE_MS,
        )

    def sync(self, actor: Actor, how: int) -> None:
        assignments = {a.member_id: bytes([n]) for n, a in enumerate(self.actors)} if actor.leads else {}
        actor.sync = self.driver.sync(Generation(actor.generation, actor.member_id), assignments, version=4)

    def heartbeat(self, actor: Actor, how: int) -> None:
        self.driver.heartbeat(Generation(actor.generation, actor.member_id))

    def commit(self, actor: Actor, how: int) -> None:
        self.driver.commit({("orders", 0): how}, Generation(actor.generation, actor.member_id))

    def listen(self, actor: Actor) -> None:
        """Takes in the answers that came."""
        now_ms = self.driver.cluster.now_ms
        if actor.join is not None:
            if actor.join.parked:
                assert now_ms - actor.joined_ms <= REBALANCE_MS, "a join waits longer than a rebalance may"
            else:
                self.joined(actor, actor.join.response)
                actor.join = None
        if actor.sync is not None and not actor.sync.parked:
            actor.sync = None

    def joined(self, actor: Actor, response: Any) -> None:
        if response.error_code in (0, 79):
            actor.member_id = response.member_id
        elif response.error_code == 25:
            actor.member_id = ""
        if response.error_code == 0:
            actor.generation = response.generation_id
            actor.leads = bool(response.members) and not response.skip_assignment
            protocol = self.protocols.setdefault(response.generation_id, response.protocol_name)
            assert protocol == response.protocol_name, "one generation, one protocol"
            if response.members:
                members = {m.member_id for m in response.members}
                assert response.leader in members
                assert response.member_id == response.leader

    def check(self) -> None:
        group = self.driver.broker.groups.groups.get("g")
        if group is None or group.type != "classic":
            self.generation = 0
            self.protocols.clear()
            return
        assert group.generation >= self.generation, "the generation goes back"
        members = group.members
        if group.generation > self.generation and members:
            self.check_new_generation(group)
        self.generation = group.generation
        assert all(m.id == name for name, m in members.items())
        assert group.joining == sum(m.join is not None for m in members.values())
        assert group.static == {m.instance_id: m.id for m in members.values() if m.instance_id}
        assert not set(group.pending) & set(members)
        if group.state is not GroupState.PREPARING_REBALANCE:
            assert (group.leader in members) if members else group.leader is None
            assert bool(members) == (group.state is not GroupState.EMPTY)
            assert not group.joining
            assert group.join_timer is None
        if group.state is GroupState.COMPLETING_REBALANCE:
            assert group.state_since_ms is not None
            waited_ms = self.driver.cluster.now_ms - group.state_since_ms
            assert waited_ms < REBALANCE_MS, "an assignment is awaited for too long"
        if group.state is GroupState.STABLE:
            assert all(m.sync is None for m in members.values())
        if group.state in (GroupState.STABLE, GroupState.COMPLETING_REBALANCE):
            assert group.protocol == self.protocols[group.generation]

    def check_new_generation(self, group: ClassicGroup) -> None:
        """Its leader is in it, and so is every dynamic member of the group."""
        entered = {a.member_id for a in self.actors if a.generation == group.generation}
        assert group.leader in entered
        assert {m.id for m in group.members.values() if m.instance_id is None} <= entered


_STEPS = st.tuples(
    st.integers(0, 3),
    st.sampled_from(["join", "join", "join", "sync", "sync", "heartbeat", "commit", "leave", "advance"]),
    st.integers(0, 34),
)


@settings(max_examples=examples(300))
@given(
    members=st.lists(
        st.tuples(st.booleans(), st.sampled_from([SESSION_MS, LONG_MS])), min_size=1, max_size=4
    ),
    delay_ms=st.sampled_from([0, 0, 3000]),
    release=st.sampled_from(["3.9", "4.4"]),
    max_size=st.sampled_from([2, 100]),
    steps=st.one_of(st.lists(_STEPS), st.lists(_STEPS, min_size=60, max_size=100)),
)
def test_random_lives(
    members: list[tuple[bool, int]],
    delay_ms: int,
    release: str,
    max_size: int,
    steps: list[tuple[int, str, int]],
) -> None:
    world = World(members, delay_ms, release, max_size)
    for who, what, how in steps:
        world.do(who, what, how)
    for actor in world.actors:
        if actor.join is not None:
            world.driver.advance(REBALANCE_MS - (world.driver.cluster.now_ms - actor.joined_ms))
            assert not actor.join.parked
    world.driver.advance(10**7)
    assert world.driver.state in ("Empty", "Dead")
