"""What the console goes back to: all events, in files, however few the trace keeps in memory."""

from __future__ import annotations

import contextlib
import http.client
import json
import math
from collections.abc import Iterable, Iterator
from typing import Any
from unittest import mock

import pytest
import trio
import trio.testing

from mockbroker import MockCluster
from mockbroker.control import history as histories
from mockbroker.control import lines as pages
from mockbroker.control.history import History
from mockbroker.control.latest import line_of, parts_of
from mockbroker.control.stream import MOST_STREAMS
from mockbroker.trace import Event, Trace
from mockbroker.trace.as_json import as_json
from mockbroker.trace.events import Broker, Keyframe
from mockbroker.trace.looks import Snapshot
from tests.control.asking import ask
from tests.driving.cluster import a_cluster, create

EVENTS = 4_500
KEYFRAMES = (1, 700, 3_000)


def event(number: int) -> Event:
    if number in KEYFRAMES:
        return Keyframe(number, 10 * number, ({"kind": "broker", "broker": 1},))
    return Broker(number, 10 * number, 1, "running", False)


def told(most_bytes: int) -> History:
    history = History(most_bytes)
    for number in range(1, EVENTS + 1):
        history([event(number)])
    return history


@pytest.fixture
def history() -> Iterator[History]:
    with contextlib.closing(told(1 << 30)) as found:
        yield found


def numbers(parts: Iterable[bytes]) -> list[int]:
    return [json.loads(line)["number"] for line in b"".join(parts).splitlines()]


def all_after(history: History, number: int) -> list[int]:
    found = []
    while number < history.last:
        number, parts = history.after(number)
        found += numbers(parts)
    return found


@pytest.mark.parametrize("number", [0, 1, 699, 700, 1_234, 3_998, 4_498, EVENTS])
def test_every_event_comes_once_wherever_a_reader_begins(history: History, number: int) -> None:
    assert all_after(history, number) == [*range(number + 1, EVENTS + 1)]


@pytest.mark.parametrize(
    ("first", "last", "begins"),
    [(1, 5, 1), (699, 701, 1), (700, 702, 700), (2_999, 3_000, 700), (4_400, 4_450, 3_000), (5, 9_999, 1)],
)
def test_a_stretch_begins_with_a_keyframe(history: History, first: int, last: int, begins: int) -> None:
    assert numbers(history.between(first, last)) == [*range(begins, min(last, EVENTS) + 1)]


@pytest.mark.parametrize(("count", "begins"), [(1_000, 3_000), (2_000, 3_000), (4_000, 700), (5_000, 1)])
def test_about_as_many_are_told_as_are_asked_for(history: History, count: int, begins: int) -> None:
    assert history.recent(count) == begins


def test_a_summary_ends_with_the_last_event_that_it_tells(history: History) -> None:
    """It leaves out a keyframe, which whoever waits for all events is told after it."""
    for _ in history.digest(700):
        pass
    summary = history.summary(0)
    assert summary.last == numbers(summary)[-1] == 699
    assert numbers(history.after(summary.last)[1]) == [700]


def test_the_oldest_events_are_forgotten_where_there_is_no_room() -> None:
    with contextlib.closing(told(25_000)) as small, contextlib.closing(told(1 << 30)) as whole:
        assert whole.first == 1
        assert 1 < small.first < small.last == EVENTS
        assert all_after(small, 0) == [*range(small.first, EVENTS + 1)]
        assert small.moments[0] == (small.first, 10 * small.first)
        assert small.first > EVENTS // 3


def lines(cluster: MockCluster, query: str, count: int) -> tuple[dict[str, str], list[dict[str, Any]]]:
    connection = http.client.HTTPConnection(cluster.control_url.removeprefix("http://"), timeout=60)
    with contextlib.closing(connection):
        connection.request("GET", f"/trace/history?{query}")
        answer = connection.getresponse()
        return dict(answer.getheaders()), [json.loads(answer.readline()) for _ in range(count)]


def test_a_page_follows_what_happens(of_console: MockCluster) -> None:
    headers, (first,) = lines(of_console, "since=-1000", 1)
    assert (first["kind"], first["number"]) == ("keyframe", 1)
    assert headers["first-event-id"] == "1"
    newest = int(headers["last-event-id"])
    of_console.produce("orders", b"v")
    _, found = lines(of_console, f"since={newest}", 3)
    assert [each["number"] for each in found] == [newest + 1, newest + 2, newest + 3]


def test_a_page_is_told_what_others_do_not_supersede(
    of_console: MockCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pages, "MOST", 0)
    connection = http.client.HTTPConnection(of_console.control_url.removeprefix("http://"), timeout=60)
    with contextlib.closing(connection):
        connection.request("GET", "/trace/history?since=-1000")
        answer = connection.getresponse()
        rows = [json.loads(answer.readline())]
        for _ in range(20):
            of_console.produce("orders", b"v")
        of_console.move_leader("orders", 0)
        while rows[-1]["kind"] != "leader" or rows[-1]["leader_epoch"] == 0:
            rows.append(json.loads(answer.readline()))
    told = [row["number"] for row in rows]
    assert told == sorted(set(told))
    assert max(row["high_watermark"] for row in rows if row["kind"] == "high-watermark") == 20


def test_a_page_asks_for_a_summary_when_it_is_ready(
    of_console: MockCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pages, "MOST", 10)
    connection = http.client.HTTPConnection(of_console.control_url.removeprefix("http://"), timeout=60)

    def begun(query: str) -> http.client.HTTPResponse:
        connection.request("GET", f"/trace/history?{query}")
        return connection.getresponse()

    def produced() -> None:
        for _ in range(20):
            of_console.produce("orders", b"v")

    with contextlib.closing(connection):
        answer = begun("since=-1000&ready=0")
        first = json.loads(answer.readline())["number"]
        produced()
        whole = [first, *numbers([answer.read()])]
        assert whole == [*range(1, whole[-1] + 1)]
        for _ in range(2):
            produced()
            rows = [json.loads(line) for line in begun(f"since={whole[-1]}&ready=1").read().splitlines()]
            found = [row["number"] for row in rows]
            assert (found == sorted(found), found[0] > whole[-1]) == (True, True)
            assert len(found) < found[-1] - whole[-1]
            whole.append(found[-1])
        marks = [row["high_watermark"] for row in rows if row["kind"] == "high-watermark"]
        assert marks == [60]


def test_a_page_begins_with_a_summary_where_much_happens(
    of_console: MockCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pages, "MOST", 10)
    monkeypatch.setattr(pages, "_FAST", 0)
    connection = http.client.HTTPConnection(of_console.control_url.removeprefix("http://"), timeout=60)
    with contextlib.closing(connection):
        for _ in range(20):
            of_console.produce("orders", b"v")
        connection.request("GET", "/trace/history?since=-1000&ready=0")
        answer = connection.getresponse()
        rows = [json.loads(answer.readline())]
        while rows[-1]["number"] < int(answer.headers["last-event-id"]):
            rows.append(json.loads(answer.readline()))
        assert rows[0]["kind"] == "keyframe"
        assert len(rows) < rows[-1]["number"] - rows[0]["number"]
        marks = [row["high_watermark"] for row in rows if row["kind"] == "high-watermark"]
        assert marks == [20]
        # What comes then is told whole until it is too much.
        of_console.produce("orders", b"v")
        assert json.loads(answer.readline())["number"] == rows[-1]["number"] + 1


def test_as_many_follow_as_may(of_console: MockCluster) -> None:
    address = of_console.control_url.removeprefix("http://")
    with contextlib.ExitStack() as stack:
        for _ in range(MOST_STREAMS):
            reader = stack.enter_context(contextlib.closing(http.client.HTTPConnection(address, timeout=60)))
            reader.request("GET", "/trace/history?since=0")
            assert reader.getresponse().status == 200
        status, answer = ask("GET", f"{of_console.control_url}/trace/history?since=0")
        assert (status, str(MOST_STREAMS) in answer["error"]) == (503, True)


def test_one_connection_has_one_stretch_after_the_other(of_console: MockCluster) -> None:
    """Nobody waits for a body that a request does not have."""
    connection = http.client.HTTPConnection(of_console.control_url.removeprefix("http://"), timeout=20)
    with contextlib.closing(connection):
        for _ in range(3):
            connection.request("GET", "/trace/history?first=1&last=2")
            assert numbers([connection.getresponse().read()]) == [1, 2]


def test_what_is_no_number_is_refused(of_console: MockCluster) -> None:
    assert ask("GET", f"{of_console.control_url}/trace/history?since=now")[0] == 400


def test_without_a_console_there_is_no_history() -> None:
    with MockCluster(control=True) as cluster:
        assert ask("GET", f"{cluster.control_url}/trace/history?since=0")[0] == 404


@pytest.fixture
def of_console() -> Iterator[MockCluster]:
    with MockCluster(topics={"orders": 1}, console=True) as cluster:
        yield cluster


@pytest.mark.parametrize("partitions", [0, 1, 300])
def test_the_parts_of_a_keyframe_are_its_line(partitions: int) -> None:
    cluster = a_cluster(brokers=1)
    if partitions:
        create(cluster, "orders", partitions, 1)
    trace = Trace(cluster)
    trace.start()
    entries: list[Any] = []
    trace.hand_to(entries.extend)
    (keyframe,) = [each for each in entries if each[1] is Keyframe]
    parts = list(parts_of(keyframe))
    assert b"".join(parts) == line_of(keyframe)
    assert (len(parts) > 4) == (partitions == 300)


@pytest.mark.parametrize("partitions", [1, 400])
def test_the_whole_state_comes_back_from_a_file(monkeypatch: pytest.MonkeyPatch, partitions: int) -> None:
    monkeypatch.setattr(histories, "_AT_HAND", 1)
    cluster = a_cluster(brokers=2)
    create(cluster, "orders", partitions, 2)
    trace = Trace(cluster)
    trace.start()
    with contextlib.closing(History()) as history:
        trace.hand_to(history)
        (told,) = [each for each in trace.whole() if isinstance(each, Keyframe)]
        for number in range(told.number + 1, EVENTS):
            history([Broker(number, 0, 1, "running", False)])
        with mock.patch.object(Snapshot, "joined", side_effect=Snapshot.joined) as joined:
            _, parts = history.after(told.number - 1)
        assert len(*joined.call_args.args) == math.ceil(partitions / 150)
        (row,) = [json.loads(line) for line in b"".join(parts).splitlines()]
        assert numbers(history.between(told.number, EVENTS)) == [*range(told.number, EVENTS)]
    assert row == json.loads(as_json(told))
    assert sum(each["kind"] == "leader" for each in row["rows"]) == partitions


@pytest.mark.trio
async def test_whoever_waits_hears_of_the_next_event_at_once(autojump_clock: trio.testing.MockClock) -> None:
    cluster = a_cluster(brokers=1)
    trace = Trace(cluster)
    trace.start()
    with contextlib.closing(History(hand_over=trace.hand_over)) as history:
        trace.hand_to(history)
        create(cluster, "before", 1, 1)
        trace.changed()
        history.catch_up()
        last = history.last
        assert numbers(history.after(last - 1)[1]) == [last]
        with trio.fail_after(1):
            async with trio.open_nursery() as nursery:
                nursery.start_soon(history.came)
                await trio.testing.wait_all_tasks_blocked()
                # Others who look meanwhile take nothing from it.
                history.catch_up()
                create(cluster, "after", 1, 1)
                trace.changed()
        assert history.last > last


@pytest.mark.trio
async def test_pages_get_what_is_new_at_the_same_times(mock_clock: trio.testing.MockClock) -> None:
    """And less often if that takes long to make."""
    fresh: list[Event] = []

    def hand_over(_: bool) -> None:
        for each in fresh:
            history([each])
        fresh.clear()

    async def page(last: int) -> None:
        found.append((await beats.after(last), trio.current_time()))

    with contextlib.closing(History(hand_over=hand_over)) as history:
        beats, found = pages.Beats(history), list[tuple[int, Any]]()
        fresh.append(event(1))
        await page(0)
        assert found.pop() == (1, pytest.approx(0))
        fresh.append(event(2))
        async with trio.open_nursery() as nursery:
            nursery.start_soon(page, 1)
            nursery.start_soon(page, 1)
            await trio.testing.wait_all_tasks_blocked()
            mock_clock.jump(0.1)
        fresh.append(event(3))
        # Who comes too late for it gets the same.
        await page(1)
        assert found == [(2, pytest.approx(0.1))] * 3

        def parts() -> Iterator[bytes]:
            mock_clock.jump(0.05)
            yield b"slow"

        assert list(beats.timed(parts())) == [b"slow"]
        mock_clock.autojump_threshold = 0
        await page(2)
        assert found[-1] == (3, pytest.approx(0.1 + 0.05 / 0.1))


@pytest.mark.trio
async def test_pages_get_a_summary_one_after_the_other(autojump_clock: trio.testing.MockClock) -> None:
    """And many pages get fewer."""
    found = list[float]()

    async def page() -> None:
        await beats.turn()
        found.append(trio.current_time())

    with contextlib.closing(told(1 << 30)) as history:
        beats = pages.Beats(history)
        assert await beats.after(0) == EVENTS
        async with trio.open_nursery() as nursery:
            for _ in range(6):
                nursery.start_soon(page)
        assert found == [pytest.approx(each / 5) for each in range(6)]
        history([event(EVENTS + number) for number in range(1, pages.MOST + 2)])
        await beats.after(EVENTS)
        began = trio.current_time()
        history([event(history.last + 1)])
        await beats.after(history.last - 1)
        assert trio.current_time() == pytest.approx(began + 1)
