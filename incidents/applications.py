"""Incidents that applications make: a static member that never comes back, a process that is killed again and
again, commits that are one too low, timeouts that brokers don't allow."""

import time
from collections.abc import Sequence
from typing import Any, Final

import trio

from .clients import ClientError, Member, Producer
from .memberships import meanwhile, read_all, refused, stands
from .refusals import transaction
from .stage import IncidentStage, StoryError, story

_LONG_S: Final = 75
_HALF_HOUR_MS: Final = 1_800_000
_HOUR_MS: Final = 3_600_000
_PACE_S: Final = 5.0
_LIFE_S: Final = 6.0
_LIVES_S: Final = 20.0
_DEATHS: Final = 9


@story("static-member-gone", brokers=1, libraries=("aiokafka", "java"), twin={})
async def static_member_gone(stage: IncidentStage) -> None:
    """One of two members with a group.instance.id is killed for good. Its session lasts half an hour, and
    until then nobody reads its partition; in the twin it lasts six seconds."""
    limit = _HALF_HOUR_MS if stage.caused else 6_000
    groups = {"billing": "aiokafka", "shipping": "java"}
    await stage.create("orders", 2)
    gone: dict[str, Member] = {}
    for group, library in groups.items():
        await stage.clients.start(library, f"{library}-gone")
        own: dict[str, Any] = {"session_timeout_ms": limit}
        await stage.clients.member(library, group, ["orders"], group_instance_id=f"{group}-0", **own)
        gone[group] = await stage.clients.joined(
            f"{library}-gone", group, ["orders"], group_instance_id=f"{group}-1", **own
        )
    while any(not each.began for each in gone.values()):
        for partition in (0, 1):
            await stage.clients.send("java", "orders", partition, 10)
        for each in gone.values():
            await _read(each)
    owned: dict[str, int] = {}
    for _ in range(5):
        for partition in (0, 1):
            await stage.clients.send("java", "orders", partition, 5)
        for group, each in gone.items():
            if records := await _read(each, 1.0):
                owned[group] = records[-1]["partition"]
    for group, each in gone.items():
        await read_all(stage, each, "orders", owned[group])
    for group, library in groups.items():
        stage.clients.kill(f"{library}-gone")
        at = stage.clients.at[group]["orders", owned[group]]
        stage.did(
            "a static member was killed",
            group=group,
            instance=f"{group}-1",
            session_timeout_ms=limit,
            topic="orders",
            partition=owned[group],
            offset=at,
        )
    at_death = {group: stage.clients.at[group]["orders", owned[group]] for group in groups}
    await meanwhile(stage, "java", "orders", 0, 1, seconds=_LONG_S)
    if not stage.caused:
        await stage.caught_up("orders", groups=groups)
        return
    for group, partition in owned.items():
        await stands(stage, group, "orders", partition, at_death[group])
        other = 1 - partition
        end = await stage.do(stage.admin.offset, "orders", other)
        await stage.until(
            "the other partition",
            lambda g=group, o=other, e=end: stage.clients.at[g]["orders", o] >= e,  # type: ignore[misc]
        )


async def _read(member: Member, seconds: float = 0.0) -> Sequence[Any]:
    """What it reads, and commits, for so long, or at once. A poll that is broken off would lose records."""
    ends = time.monotonic() + seconds
    found: list[Any] = []
    while True:
        if records := await member.read():
            await member.commit(records)
            found += records
        if time.monotonic() >= ends:
            return found


@story("crash-loop", brokers=1, libraries=("kafkajs",), twin={})
async def crash_loop(stage: IncidentStage) -> None:
    """An instance of an application is killed for its memory some seconds after each start, and started
    again: its group rebalances all the while, and waits for members that are dead."""
    await stage.create("orders", 2)
    await stage.clients.member("kafkajs", "billing", ["orders"])
    for partition in (0, 1):
        await stage.clients.send("kafkajs", "orders", partition, 20)
    await stage.caught_up("orders", groups=["billing"])
    for turn in range(1, (_DEATHS if stage.caused else 1) + 1):
        name = f"kafkajs-{turn}"
        await stage.clients.start("kafkajs", name)
        member = await stage.clients.joined(name, "billing", ["orders"])
        dies = time.monotonic() + _LIFE_S
        while time.monotonic() < dies:
            for partition in (0, 1):
                await stage.clients.send("kafkajs", "orders", partition, 2)
            await _read(member)
        if stage.caused:
            stage.clients.kill(name)
            stage.did("a process was killed", group="billing", client=member.handle)
        else:
            stage.clients.begin(member)
    if stage.caused:
        stage.noticed("group-unsettled", group="billing")
    await stage.caught_up("orders", groups=["billing"])


@story("commits-too-low", brokers=1, libraries=("aiokafka", "confluent-kafka"), twin={})
async def commits_too_low(stage: IncidentStage) -> None:
    """An application commits the offset of the record that it has read last, in place of the next one: its
    lag is never 0, and it reads that record again whenever it is started."""
    groups = {"billing": "aiokafka", "shipping": "confluent-kafka"}
    await stage.create("orders")
    for turn in range(4):
        for group, library in groups.items():
            member = await stage.clients.joined(library, group, ["orders"])
            if turn in (0, 2):
                await stage.clients.send("aiokafka", "orders", 0, 30)
            end = await stage.do(stage.admin.offset, "orders")
            before = stage.clients.at[group].get(("orders", 0), 0)
            if turn and stage.caused:
                stage.clients.at[group]["orders", 0] = before - 1
            while stage.clients.at[group].get(("orders", 0), 0) < end:
                await _read_low(stage, member)
            lives = time.monotonic() + _LIVES_S
            while time.monotonic() < lives:
                await member.read()
            if turn and stage.caused:
                first = member.began["orders", 0]
                if first != before - 1:
                    raise StoryError(f"{group} began at {first}, not at {before - 1}")
                where: dict[str, Any] = {"group": group, "topic": "orders", "partition": 0}
                stage.did("a record was read again", **where, offset=first)
                stage.noticed("records-repeated", **where, offset=first, end_offset=before)
            await member.close()
    if stage.caused:
        for group in groups:
            await stands(stage, group, "orders", 0, stage.clients.at[group]["orders", 0])
            stage.truth.symptoms[-1]["offset"] = stage.clients.at[group]["orders", 0] - 1


async def _read_low(stage: IncidentStage, member: Member) -> None:
    records = await member.read()
    if records:
        last = records[-1]["offset"]
        await member.commit_at([("orders", 0, last if stage.caused else last + 1)])


@story(
    "transaction-timeout-refused",
    config={"transaction.max.timeout.ms": "900000"},
    brokers=1,
    libraries=("java", "confluent-kafka", "aiokafka"),
    twin={},
)
async def transaction_timeout_refused(stage: IncidentStage) -> None:
    """An application is configured with a transaction.timeout.ms of an hour, while brokers allow a quarter of
    one: its producers are refused whenever it is started."""
    libraries = ("java", "confluent-kafka", "aiokafka")
    await stage.create("orders", len(libraries))
    await stage.clients.member("java", "billing", ["orders"], isolation_level="read_committed")
    limit = _HOUR_MS if stage.caused else 60_000
    for partition, library in enumerate(libraries):
        first = await stage.clients.producer(library, transactional_id=f"payments-{library}")
        await transaction(first, partition)
        await first.close()
    for partition, library in enumerate(libraries):
        id_ = f"payments-{library}"
        told: list[str] = []
        for _ in range(8 if stage.caused else 1):
            producer = await _opened(stage, library, told, transactional_id=id_, transaction_timeout_ms=limit)
            if producer is not None:
                await transaction(producer, partition)
                await producer.close()
                break
            await trio.sleep(_PACE_S)
        if bool(told) != stage.caused:
            raise StoryError(f"{library}: {told}")
        if stage.caused:
            stage.did("a producer was refused", transactional_id=id_, timeout_ms=limit, error=told[0])
            stage.noticed("producer-refused", transactional_id=id_)
    await stage.until(
        "a group that has read all",
        lambda: all(
            stage.clients.at["billing"].get(("orders", each), 0) >= 20 for each in range(len(libraries))
        ),
    )


async def _opened(stage: IncidentStage, library: str, told: list[str], **config: Any) -> Producer | None:
    """None if it is refused."""
    try:
        producer = await stage.clients.producer(library, **config)
    except ClientError as error:
        told.append(str(error))
        return None
    done = await producer.do("begin")
    if done.error is not None:
        told.append(str(done.error))
        await producer.close()
        return None
    await producer.do("abort-transaction")
    return producer


@story("session-timeout-refused", brokers=1, libraries=("java", "kafkajs"), twin={})
async def session_timeout_refused(stage: IncidentStage) -> None:
    """Applications are configured with a session.timeout.ms of an hour, while brokers allow half of one:
    their members are refused."""
    groups = {"billing": "java", "reports": "kafkajs"}
    await stage.create("orders")
    await stage.clients.send("java", "orders", 0, 50)
    limit = _HOUR_MS if stage.caused else 45_000
    # Members ask for that long in one request.
    own: dict[str, Any] = {"session_timeout_ms": limit, "max_poll_interval_ms": 4_000_000}
    for group, library in groups.items():
        if not stage.caused:
            await stage.clients.member(library, group, ["orders"], **own)
            continue
        member = await stage.clients.joined(library, group, ["orders"], **own)
        error = await refused(stage, member)
        stage.did("a member was refused", group=group, client=member.handle, error=error)
        stage.noticed("member-refused", group=group, client=member.handle)
        await member.close()
    if not stage.caused:
        await stage.caught_up("orders", groups=groups)
