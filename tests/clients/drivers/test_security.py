"""Each driver that comes with mockbroker reaches a cluster with TLS and a login, by the same settings."""

from typing import Final

import pytest

from mockbroker import Security
from mockbroker.clients.drivers import command_for, open_driver
from mockbroker.server.serving import serve

from .test_shipped import LIMIT_MS, QUICK, clients, ok, produce, read

SECURITY: Final = Security(
    tls=True, sasl="scram-sha-512", users={"alice": "secret", "bob": 'the "other" \\ one'}
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
        ok(await driver.call("subscribe", "c", topics=["t"]))
        assert await read(driver, "c", 1, []) == [b"order"]
        logins = [event.row() for event in cluster.trace.events("login")]
        assert {(each["listener"], each["principal"], each["failure"]) for each in logins} == {
            ("SASL_SSL", "User:bob", "")
        }
        for handle in ("c", "p"):
            ok(await driver.call("close", handle, LIMIT_MS))
