"""Each driver that comes with mockbroker does what it says it can do."""

import base64
import random
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import pytest
import trio

from mockbroker.clients.drivers import SHIPPED, Answer, Driver, command_for, open_driver
from mockbroker.clients.drivers.lines import binary, encoded
from mockbroker.clients.hunt.users import read_headers
from mockbroker.server.serving import serve

from ...needs import ADDONS, BUILT_FOR_MINUTES
from ...turns import in_turn

LIMIT_MS = 30_000
QUICK = {
    "retry.backoff.ms": 50,
    "heartbeat.interval.ms": 200,
    "session.timeout.ms": 10_000,
    "fetch.max.wait.ms": 200,
}
CAN_NOT_SEEK = {"kafka-go", "platformatic-kafka", "platformatic-kafka-2"}
TELLS_NO_ASSIGNMENT = {"kafka-go"}
EMPTY_IS_NULL = {"kafka-go"}
"""Whose readers take the one for the other (found/kafka-go-empty-is-null)."""
WRITES_NULL = {"confluent-kafka-javascript"}
"""In place of what is empty (found/confluent-kafka-javascript-empty-is-null)."""
COMMITS_LATER = {"confluent-kafka-javascript"}
"""Than it says (found/confluent-kafka-javascript-commit-not-awaited)."""


def marks_for(needs: Sequence[str], client: str = "") -> list[pytest.MarkDecorator]:
    # What is built for the first time may take minutes.
    marks = [pytest.mark.needs(*needs), pytest.mark.timeout(900)] if needs else []
    if "cargo" in needs or client in ADDONS:
        marks.append(BUILT_FOR_MINUTES)
    return marks


clients = pytest.mark.parametrize(
    "client",
    [pytest.param(name, marks=marks_for(each.needs, name)) for name, each in in_turn([*SHIPPED.items()], 3)],
)


def ok(answer: Answer) -> Mapping[str, Any]:
    assert answer.error is None, answer.error
    assert answer.ok is not None
    return answer.ok


async def produce(driver: Driver, handle: str, topic: str, partition: int, value: bytes) -> Mapping[str, Any]:
    sent = await driver.send("produce", handle, topic=topic, partition=partition, key=None, value=value)
    ok(await driver.call("flush", handle, LIMIT_MS))
    return ok(await sent.wait())


async def read(driver: Driver, handle: str, count: int, errors: list[str]) -> list[bytes]:
    """Polls until so many records have been read."""
    values: list[bytes] = []
    with trio.fail_after(LIMIT_MS / 1000):
        while len(values) < count:
            answer = await driver.call("poll", handle, 300)
            if answer.error is not None:
                errors.append(answer.error.name)
                continue
            polled = ok(answer)
            errors += [each["name"] for each in polled.get("errors", ())]
            values += [base64.b64decode(each["value"]) for each in polled["records"]]
    return values


@clients
@pytest.mark.trio
async def test_a_walk_through_all_verbs(client: str) -> None:
    await walk(client, command_for(client))


HEADERS: Sequence[tuple[str, bytes | None]] = (("a", b"1"), ("a", b""), ("", b"\xff\x00"), ("\u00fc", b"2"))


@clients
@pytest.mark.trio
async def test_records_come_back_as_they_were_sent(client: str) -> None:
    """Large and empty ones, with each codec that it says it has, and with headers if it has these."""
    async with serve(brokers=1, topics={"t": 1}) as cluster, open_driver(command_for(client)) as driver:
        can = driver.hello.capabilities
        headers = [*HEADERS, ("b", None)] if "null-headers" in can else HEADERS
        sent: list[tuple[Any, ...]] = []
        config = {"bootstrap.servers": cluster.bootstrap_servers, **QUICK, "client.id": "x", "acks": "all"}
        for codec in ["none", *_values(can, "compression.type")]:
            named = {"compression.type": codec} if codec != "none" else {}
            ok(await driver.call("open", codec, kind="producer", config={**config, **named}))
            for key, value, given in ((b"", b"x" * 100_000, ()), (b"k", None, ()), (None, b"", headers)):
                content: dict[str, Any] = {"topic": "t", "partition": 0, "key": key, "value": value}
                if given:
                    content["headers"] = [[name, encoded(each)] for name, each in given]
                if not given or "headers" in can:
                    told = await driver.send("produce", codec, **content)
                    ok(await driver.call("flush", codec, LIMIT_MS))
                    ok(await told.wait())
                    sent.append((key, value, tuple(given)))
            ok(await driver.call("close", codec, LIMIT_MS))
        nulls = [(key or None, value or None, given) for key, value, given in sent]
        written = [(key, value, tuple((name, each or None) for name, each in h)) for key, value, h in nulls]
        log = written if client in WRITES_NULL else sent
        assert [(each.key, each.value, each.headers) for each in cluster.records("t")] == log
        codecs = {each.compression for each in cluster.records("t") if len(each.value or b"") > 1}
        assert codecs >= {*_values(can, "compression.type")}
        found = await _read_all(driver, config, len(sent))
        assert found == (nulls if client in EMPTY_IS_NULL | WRITES_NULL else sent)


def _values(capabilities: Collection[str], setting: str) -> list[str]:
    return [each.removeprefix(f"{setting}=") for each in capabilities if each.startswith(f"{setting}=")]


async def _read_all(driver: Driver, config: Mapping[str, Any], count: int) -> list[tuple[Any, ...]]:
    reads = {**config, "group.id": "g", "auto.offset.reset": "earliest", "enable.auto.commit": False}
    ok(await driver.call("open", "c", kind="consumer", config=reads))
    if "groups" in driver.hello.capabilities:
        ok(await driver.call("subscribe", "c", topics=["t"]))
    else:
        ok(await driver.call("assign", "c", partitions=[["t", 0, 0]]))
    found: list[Any] = []
    with trio.fail_after(LIMIT_MS / 1000):
        while len(found) < count:
            found += (await driver.call("poll", "c", 300)).ok["records"]  # type: ignore[index]
    ok(await driver.call("close", "c", LIMIT_MS))
    return [(binary(each["key"]), binary(each["value"]), read_headers(each)) for each in found]


ADMIN = ("delete-topic", "alter-config", "describe-config", "delete-records", "list-offsets")


@clients
@pytest.mark.trio
async def test_what_an_admin_does(client: str) -> None:
    async with serve(brokers=2, topics={"t": 1}) as cluster, open_driver(command_for(client)) as driver:
        for value in (b"first", b"second"):
            await cluster.produce_async("t", value, partition=0)
        if not {*ADMIN} & driver.hello.capabilities:
            return
        config = {"bootstrap.servers": cluster.bootstrap_servers, "client.id": "a"}
        ok(await driver.call("open", "a", kind="admin", config=config))
        setting, at = {"topic": "t", "name": "retention.ms"}, {"topic": "t", "partition": 0}

        async def does(verb: str, **fields: Any) -> Mapping[str, Any] | None:
            told = await driver.call(verb, "a", LIMIT_MS, **fields)
            return ok(told) if verb in driver.hello.capabilities else None

        await does("alter-config", **setting, to="3600000")
        changed = {"retention.ms": "3600000"} if "alter-config" in driver.hello.capabilities else {}
        assert cluster.topic("t").configs == changed
        assert await does("describe-config", **setting) in ({"value": "3600000"}, None)
        assert await does("delete-records", **at, offset=1) in ({"offset": 1}, {})
        assert await does("list-offsets", **at, at="earliest") in ({"offset": 1}, None)
        assert await does("list-offsets", **at, at="latest") in ({"offset": 2}, None)
        await does("delete-topic", topic="t")
        assert "t" not in cluster.topics()
        ok(await driver.call("create-topic", "a", LIMIT_MS, topic="u", partitions=3, replication_factor=2))
        assert [len(each.replicas) for each in cluster.topic("u").partitions] == [2, 2, 2]
        ok(await driver.call("close", "a", LIMIT_MS))


@pytest.mark.needs(*SHIPPED["franz-go"].needs)
@pytest.mark.trio
async def test_franz_go_says_why_a_topic_has_no_offsets() -> None:
    async with serve(brokers=1, topics={"t": 1}) as cluster, open_driver(command_for("franz-go")) as driver:
        config = {"bootstrap.servers": cluster.bootstrap_servers}
        ok(await driver.call("open", "a", kind="admin", config=config))
        cluster.faults.add("error", api="Metadata", error="UNKNOWN_TOPIC_OR_PARTITION", times=1)
        told = await driver.call("list-offsets", "a", LIMIT_MS, topic="t", partition=0, at="latest")
        assert told.error is not None
        assert told.error.name == "UNKNOWN_TOPIC_OR_PARTITION"


@clients
@pytest.mark.trio
async def test_acks_of_the_leader_alone(client: str) -> None:
    """Some libraries take it as a number."""
    async with serve(brokers=1, topics={"t": 1}) as cluster, open_driver(command_for(client)) as driver:
        servers = {"bootstrap.servers": cluster.bootstrap_servers, **QUICK}
        config = {**servers, "client.id": "p", "acks": "1", "enable.idempotence": False}
        ok(await driver.call("open", "p", kind="producer", config=config))
        assert await produce(driver, "p", "t", 0, b"first") == {"partition": 0, "offset": 0}
        ok(await driver.call("close", "p", LIMIT_MS))


@pytest.mark.needs("java", "javac", "mvn")
@pytest.mark.parametrize("release", in_turn(["2.1.0", "2.8.2", "3.9.2"], 3))
@pytest.mark.trio
async def test_older_releases_of_java(release: str) -> None:
    await walk("java", command_for("java", release))


async def walk(client: str, command: Sequence[str]) -> None:
    """Tries all verbs that the driver says it can do."""
    async with serve(brokers=3, topics={"t": 2, "out": 1}) as cluster, open_driver(command) as driver:
        servers = {"bootstrap.servers": cluster.bootstrap_servers, **QUICK}
        ok(
            await driver.call(
                "open", "p", kind="producer", config={**servers, "client.id": "p", "acks": "all"}
            )
        )
        assert await produce(driver, "p", "t", 0, b"first") == {"partition": 0, "offset": 0}
        assert await produce(driver, "p", "t", 1, b"second") == {"partition": 1, "offset": 0}
        config = {
            **servers,
            "client.id": "c",
            "group.id": "g",
            "auto.offset.reset": "earliest",
            "enable.auto.commit": False,
        }
        ok(await driver.call("open", "c", kind="consumer", config=config))
        if "groups" in driver.hello.capabilities:
            heard: list[tuple[str, Any]] = []
            driver.listen("c", lambda event, line: heard.append((event, line["partitions"])))
            ok(await driver.call("subscribe", "c", topics=["t"]))
        else:
            ok(await driver.call("assign", "c", partitions=[["t", 0, 0], ["t", 1, 0]]))
        assert sorted(await read(driver, "c", 2, [])) == [b"first", b"second"]
        if "groups" in driver.hello.capabilities:
            both = [["t", 0], ["t", 1]]
            assigned = [sorted(given) for event, given in heard if event == "assigned" and given]
            assert assigned == ([] if client in TELLS_NO_ASSIGNMENT else [both])
            ok(await driver.call("commit", "c", LIMIT_MS))
            found = ok(await driver.call("committed", "c", LIMIT_MS, partitions=[["t", 0], ["t", 1]]))
            assert sorted(found["offsets"]) == [["t", 0, 1], ["t", 1, 1]]
            assert {at: each.offset for at, each in cluster.committed("g").items()} == {
                ("t", 0): 1,
                ("t", 1): 1,
            }
        if "seek" in driver.hello.capabilities:
            for to in ("end", "beginning"):
                ok(await driver.call("seek", "c", topic="t", partition=0, to=to))
            assert await read(driver, "c", 1, []) == [b"first"]
        if "offsets-for-times" in driver.hello.capabilities:
            times = [["t", 0, 0], ["t", 1, 2**41]]
            found = ok(await driver.call("offsets-for-times", "c", LIMIT_MS, partitions=times))
            assert sorted(found["offsets"]) == [["t", 0, 0], ["t", 1, None]]
        sought = await driver.call("seek", "c", topic="t", partition=0, offset=0)
        if client in CAN_NOT_SEEK:
            assert sought.error is not None
        else:
            ok(sought)
            assert await read(driver, "c", 1, []) == [b"first"]
        if "transactions" in driver.hello.capabilities:
            await transact(driver, servers)
            values = [each.value for each in cluster.records("out", isolation_level="read_committed")]
            assert values == [b"committed"]
        ok(await driver.call("close", "c", LIMIT_MS))
        ok(await driver.call("close", "p", LIMIT_MS))


async def transact(driver: Driver, servers: Mapping[str, Any]) -> None:
    config = {**servers, "client.id": "x", "transactional.id": "x"}
    ok(await driver.call("open", "x", kind="producer", config=config))
    for value, verb in ((b"aborted", "abort-transaction"), (b"committed", "commit-transaction")):
        ok(await driver.call("begin", "x"))
        await produce(driver, "x", "out", 0, value)
        offsets = [["t", 0, 1]]
        sent = await driver.call("send-offsets", "x", LIMIT_MS, offsets=offsets, consumer="c")
        if "send-offsets" in driver.hello.capabilities:
            ok(sent)
        else:
            assert sent.error is not None
            assert sent.error.name == "unsupported"
        ok(await driver.call(verb, "x", LIMIT_MS))
    ok(await driver.call("close", "x", LIMIT_MS))


@clients
@pytest.mark.trio
async def test_calls_at_once(client: str) -> None:
    """Of two that begin a transaction one can; of two that commit another partition, both."""
    async with (
        serve(brokers=1, topics={"t": 2}, trace=True) as cluster,
        open_driver(command_for(client)) as driver,
    ):
        can, servers = driver.hello.capabilities, {"bootstrap.servers": cluster.bootstrap_servers, **QUICK}
        if "at-once" in can:
            config = {**servers, "client.id": "x", "transactional.id": "x"}
            ok(await driver.call("open", "x", kind="producer", config=config))
            begun = [await driver.send("begin", "x", at_once=True) for _ in range(2)]
            assert [(await each.wait()).error is None for each in begun].count(True) == 1
        if "create-partitions" in can:
            ok(await driver.call("open", "a", kind="admin", config={**servers, "client.id": "a"}))
            ok(await driver.call("create-partitions", "a", LIMIT_MS, topic="t", partitions=3))
            assert len(cluster.topic("t").partitions) == 3
        if "commit-at-once" in can:
            config = {
                **servers,
                "group.id": "g",
                "auto.offset.reset": "earliest",
                "enable.auto.commit": False,
            }
            ok(await driver.call("open", "c", kind="consumer", config=config))
            ok(await driver.call("subscribe", "c", topics=["t"]))
            await cluster.produce_async("t", "first", partition=0)
            assert await read(driver, "c", 1, []) == [b"first"]
            commits = [
                await driver.send("commit", "c", LIMIT_MS, at_once=True, offsets=[["t", partition, 1]])
                for partition in range(2)
            ]
            for each in commits:
                ok(await each.wait())
            if client in COMMITS_LATER:
                await cluster.trace.wait_async("answer", count=2, api="OffsetCommit")
            assert {at[1]: each.offset for at, each in cluster.committed("g").items()} == {0: 1, 1: 1}


@clients
@pytest.mark.trio
async def test_errors_have_names_and_codes(client: str) -> None:
    limits = {"message.max.bytes": "1000"}
    async with (
        serve(brokers=1, topics={"t": 1}, config=limits) as cluster,
        open_driver(command_for(client)) as driver,
    ):
        config = {"bootstrap.servers": cluster.bootstrap_servers, "acks": "all"}
        ok(await driver.call("open", "p", kind="producer", config=config))
        incompressible = random.Random(1).randbytes(5_000)
        sent = await driver.send("produce", "p", topic="t", partition=0, key=None, value=incompressible)
        await driver.call("flush", "p", LIMIT_MS)
        with trio.fail_after(LIMIT_MS / 1000):
            answer = await sent.wait()
        assert answer.error is not None
        assert answer.error.name
        assert answer.error.code in (10, None)
        unknown = await driver.call("dance", "p")
        assert unknown.error is not None
        assert unknown.error.name == "unsupported"


@clients
@pytest.mark.trio
async def test_a_deserializer_that_raises(client: str) -> None:
    async with serve(brokers=1, topics={"t": 1}) as cluster, open_driver(command_for(client)) as driver:
        if "deserializer" not in driver.hello.capabilities:
            return
        await cluster.produce_async("t", "bad", partition=0)
        config = {"bootstrap.servers": cluster.bootstrap_servers, "auto.offset.reset": "earliest"}
        ok(await driver.call("open", "c", kind="consumer", config=config, fails_on="bad"))
        assigned = await driver.call("assign", "c", partitions=[["t", 0, 0]])
        if assigned.error is not None and assigned.error.name == "unsupported":
            assigned = await driver.call("subscribe", "c", topics=["t"])
        ok(assigned)
        errors: list[str] = []
        with trio.fail_after(LIMIT_MS / 1000):
            while not errors:
                answer = await driver.call("poll", "c", 300)
                errors += [answer.error.name] if answer.error else []
                errors += [each["name"] for each in (answer.ok or {}).get("errors", ())]
