"""Drivers that play share consumers do what docs/drivers.md says of them."""

import base64
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
import trio

from mockbroker.clients.drivers import Answer, Driver, command_for, open_driver
from mockbroker.clients.hunt.manners import SHARE_GROUPS
from mockbroker.server.serving import serve

from .test_shipped import LIMIT_MS, ok

JAVA = [pytest.mark.needs("java", "javac", "mvn"), pytest.mark.timeout(900)]
GO = [pytest.mark.needs("go"), pytest.mark.timeout(900)]
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
        pytest.param("franz-go", None, marks=GO),
        pytest.param("java", None, marks=JAVA),
        pytest.param("java", "4.2.0", marks=[*JAVA, pytest.mark.long]),
    ],
)
@pytest.mark.trio
async def test_what_is_said_of_records_is_committed(client: str, release: str | None) -> None:
    command: Sequence[str] = command_for(client, release)
    async with (
        serve(brokers=1, topics={"t": 1}, config=SHARE_GROUPS) as cluster,
        open_driver(command) as driver,
    ):
        assert "share" in driver.hello.capabilities
        cluster.configure_group("g", {"share.auto.offset.reset": "earliest"})
        for value in SAID:
            await cluster.produce_async("t", value)
        told: list[Mapping[str, Any]] = []
        driver.listen("s", lambda _, line: told.append(line))
        config = {
            "bootstrap.servers": cluster.bootstrap_servers,
            "client.id": "s",
            "group.id": "g",
            "share.acknowledgement.mode": "explicit",
            "share.acquire.mode": "record_limit",  # or franz-go has acquired the record again
        }
        ok(await driver.call("open", "s", kind="share-consumer", config=config))
        ok(await driver.call("subscribe", "s", topics=["t"]))
        records = await _polled(driver, len(SAID))
        assert [base64.b64decode(each["value"]).decode() for each in records] == [*SAID]
        assert {each["delivery_count"] for each in records} == {1}
        for offset, what in enumerate(SAID):
            ok(await _said(driver, offset, what))
        assert ok(await driver.call("commit", "s", LIMIT_MS)) == {"results": [["t", 0, None]]}
        (again,) = await _polled(driver, 1)
        assert (again["offset"], again["delivery_count"]) == (1, 2)
        if "renew" not in driver.hello.capabilities:
            refused = await _said(driver, 1, "renew")
            assert refused.error is not None
            assert refused.error.name == "unsupported"
        await _refused(driver, cluster)
        offsets = [[*at, sorted(some)] for each in told for *at, some in each["offsets"]]
        assert offsets == [["t", 0, [0, 1, 2, 3]], ["t", 0, [1]]]
        assert "error" not in told[0]
        assert told[1]["error"]["code"] == 121  # INVALID_RECORD_STATE
        ok(await driver.call("close", "s", LIMIT_MS))


async def _refused(driver: Driver, cluster: Any) -> None:
    """Accepts a record whose lock has ended, without waiting for what becomes of that."""
    cluster.expire_locks("g")
    ok(await _said(driver, 1, "accept"))
    ok(await driver.call("commit-async", "s"))
    ok(await driver.call("poll", "s", 500))
