"""What a driver writes is heard in the order in which it was written."""

from collections.abc import Mapping
from typing import Any

import pytest
import trio

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
