"""An error in the midst of a rebalance: no member waits for an answer that nobody will give any more."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import pytest

from mockbroker import MockCluster
from mockbroker.coordinators.classic.group import ClassicGroup
from mockbroker.policies import OwnPolicyError
from mockbroker.rig.client import Client, DisconnectedError, Pending

from ..driving.clients import raw_client

GROUP = "g"


class Broken:
    """A policy of the user's own, which raises while it is told to."""

    def __init__(self) -> None:
        self.raises = False

    def __call__(self, votes: Mapping[str, int]) -> str:
        if self.raises:
            raise ZeroDivisionError("mine")
        return next(iter(votes))


class Ask(NamedTuple):
    client: Client
    member_id: str = ""
    session_ms: int = 300_000

    def join(self) -> Pending:
        asked = {"group_id": GROUP, "session_timeout": self.session_ms, "rebalance_timeout": 60_000}
        protocols = [{"name": "range", "metadata": b""}]
        more = {"member_id": self.member_id, "protocol_type": "consumer", "protocols": protocols}
        return self.client.send("join_group", 3, {**asked, **more})

    def sync(self, generation: int) -> Pending:
        asked = {"group_id": GROUP, "generation_id": generation, "member_id": self.member_id}
        return self.client.send("sync_group", 2, {**asked, "assignments": []})


@pytest.fixture
def policy() -> Broken:
    return Broken()


@pytest.fixture
def cluster(brokers: int, policy: Broken) -> Iterator[MockCluster]:
    config = {"group.initial.rebalance.delay.ms": "8000", "group.max.session.timeout.ms": "300000"}
    with MockCluster(
        brokers=brokers, config=config, policies={"tied-protocols": policy}, clock="manual"
    ) as started:
        yield started
        started.failures.clear()


@pytest.fixture
def clients(cluster: MockCluster) -> Iterator[list[Client]]:
    """Of the group's coordinator: without id, with an empty one, and an odd one."""
    broker = cluster.run(lambda core: core.offsets_partition(GROUP).leader)
    found = [raw_client(cluster, client_id, broker=broker) for client_id in (None, "", "odd \x1b[31m")]
    yield found
    for client in found:
        client.close()


def group(cluster: MockCluster) -> dict[str, Any]:
    def told(core: Any) -> dict[str, Any]:
        found: ClassicGroup = core.coordinator(GROUP).groups.create(GROUP)
        waiting = sum(bool(member.join or member.sync) for member in found.members.values())
        return {"joining": found.joining, "waiting": waiting, "members": list(found.members)}

    return cluster.run(told)


def parked(cluster: MockCluster, asks: list[Ask]) -> list[Pending]:
    """Their JoinGroups, which wait."""
    pending = []
    for number, ask in enumerate(asks, 1):
        pending.append(ask.join())
        while group(cluster)["waiting"] < number:
            pass
    return pending


def stable(cluster: MockCluster, asks: list[Ask]) -> list[Ask]:
    """The members of a stable generation, the leader first."""
    pending = parked(cluster, asks)
    cluster.clock.advance("20s")
    answers = [ask.client.receive(each) for ask, each in zip(asks, pending, strict=True)]
    members = [ask._replace(member_id=a["member_id"]) for ask, a in zip(asks, answers, strict=True)]
    leader = members[0]
    assert leader.client.receive(leader.sync(answers[0]["generation_id"]))["error_code"] == "NONE"
    return members


def end(ask: Ask, pending: Pending) -> str:
    """How a request ends: by its error, or by nothing."""
    try:
        return str(ask.client.receive(pending)["error_code"])
    except DisconnectedError:
        return "closed"


@pytest.mark.parametrize("error", [OwnPolicyError, ZeroDivisionError], ids=["policy", "bug"])
@pytest.mark.parametrize(("begun", "brokers"), [("delay", 1), ("timeout", 3), ("silence", 1), ("handler", 3)])
def test_members_that_wait_for_a_generation(
    cluster: MockCluster,
    clients: list[Client],
    policy: Broken,
    begun: str,
    error: type[Exception],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Whatever ends the waiting: the first delay, the rebalance timeout, a session, or the last to join."""
    asks = [Ask(client, session_ms=30_000 if begun == "silence" else 300_000) for client in clients]
    if begun != "delay":
        asks = stable(cluster, asks)
    waiting = asks if begun == "delay" else asks[:2]
    pending = parked(cluster, waiting)

    def bug(_: ClassicGroup) -> None:
        raise ZeroDivisionError("a bug")

    with monkeypatch.context() as patch:
        policy.raises = True
        if error is ZeroDivisionError:
            patch.setattr(ClassicGroup, "next_generation", bug)
        if begun == "handler":
            waiting = asks
            pending.append(asks[2].join())
        else:
            cluster.clock.advance({"delay": "20s", "timeout": "61s", "silence": "41s"}[begun])
        ends = [end(ask, each) for ask, each in zip(waiting, pending, strict=True)]
    policy.raises = False
    expected = "UNKNOWN_SERVER_ERROR" if error is OwnPolicyError else "closed"
    assert ends == [expected] * len(waiting)
    assert group(cluster)["joining"] == 0
    assert cluster.failures
    # They come back, and the group goes on.
    members = group(cluster)["members"]
    asks = [ask._replace(member_id=member) for ask, member in zip(asks, members, strict=False)]
    with cluster.faults.add("watch", api="JoinGroup") as came:
        again = [ask.join() for ask in asks]
        came.wait(hits=len(asks))
    cluster.clock.advance("20s")
    assert [end(ask, each) for ask, each in zip(asks, again, strict=True)] == ["NONE"] * len(members)
