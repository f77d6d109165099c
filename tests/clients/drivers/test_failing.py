"""A driver that hangs, dies or prints rubbish gets a verdict with its last output."""

import re
import sys
from collections.abc import Sequence
from concurrent.futures import Future
from contextlib import AbstractAsyncContextManager

import pytest
import trio

from mockbroker.clients.drivers import Answer, Driver, DriverFailedError, OverdueError, open_driver
from mockbroker.clients.drivers.in_thread import Client, open_client
from mockbroker.clients.drivers.shipped import PROGRAMS

START = """
import os, sys, json, time
sys.path.insert(0, {folder!r})
from lines import Lines
lines = Lines()
"""
HELLO = "lines.hello('toy 1', ['groups'])\nrequest = json.loads(lines.requests.readline())\n"


def toy(program: str) -> AbstractAsyncContextManager[Driver]:
    return open_driver(command(program))


def command(program: str) -> Sequence[str]:
    return (sys.executable, "-c", START.format(folder=str(PROGRAMS / "python")) + program)


@pytest.mark.parametrize(
    ("program", "told"),
    [
        ("print('no room', flush=True); os._exit(3)", "it ended with status 3; its last output:\nno room"),
        ("os.kill(os.getpid(), 11)", "it was ended by SIGSEGV; it printed nothing"),
        ("lines.write(event='ready')", "the first line has to be the event hello"),
        ("os.write(lines._answers.fileno(), b'Traceback\\n')", "not a JSON object: b'Traceback'"),
        ("lines.write(event='hello', protocol=9, client='toy')", "protocol 9: this version of mockbroker"),
    ],
)
@pytest.mark.trio
async def test_before_its_hello(program: str, told: str) -> None:
    with pytest.RaisesGroup(
        pytest.RaisesExc(DriverFailedError, match=re.escape(told)), flatten_subgroups=True
    ):
        async with toy(program):
            pass


@pytest.mark.parametrize(
    ("program", "told"),
    [
        ("print('Killed by me', file=sys.stderr); sys.exit(1)", "status 1; its last output:\nKilled by me"),
        ("lines.write(id=99, ok={})", "nothing has the id of this answer"),
        ("lines.write(id=request['id'])", "an answer has `ok`, an object, or `error`"),
        ("lines.write(id=request['id'], error='bad')", "an error is an object with a name"),
        ("os.write(lines._answers.fileno(), b'[1]\\n')", "not a JSON object: b'[1]'"),
    ],
)
@pytest.mark.trio
async def test_during_a_call(program: str, told: str) -> None:
    async with toy(HELLO + program) as driver:
        with pytest.raises(DriverFailedError, match=re.escape(told)):
            await driver.call("flush", "p", 30_000)
        assert driver.failed
        with pytest.raises(DriverFailedError, match=re.escape(told)):
            await driver.call("flush", "p", 30_000)


@pytest.mark.trio
async def test_a_call_without_a_timeout_does_not_wait_for_ever() -> None:
    async with toy(HELLO + "time.sleep(600)") as driver:
        driver.grace_s, driver.untimed_s = 0.1, 0.3
        with pytest.raises(OverdueError, match="begin has not returned after"):
            await driver.call("begin", "p")


@pytest.mark.trio
async def test_a_verb_without_a_timeout_of_its_own_is_given_time() -> None:
    hello = HELLO.replace("['groups']", "['groups'], untimed=['flush']")
    async with toy(hello + "time.sleep(0.5)\nlines.write(id=request['id'], ok={})") as driver:
        driver.grace_s = 0.0
        assert (await driver.call("flush", "p", 1)).ok == {}


@pytest.mark.parametrize(("program", "spins"), [("time.sleep(600)", False), ("while True: pass", True)])
@pytest.mark.trio
async def test_a_call_that_does_not_return(program: str, spins: bool) -> None:
    async with toy(HELLO + program) as driver:
        driver.grace_s = 1.0
        with pytest.raises(OverdueError, match="flush has not returned after") as raised:
            await driver.call("flush", "p", 500)
        assert raised.value.spins is spins
        assert 'File "<string>"' in raised.value.stacks


@pytest.mark.trio
async def test_output_never_blocks_it() -> None:
    """More than a pipe holds, to both streams; the last of it is kept."""
    program = "print('o' * 1_000_000); print('e' * 1_000_000 + 'last', file=sys.stderr, flush=True)\n"
    async with toy(HELLO + program + "lines.write(id=request['id'], ok={})\ntime.sleep(600)") as driver:
        answer = await driver.call("flush", "p", 60_000)
        assert answer.ok == {}
        with trio.fail_after(30):
            while not driver.output.endswith("last\n"):
                await trio.sleep(0.01)
        assert len(driver.output) < 200_000


def test_no_call_waits_for_a_thread_that_has_ended() -> None:
    """Neither one that is under way then, nor those that come after it."""
    client: list[Client] = []
    calls: list[Future[Answer]] = []

    async def fail() -> None:
        calls.append(client[0].send("flush", "p"))
        raise ValueError("broken")

    def end() -> None:
        with open_client(command(HELLO + "time.sleep(600)")) as opened:
            client.append(opened)
            calls.append(opened.send("flush", "p"))
            opened.begin(fail)
            calls[0].exception(60)

    with pytest.raises(ValueError, match="broken"):
        end()
    for each in calls:
        with pytest.raises(DriverFailedError, match="was ended"):
            each.result(60)
    assert len(calls) == 2
