"""Drivers that play share consumers do what docs/drivers.md says of them."""

import base64
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial
from types import MappingProxyType
from typing import Any

import pytest
import trio

from mockbroker.clients.drivers import SHIPPED, Answer, Driver, command_for, open_driver
from mockbroker.clients.hunt.manners import SHARE_GROUPS
from mockbroker.server.serving import ServedCluster, serve

from .test_shipped import LIMIT_MS, marks_for, ok

JAVA = [pytest.mark.needs("java", "javac", "mvn"), pytest.mark.timeout(900)]
SAID = ("accept", "release", "reject", "accept")


async def _polled(driver: Driver, count: int) -> list[Mapping[str, Any]]:
    found: list[Mapping[str, Any]] = []
    with trio.fail_after(LIMIT_MS / 1000):
        while len(found) < count:
            found += ok(await driver.call("poll", "s", 300))["records"]
    return found


async def _said(driver: Driver, offset: int, what: str) -> Answer:
    fields: dict[str, Any] = {"topic": "t", "partition": 0, "offset": offset, "as": what}
    return await driver.call("acknowledge", "s", **fields)


@pytest.mark.parametrize(
    ("client", "release"),
    [
        ("confluent-kafka", None),
        *(
            pytest.param(name, None, marks=marks_for(SHIPPED[name].needs))
            for name in ("java", "franz-go", "krafka")
        ),
        pytest.param("java", "4.2.0", marks=[*JAVA, pytest.mark.long]),
    ],
)
@pytest.mark.trio
async def test_what_is_said_of_records_is_committed(client: str, release: str | None) -> None:
    # Or franz-go has acquired the record again.
    limited = {"share.acquire.mode": "record_limit"}
    async with _reading(client, *SAID, release=release, config=limited) as (driver, cluster, told):
        assert "share" in driver.hello.capabilities
        records = await _polled(driver, len(SAID))
        assert [base64.b64decode(each["value"]).decode() for each in records] == [*SAID]
        assert {each["delivery_count"] for each in records} == {1}
        for offset, what in enumerate(SAID):
            ok(await _said(driver, offset, what))
        results = ok(await driver.call("commit", "s", LIMIT_MS))["results"]
        # krafka may have told brokers before.
        assert results == [["t", 0, None]] or (client, results) == ("krafka", [])
        (again,) = await _polled(driver, 1)
        assert (again["offset"], again["delivery_count"]) == (1, 2)
        # Where a fetch is under way, the record is there again before it is refused: in Java's client after a
        # renewal, in franz-go's until one.
        if client == "franz-go":
            await _renewed(driver)
        in_hand = await _refused(driver, cluster, told)
        if client != "franz-go":
            _ = in_hand or await _polled(driver, 1)
            await _renewed(driver)
        assert _told(each for each in told if "error" not in each) == set(range(len(SAID)))
        refused = [each for each in told if "error" in each]
        assert _told(refused) == {1}
        assert refused[0]["error"]["code"] == 121  # INVALID_RECORD_STATE


@asynccontextmanager
async def _reading(
    client: str, *values: str, release: str | None = None, config: Mapping[str, str] = MappingProxyType({})
) -> AsyncIterator[tuple[Driver, ServedCluster, list[Mapping[str, Any]]]]:
    """A share consumer of a topic with these values, and what it is told of acknowledgements."""
    async with (
        serve(brokers=1, topics={"t": 1}, config=SHARE_GROUPS) as cluster,
        open_driver(command_for(client, release)) as driver,
    ):
        cluster.configure_group("g", {"share.auto.offset.reset": "earliest"})
        for value in values:
            await cluster.produce_async("t", value)
        told: list[Mapping[str, Any]] = []
        driver.listen("s", lambda _, line: told.append(line))
        whole = {
            "bootstrap.servers": cluster.bootstrap_servers,
            "client.id": "s",
            "group.id": "g",
            "share.acknowledgement.mode": "explicit",
            **config,
        }
        ok(await driver.call("open", "s", kind="share-consumer", config=whole))
        ok(await driver.call("subscribe", "s", topics=["t"]))
        yield driver, cluster, told
        ok(await driver.call("close", "s", LIMIT_MS))


@pytest.mark.parametrize(
    "client",
    [
        "confluent-kafka",
        # franz-go reads on no more after a refusal; krafka may acknowledge in a ShareFetch.
        pytest.param("java", marks=[*marks_for(SHIPPED["java"].needs), pytest.mark.long]),
    ],
)
@pytest.mark.trio
async def test_a_session_goes_on_after_an_acknowledgement_that_a_fault_refused(client: str) -> None:
    async with _reading(client, "refused", "accepted") as (driver, cluster, told):
        await _polled(driver, 2)
        fault = cluster.faults.add("error", api="ShareAcknowledge", error="INVALID_RECORD_STATE", times=1)
        for offset in (0, 1):
            ok(await _said(driver, offset, "accept"))
            ok(await driver.call("commit", "s", LIMIT_MS))
        assert fault.hits == 1
        with trio.fail_after(LIMIT_MS / 1000):
            while _told(told) != {0, 1}:
                ok(await driver.call("poll", "s", 300))
        assert [(_told([each]), each["error"]["code"]) for each in told if "error" in each] == [({0}, 121)]


@pytest.mark.parametrize("client", [pytest.param("krafka", marks=marks_for(SHIPPED["krafka"].needs))])
@pytest.mark.trio
async def test_a_record_is_not_returned_again_if_its_renewal_was_refused(client: str) -> None:
    async with _reading(client, "renewed") as (driver, cluster, _):
        await _polled(driver, 1)
        refuse = partial(cluster.faults.add, "error", topic="t", error="INVALID_RECORD_STATE", times=1)
        refusal = refuse(api=["ShareAcknowledge", "ShareFetch"])
        ok(await _said(driver, 0, "renew"))
        ok(await driver.call("commit", "s", LIMIT_MS))
        (again,) = await _polled(driver, 1)
        assert refusal.hits == 1
        # It was released, and acquired anew.
        assert (again["offset"], again["delivery_count"]) == (0, 2)


def _told(lines: Iterable[Mapping[str, Any]]) -> set[int]:
    """The offsets that events tell of. A client may tell them in parts."""
    return {offset for line in lines for _, _, offsets in line["offsets"] for offset in offsets}


async def _renewed(driver: Driver) -> None:
    """A record in hand is renewed, if the client can."""
    answer = await _said(driver, 1, "renew")
    if "renew" in driver.hello.capabilities:
        ok(answer)
        (again,) = await _polled(driver, 1)
        assert again["offset"] == 1
    else:
        assert answer.error is not None
        assert answer.error.name == "unsupported"


async def _refused(
    driver: Driver, cluster: Any, told: Sequence[Mapping[str, Any]]
) -> Sequence[Mapping[str, Any]]:
    """Accepts a record whose lock has ended, and waits for the refusal. What was delivered meanwhile."""
    cluster.expire_locks("g")
    ok(await _said(driver, 1, "accept"))
    ok(await driver.call("commit-async", "s"))
    found: Sequence[Mapping[str, Any]] = []
    with trio.fail_after(LIMIT_MS / 1000):
        while not any("error" in each for each in told):
            if found:
                ok(await driver.call("commit", "s", LIMIT_MS))
            else:
                found = ok(await driver.call("poll", "s", 500))["records"]
    return found
