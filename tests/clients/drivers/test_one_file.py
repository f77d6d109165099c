"""A driver is one file: it is found by its first line, started, and listed in the help and the reference."""

import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner

from mockbroker.cli.app import app
from mockbroker.clients.drivers import SHIPPED, open_driver
from mockbroker.clients.drivers.shipped import PROGRAMS, found
from mockbroker.server.serving import serve

MINIMAL = """# Driver: newest, of the package newest
import json, socket
from lines import Lines

lines = Lines()
lines.hello("newest 1", [], {"producer": ["bootstrap.servers"]})
for line in lines.requests:
    request = json.loads(line)
    host, port = request["config"]["bootstrap.servers"].rsplit(":", 1)
    socket.create_connection((host, int(port))).close()
    lines.write(id=request["id"], ok={"connected": True})
"""


@pytest.fixture
def programs(tmp_path: Path) -> Path:
    python = tmp_path / "python"
    python.mkdir()
    shutil.copy(PROGRAMS / "python/lines.py", python)
    (python / "newest.py").write_text(MINIMAL)
    return tmp_path


@pytest.mark.trio
async def test_it_is_found_and_served(programs: Path) -> None:
    drivers = found(programs)
    assert list(drivers) == ["newest"]
    async with serve(brokers=1) as cluster, open_driver(drivers["newest"].command(None)) as driver:
        config = {"bootstrap.servers": cluster.bootstrap_servers, "acks": "all"}
        answer = await driver.call("open", "p", kind="producer", config=config)
        assert answer.ok == {"connected": True}
        assert driver.left_out.lines("newest")


@pytest.mark.parametrize("command", ["hunt", "check"])
def test_it_is_listed_in_the_help(programs: Path, monkeypatch: pytest.MonkeyPatch, command: str) -> None:
    """The reference has the help of all commands."""
    for name, driver in found(programs).items():
        monkeypatch.setitem(SHIPPED, name, driver)
    shown = CliRunner(env={"COLUMNS": "100", "TERM": "dumb", "NO_COLOR": "1"}).invoke(
        app, [command, "--help"]
    )
    assert "newest" in shown.output
    assert "aiokafka" in shown.output
