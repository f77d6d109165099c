"""What a driver writes is heard in the order in which it was written."""

from collections.abc import Mapping
from typing import Any

import pytest
import trio
import trio.testing

from mockbroker.clients.drivers import OverdueError

from .test_failing import HELLO, toy

AT_ONCE = """
answer = json.dumps({"id": request["id"], "ok": {}})
event = json.dumps({"event": "revoked", "handle": "c", "partitions": []})
os.write(lines._answers.fileno(), f"{answer}\\n{event}\\n".encode())
time.sleep(600)
"""


@pytest.mark.trio
async def test_an_answer_is_heard_before_an_event_that_follows_at_once() -> None:
    heard: list[str] = []
    told = trio.Event()

    def revoked(event: str, line: Mapping[str, Any]) -> None:
        heard.append(event)
        told.set()

    async with toy(HELLO + AT_ONCE) as driver:
        driver.listen("c", revoked)
        with trio.fail_after(30):
            await driver.call("poll", "c", 10_000, lambda answer: heard.append("answer"))
            await told.wait()
    assert heard == ["answer", "revoked"]


BEGINS = """
lines.requests.readline()
begins = json.dumps({"event": "begins", "id": request["id"]})
answer = json.dumps({"id": request["id"], "ok": {}})
os.write(lines._answers.fileno(), f"{begins}\\n{answer}\\n".encode())
time.sleep(600)
"""


@pytest.mark.trio
async def test_the_time_of_a_call_counts_from_when_it_begins() -> None:
    async with toy(HELLO.replace("['groups']", "['groups'], begins=True") + BEGINS) as driver:
        driver.grace_s = 0
        flush = await driver.send("flush", "p", 0)
        with trio.fail_after(30):
            async with trio.open_nursery() as nursery:
                nursery.start_soon(flush.wait)
                await trio.testing.wait_all_tasks_blocked()
                await driver.send("produce", "p")
    assert flush.answered


@pytest.mark.trio
async def test_a_call_that_has_begun_and_does_not_return_is_overdue() -> None:
    program = "lines.write(event='begins', id=request['id']); time.sleep(600)"
    async with toy(HELLO.replace("['groups']", "['groups'], begins=True") + program) as driver:
        driver.grace_s = 0
        with pytest.raises(OverdueError, match="flush has not returned after"):
            await driver.call("flush", "p", 100)
