"""How smoothly the console shows a busy cluster, and how soon a large trace: `python -m benchmarks.console`.

In headless Chromium: the time from one frame to the next while 1,000 partitions of a cluster are written to
by trace events of a given rate, and the time from opening a trace to the page that shows its end.
"""

from __future__ import annotations

import json
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from confluent_kafka import Producer

from mockbroker import MockCluster
from mockbroker.trace import Trace

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


@contextmanager
def browser() -> Iterator[Browser]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        yield found
        found.close()


class Load(threading.Thread):
    """A producer that writes to partitions in turn, so often that about `rate` events a second happen."""

    def __init__(self, cluster: MockCluster, partitions: int, rate: int) -> None:
        super().__init__(daemon=True)
        own = {"bootstrap.servers": cluster.bootstrap_servers, "acks": 1, "linger.ms": 0, "log_level": 0}
        self._producer = Producer(own)
        self._cluster, self._partitions, self._rate = cluster, partitions, rate
        self.ends = threading.Event()
        self.events = 0
        self.seconds = 0.0

    def run(self) -> None:
        began, partition = time.monotonic(), 0
        first = last = self._number()
        while not self.ends.wait(0.01):
            last = self._number()
            for _ in range(round(((time.monotonic() - began) * self._rate - (last - first)) / 8)):
                partition = (partition + 1) % self._partitions
                self._producer.produce("t", b"v", partition=partition)
            self._producer.poll(0)
        self.seconds, self.events = time.monotonic() - began, last - first

    def _number(self) -> int:
        def last(trace: Trace) -> int:
            return trace.events[-1].number

        return self._cluster.run_with_trace(last)


def frames(found: Browser, partitions: int, rate: int, seconds: float) -> dict[str, Any]:
    """ms from one frame to the next."""
    with MockCluster(topics={"t": partitions}, console=True) as cluster:
        page = found.new_page(viewport={"width": 1280, "height": 800})
        page.goto(cluster.console_url)
        page.locator(".partition").first.wait_for()
        load = Load(cluster, partitions, rate)
        load.start()
        page.wait_for_timeout(3_000)
        took = sorted(page.evaluate(_FRAMES, seconds))
        load.ends.set()
        load.join()
        page.close()
    return {
        "what": f"{partitions} partitions, {rate} events a second wanted",
        "events_per_s": round(load.events / load.seconds),
        "frames": len(took),
        "median_ms": round(statistics.median(took), 1),
        "p95_ms": round(took[int(len(took) * 0.95)], 1),
        "longest_ms": round(took[-1], 1),
    }


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
    rate: Annotated[int, typer.Option(help="Events a second.")] = 2_000,
    seconds: Annotated[float, typer.Option(help="How long frames are measured.")] = 15.0,
    events: Annotated[int, typer.Option(help="Of the trace.")] = 100_000,
) -> None:
    """Print a line of JSON for each."""
    with browser() as found, tempfile.TemporaryDirectory() as folder:
        print(json.dumps(frames(found, partitions, rate, seconds)), flush=True)  # noqa: T201
        path = Path(folder) / "trace.jsonl"
        write(path, events)
        print(json.dumps(opening(found, path)), flush=True)  # noqa: T201


if __name__ == "__main__":
    typer.run(main)
