"""A driver's hello lists the settings that it takes. Others are left out, and whoever plays it says so."""

import re
from typing import Any, Final

import pytest
from typer.testing import CliRunner

from mockbroker.cli.app import app
from mockbroker.clients.drivers import SHIPPED, Driver, command_for, open_driver

from .test_failing import toy

CONFIG: Final = {"bootstrap.servers": "localhost:1", "group.id": "g", "no.such.setting": "1"}
ECHO: Final = """
request = json.loads(lines.requests.readline())
lines.write(id=request["id"], ok={"config": request["config"]})
lines.requests.read()
"""
PROTOCOL_1: Final = "lines.write(event='hello', protocol=1, client='toy', capabilities=[])"
PROTOCOL_2: Final = "lines.hello('toy', [], {'consumer': ['bootstrap.servers', 'group.id']})"


async def given(driver: Driver, kind: str = "consumer") -> Any:
    answer = await driver.call("open", "c", kind=kind, config=CONFIG)
    assert answer.ok is not None
    return answer.ok["config"]


@pytest.mark.trio
async def test_what_is_not_listed_is_left_out() -> None:
    async with toy(PROTOCOL_2 + ECHO) as driver:
        assert await given(driver) == {"bootstrap.servers": "localhost:1", "group.id": "g"}
        (told,) = driver.left_out.lines("toy")
        assert told == "toy: the driver takes no no.such.setting for a consumer: left out"


@pytest.mark.trio
async def test_protocol_1_is_still_read() -> None:
    async with toy(PROTOCOL_1 + ECHO) as driver:
        assert await given(driver) == CONFIG
        assert not driver.left_out.lines("toy")


@pytest.mark.trio
async def test_protocol_2_lists_settings() -> None:
    with pytest.RaisesGroup(pytest.RaisesExc(RuntimeError, match="settings"), flatten_subgroups=True):
        async with toy("lines.write(event='hello', protocol=2, client='toy')"):
            pass


@pytest.mark.parametrize("name", [name for name, each in SHIPPED.items() if not each.needs])
@pytest.mark.trio
async def test_shipped_drivers_list_what_they_take(name: str) -> None:
    async with open_driver(command_for(name)) as driver:
        settings = driver.hello.settings
        assert settings is not None
        assert {"acks", "bootstrap.servers", "transactional.id"} <= settings["producer"]
        assert {"bootstrap.servers", "group.id", "max.poll.records"} <= settings["consumer"]
        taken = driver.hello.taken("consumer", {**CONFIG, "group.remote.assignor": "uniform"})
        assert ("group.remote.assignor" in taken) == (name == "confluent-kafka")
        assert "no.such.setting" not in taken


@pytest.mark.parametrize(
    "command", ["hunt --seeds 1 --shrink 0", "check --only retention --kafka 4.4 --fixed yes --no-behaviours"]
)
def test_hunt_and_check_say_what_they_leave_out(command: str) -> None:
    done = CliRunner().invoke(app, [*command.split(), "--client", "aiokafka", "--lanes", "1"])
    assert re.search(r"aiokafka \S+: the driver takes no .*: left out", done.output)
