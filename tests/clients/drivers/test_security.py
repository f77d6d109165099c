"""Each driver that comes with mockbroker reaches a cluster with TLS and a login, by the same settings."""

from typing import Final

import pytest

from mockbroker import Security
from mockbroker.clients.drivers import command_for, open_driver
from mockbroker.control.clients import settings as clients_settings
from mockbroker.server.serving import ServedCluster, serve

from .test_shipped import LIMIT_MS, QUICK, clients, ok, produce, read

HAVE_NO_TOKENS: Final = {"kafka-go", "krafka", "rskafka"}
SECURITY: Final = Security(
    tls=True, sasl=["scram-sha-512", "oauthbearer"], users={"alice": "secret", "bob": 'the "other" \\ one'}
)


@clients
@pytest.mark.trio
async def test_a_record_by_tls_and_a_login(client: str) -> None:
    async with (
        serve(brokers=1, topics={"t": 1}, security=SECURITY, trace=True) as cluster,
        open_driver(command_for(client)) as driver,
    ):
        settings = {**cluster.client_settings("confluent-kafka", user="bob"), **QUICK}
        ok(await driver.call("open", "p", LIMIT_MS, kind="producer", config=settings))
        await produce(driver, "p", "t", 0, b"order")
        config = {**settings, "group.id": "g", "auto.offset.reset": "earliest"}
        ok(await driver.call("open", "c", LIMIT_MS, kind="consumer", config=config))
        if "groups" in driver.hello.capabilities:
            ok(await driver.call("subscribe", "c", topics=["t"]))
        else:
            ok(await driver.call("assign", "c", partitions=[["t", 0, 0]]))
        assert await read(driver, "c", 1, []) == [b"order"]
        assert _logins(cluster) == {("SASL_SSL", "User:bob", "")}
        tokens = cluster.client_settings("confluent-kafka", user="carol", mechanism="oauthbearer")
        has_tokens = "sasl.oauthbearer.config" in (driver.hello.settings or {})["producer"]
        assert has_tokens == (client not in HAVE_NO_TOKENS)
        if has_tokens:
            ok(await driver.call("open", "o", LIMIT_MS, kind="producer", config={**tokens, **QUICK}))
            await produce(driver, "o", "t", 0, b"order")
            assert _logins(cluster) == {("SASL_SSL", f"User:{name}", "") for name in ("bob", "carol")}
            ok(await driver.call("close", "o", LIMIT_MS))
        for handle in ("c", "p"):
            ok(await driver.call("close", handle, LIMIT_MS))


@pytest.mark.parametrize("client", ["confluent-kafka", "java"])
@pytest.mark.trio
async def test_a_client_that_asks_for_tokens(client: str) -> None:
    security = Security(sasl="oauthbearer", signed_tokens=True)
    async with (
        serve(brokers=1, topics={"t": 1}, security=security, control=0, trace=True) as cluster,
        open_driver(command_for(client)) as driver,
    ):
        assert "oidc" in driver.hello.capabilities
        settings = {**cluster.do(clients_settings, "confluent-kafka", "carol"), **QUICK}
        assert settings["sasl.oauthbearer.method"] == "oidc"
        ok(await driver.call("open", "p", LIMIT_MS, kind="producer", config=settings))
        await produce(driver, "p", "t", 0, b"order")
        assert _logins(cluster) == {("SASL_PLAINTEXT", "User:carol", "")}
        ok(await driver.call("close", "p", LIMIT_MS))


def _logins(cluster: ServedCluster) -> set[tuple[str, str, str]]:
    rows = [event.row() for event in cluster.trace.events("login")]
    return {(each["listener"], each["principal"], each["failure"]) for each in rows}
