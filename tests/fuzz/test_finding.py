"""What must not happen is found where it happens: each check is shown a broker that does it."""

import dataclasses
import resource
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mockbroker.apis import HANDLERS
from mockbroker.conformance.fuzz import playing
from mockbroker.conformance.fuzz.playing import explore, play
from mockbroker.conformance.fuzz.shards import write
from mockbroker.conformance.fuzz.shrinking import shrink, signature
from mockbroker.conformance.fuzz.steps import Close, Do, Send, Session, Step, read
from mockbroker.outcome import NEVER, PARKED, Unanswered
from mockbroker.protocol.api_keys import ApiKey
from mockbroker.server.connection import Connection

LIST_GROUPS = bytes.fromhex("0000000e 0010 0000 00000001 0004 66757a7a")
HEARTBEAT = bytes.fromhex("00000018 000c 0000 00000002 0004 66757a7a 0002 6730 00000000 0000")
GOOD = Session("none", 0, "4.4", False, [Send(0, 1, LIST_GROUPS + HEARTBEAT, (5, 20)), Close(0)])


def found(session: Session = GOOD) -> str:
    finding = play(session)
    assert finding, "nothing was found"
    return finding.kind


@pytest.fixture
def list_groups(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[..., Any]], None]:
    """Puts another handler in its place."""
    return lambda handler: monkeypatch.setitem(HANDLERS, ApiKey.LIST_GROUPS, handler)


def test_a_broker_that_does_what_it_should() -> None:
    assert play(GOOD) is None


def test_a_handler_that_raises(list_groups: Callable[..., None]) -> None:
    def fails(call: Any, request: Any) -> Any:
        raise LookupError("out of order")

    list_groups(fails)
    assert found() == "error"


def test_a_timer_that_raises(list_groups: Callable[..., None]) -> None:
    def fails_later(call: Any, request: Any) -> Any:
        call.cluster.after(10, lambda: [][1])
        return PARKED

    list_groups(fails_later)
    assert found(dataclasses.replace(GOOD, steps=GOOD.steps[:1])) == "error"


@pytest.mark.parametrize("outcome", [PARKED, NEVER])
def test_a_request_that_is_never_answered(list_groups: Callable[..., None], outcome: Unanswered) -> None:
    list_groups(lambda call, request: outcome)
    assert found(dataclasses.replace(GOOD, steps=GOOD.steps[:1])) == "no answer"


def test_a_handler_that_stalls(list_groups: Callable[..., None], monkeypatch: pytest.MonkeyPatch) -> None:
    handler = HANDLERS[ApiKey.LIST_GROUPS]
    monkeypatch.setattr(playing, "STALL_SECONDS", 0.1)

    def slow(call: Any, request: Any) -> Any:
        end = time.thread_time() + 0.1
        while time.thread_time() < end:
            pass
        return handler(call, request)

    list_groups(slow)
    assert found() == "stall"


def test_a_handler_that_takes_much_memory(
    list_groups: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    handler = HANDLERS[ApiKey.LIST_GROUPS]
    monkeypatch.setattr(playing, "GROWTH_BYTES", 30 << 20)
    monkeypatch.setattr(playing, "STALL_SECONDS", 60)  # a process that has used much has much to fill

    def large(call: Any, request: Any) -> Any:
        most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
        resident = int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()
        pages = bytearray(most - resident + (60 << 20))
        pages[::4096] = b"x" * len(range(0, len(pages), 4096))
        return handler(call, request)

    list_groups(large)
    assert found() == "memory"


@pytest.mark.parametrize(
    ("change", "kind"),
    [
        (lambda frame: frame[:-1], "no answer"),
        (lambda frame: frame[:3] + bytes([frame[3] - 1]) + frame[4:-1], "unreadable answer"),
        (lambda frame: frame[:3] + bytes([frame[3] + 1]) + frame[4:] + b"\0", "unreadable answer"),
        (lambda frame: frame[:7] + bytes([frame[7] + 1]) + frame[8:], "wrong order"),
        (lambda frame: b"", "no answer"),
        (lambda frame: frame * 2, "wrong order"),
    ],
    ids=["cut", "short", "left over", "another id", "none", "twice"],
)
def test_answers_that_are_none(
    change: Callable[[bytes], bytes], kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    send = Connection.send

    def changed(connection: Connection, frame: Any) -> None:
        data = b"".join(frame) if isinstance(frame, list) else bytes(frame)
        send(connection, change(data) if connection.client_id == "fuzz" else data)

    monkeypatch.setattr(Connection, "send", changed)
    last = dataclasses.replace(GOOD, steps=[Send(0, 1, LIST_GROUPS)])
    assert found(last) == kind


def test_a_good_client_that_is_not_served(list_groups: Callable[..., None]) -> None:
    def deletes(call: Any, request: Any) -> Any:
        call.cluster.delete_topics([call.cluster.topics["witness"]])
        return PARKED

    list_groups(deletes)
    steps: list[Step] = [Send(0, 1, LIST_GROUPS), Close(0)]
    assert found(dataclasses.replace(GOOD, steps=steps)) == "good client"


def test_what_was_found_is_shrunk_and_can_be_played_again(
    list_groups: Callable[..., None], tmp_path: Path
) -> None:
    def fails(call: Any, request: Any) -> Any:
        raise LookupError("out of order")

    list_groups(fails)
    steps = [Do("clock advance", {"by": "1s"}), *GOOD.steps, Send(1, 2, HEARTBEAT), Do("faults clear")]
    session = dataclasses.replace(GOOD, steps=steps)
    finding = play(session)
    assert finding
    short = shrink(session, lambda each: (again := play(each)) is not None and again.kind == finding.kind)
    assert short.steps == [Send(0, 1, LIST_GROUPS)]
    file = tmp_path / "found.txt"
    write(short, file, str(finding))
    assert read(file) == short
    assert signature(play(read(file)) or finding) == signature(finding)
    assert "replay" in file.read_text().splitlines()[0]


@pytest.mark.parametrize("line", ["send 1 2 -", "send 0 1 - zz", "do nothing", "jump 3", "close x"])
def test_text_that_is_no_session_is_refused(line: str, tmp_path: Path) -> None:
    file = tmp_path / "found.txt"
    file.write_text(f"session none 0 4.4 untraced\n{line}\n")
    with pytest.raises(ValueError, match="line 2"):
        read(file)


@pytest.mark.parametrize("mode", ["raw", "schemas", "parked"])
def test_the_same_seed_makes_the_same_session(mode: str) -> None:
    one, other = (explore(mode, 3)[0] for _ in range(2))
    assert one == other
    assert one != explore(mode, 4)[0]
