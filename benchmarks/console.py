"""How smoothly the console shows a busy cluster, and how soon a large trace: `python -m benchmarks.console`.

While clients send requests at a given rate to a cluster of 10 brokers with 1,000 partitions and 100 groups:
how late they are answered and what that costs the cluster, first without a trace, then while no page is open,
then with one, then with ten; how smoothly headless Chromium draws, and how many cores it takes. On few cores
clients wait for Chromium most of all: with `--real-time` it gets what others leave, which is nearer to a
browser with cores of its own. Then the time from opening a trace to the page that shows its end.
"""

from __future__ import annotations

import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer
from confluent_kafka import Producer

from benchmarks.process import cpu_us, descendants, resident_mb
from mockbroker import MockCluster

if TYPE_CHECKING:
    from playwright.sync_api import Browser

_FRAMES = """seconds => new Promise(resolve => {
  const took = [];
  let last = performance.now();
  const end = last + seconds * 1000;
  const frame = now => {
    took.push(now - last);
    last = now;
    if (now < end) requestAnimationFrame(frame);
    else resolve(took);
  };
  requestAnimationFrame(frame);
})"""


_CATEGORIES = ["devtools.timeline", "disabled-by-default-devtools.timeline"]
_HEAP = "Math.round(performance.memory.usedJSHeapSize / 1e6)"


class Served(NamedTuple):
    """Addresses of brokers and of the page, and the process."""

    address: str
    console_url: str
    pid: int


@contextmanager
def browser() -> Iterator[Browser]:
    """Chromium."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        found = playwright.chromium.launch(
            executable_path=shutil.which("chromium-headless-shell") or shutil.which("chromium"),
            args=["--no-sandbox", "--enable-precise-memory-info"],
        )
        yield found
        found.close()


@contextmanager
def busy(partitions: int, *, console: bool) -> Iterator[Served]:
    """A cluster with ten brokers, in a process of its own, whose coordinators and partitions are there
    already."""
    command = ["serve", "--brokers", "10", "--topic", f"t:{partitions}", *["--console"] * console]
    with subprocess.Popen(
        [sys.executable, "-m", "mockbroker", *command], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        lines = [process.stdout.readline().strip() for _ in range(3 if console else 1)]
        served = Served(lines[0], lines[-1], process.pid)
        try:
            load(served, partitions, 1.2).wait()
            yield served
        finally:
            process.terminate()


def load(served: Served, rate: int, seconds: float) -> subprocess.Popen[str]:
    """The clients."""
    command = [sys.executable, "-m", "benchmarks.console_load", served.address]
    options = ["--rate", str(rate), "--seconds", str(seconds)]
    return subprocess.Popen([*command, *options], stdout=subprocess.PIPE, text=True)


def go_first(pid: int) -> None:
    """Gives all threads of a process real-time priority."""
    for thread in Path(f"/proc/{pid}/task").iterdir():
        os.sched_setscheduler(int(thread.name), os.SCHED_RR, os.sched_param(1))


class Load(NamedTuple):
    """`rate` requests a second for so many seconds, of clients of a cluster with so many partitions; all of
    them before any other process if it is `real_time`."""

    partitions: int
    rate: int
    seconds: float
    real_time: bool


def measured(
    given: Load,
    what: str,
    look: Callable[[Served], Callable[[], dict[str, Any]]] | None,
    *,
    console: bool = True,
) -> dict[str, Any]:
    """How late clients are answered, what that costs the cluster, and what is seen by who looks meanwhile:
    that is put together once clients have ended."""
    with busy(given.partitions, console=console) as served:
        memory, before = [resident_mb(served.pid)], cpu_us(served.pid) or 0
        with load(served, given.rate, given.seconds) as clients:
            if given.real_time:
                for each in (served.pid, clients.pid):
                    go_first(each)
            seen = None if look is None else look(served)
            assert clients.stdout is not None
            told = json.loads(clients.stdout.read())
        spent = (cpu_us(served.pid) or 0) - before
        memory.append(resident_mb(served.pid))
    answered = given.rate * given.seconds - told["unanswered"]
    cost = {"broker_cpu_us": round(spent / answered), "broker_mb": [round(each or 0) for each in memory]}
    return {"what": what, **told, **cost, **(seen() if seen else {})}


def frames(found: Browser, served: Served, seconds: float, pages: int) -> Callable[[], dict[str, Any]]:
    """Of one of so many pages: ms until it has painted something, and until it shows partitions; ms from one
    frame to the next; MB of its JavaScript at the beginning and at the end; and the cores that all take."""
    others = [found.new_page() for _ in range(pages - 1)]
    for each in others:
        each.goto(served.console_url)
    page = found.new_page(viewport={"width": 1280, "height": 800})
    found.start_tracing(page=page, categories=_CATEGORIES)
    page.goto(served.console_url)
    page.locator(".partition").first.wait_for()
    ready = page.evaluate("performance.now()")
    paint = page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime")
    heap = [page.evaluate(_HEAP)]
    spent, began = browser_cpu_us(), time.monotonic()
    took = sorted(page.evaluate(_FRAMES, seconds / 2))
    cores = (browser_cpu_us() - spent) / 1e6 / (time.monotonic() - began)
    heap.append(page.evaluate(_HEAP))

    def seen() -> dict[str, Any]:
        # To get the trace takes a core for a second.
        tasks = longest_tasks(found.stop_tracing())
        for each in [page, *others]:
            each.close()
        return {
            "first_paint_ms": round(paint),
            "ready_ms": round(ready),
            "frames": len(took),
            "median_ms_of_frames": round(statistics.median(took), 1),
            "p99_ms_of_frames": round(took[int(len(took) * 0.99)], 1),
            "longest_ms_of_frames": round(took[-1], 1),
            "longest_tasks_cpu_ms": tasks,
            "heap_mb": heap,
            "browser_cores": round(cores, 2),
        }

    return seen


def browser_cpu_us() -> float:
    """Processor time of all processes of Chromium."""
    there = [each for each in descendants(os.getpid()) if "chrom" in Path(f"/proc/{each}/comm").read_text()]
    return sum(cpu_us(each) or 0 for each in there)


def longest_tasks(trace: bytes) -> list[float]:
    """Processor time of the longest tasks of all pages' main threads, in ms: what else the machine does is no
    part of it."""
    events = json.loads(trace)["traceEvents"]
    pages = {(each["pid"], each["tid"]) for each in events if each["name"] == "FunctionCall"}
    ran = [
        each["tdur"] / 1000
        for each in events
        if each["name"] == "RunTask" and (each["pid"], each["tid"]) in pages and "tdur" in each
    ]
    return [round(each, 1) for each in sorted(ran)[-5:]]


def write(path: Path, events: int) -> None:
    """A trace of about so many events."""
    with MockCluster(topics={"t": 10}, trace=True) as cluster:
        producer = Producer({"bootstrap.servers": cluster.bootstrap_servers, "linger.ms": 0, "log_level": 0})
        while cluster.run_with_trace(lambda trace: len(trace.events)) < events:
            for number in range(500):
                producer.produce("t", b"v", partition=number % 10)
                producer.poll(0)
            producer.flush()
            cluster.move_leader("t", 0)
        cluster.trace.write(path)


def opening(found: Browser, path: Path) -> dict[str, Any]:
    """Seconds from asking for the page until it shows the end of the trace."""
    last = json.loads(path.read_text().rstrip().rpartition("\n")[2])["number"]
    command = [sys.executable, "-m", "mockbroker", "view", str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        address = process.stdout.readline().strip()
        page = found.new_page()
        began = time.monotonic()
        page.goto(address)
        page.get_by_text(f"event {last} of {last}").wait_for(timeout=60_000)
        took = time.monotonic() - began
        page.close()
        process.terminate()
    return {
        "what": "a trace",
        "events": last,
        "mb": round(path.stat().st_size / 1e6, 1),
        "opened_s": round(took, 2),
    }


def main(
    partitions: Annotated[int, typer.Option(help="Of the cluster.")] = 1_000,
    rate: Annotated[int, typer.Option(help="Requests a second.")] = 5_000,
    seconds: Annotated[float, typer.Option(help="How long clients send them.")] = 60.0,
    pages: Annotated[str, typer.Option(help="How many are open, in turn.")] = "1,10",
    events: Annotated[int, typer.Option(help="Of the trace; 0: none is opened.")] = 100_000,
    real_time: Annotated[
        bool, typer.Option("--real-time", help="Clients and cluster run before the browser. Needs root.")
    ] = False,
) -> None:
    """Print a line of JSON for each."""
    given = Load(partitions, rate, seconds, real_time)
    say(measured(given, "no trace", None, console=False))
    say(measured(given, "no page", None))
    with browser() as found:
        for count in map(int, pages.split(",")):
            say(measured(given, f"{count} pages", lambda served: frames(found, served, seconds, count)))  # noqa: B023
    if events:
        with browser() as found, tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "trace.jsonl"
            write(path, events)
            say(opening(found, path))


def say(row: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(row) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    typer.run(main)
