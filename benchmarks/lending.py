"""How soon a cluster is there that is asked for by `POST /clusters`, one at a time and several at once.

`python -m benchmarks.lending --clusters 200 --at-once 1 --at-once 8`
"""

from __future__ import annotations

import argparse
import http.client
import json
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from urllib.parse import urlsplit

from . import kfake
from .process import cpu_us, resident_mb

OPTIONS = ("--brokers", "1", "--log", "json", "--port", "0", "--control", "0", "--until-stdin-closes")
BODY = json.dumps({"topics": {"orders": 1}, "trace": "requests"})
"""As companions ask."""


@contextmanager
def lender() -> Iterator[tuple[int, str]]:
    """A process that lends: its id, and where it is asked."""
    words = [sys.executable, "-m", "mockbroker", "serve", *OPTIONS]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(words, text=True, **pipes) as process:  # type: ignore[call-overload]
        yield process.pid, urlsplit(json.loads(process.stdout.readline())["control_url"]).netloc
        process.communicate()


def once(address: str) -> float:
    """Asks for a cluster, and for one thing in it, and gives it back. ms until it was there."""
    with closing(http.client.HTTPConnection(address, timeout=60)) as connection:
        began = time.perf_counter()
        connection.request("POST", "/clusters", BODY)
        with connection.getresponse() as answer:
            first = json.loads(answer.readline())
            took = time.perf_counter() - began
            assert first["event"] == "serving", first
            _ask(first["control_url"], "GET", "/topics/orders/records")
            _ask(first["control_url"], "DELETE", "")
    return took * 1000


def _ask(url: str, method: str, path: str) -> None:
    parts = urlsplit(url)
    with closing(http.client.HTTPConnection(parts.netloc, timeout=60)) as connection:
        connection.request(method, parts.path + path)
        with connection.getresponse() as answer:
            text = answer.read()
            assert answer.status == 200, text


def kfakes(clusters: int, at_once: int) -> list[float]:
    """ms until a kfake in a Go program was there. kfake.CannotBuildError."""
    command = [str(kfake.build()), "3", "starts", str(clusters), str(at_once)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return sorted(map(float, done.stdout.split()))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--clusters", type=int, default=200)
    parser.add_argument("--at-once", type=int, action="append", help="1 and 8 without it")
    given = parser.parse_args()
    for at_once in given.at_once or [1, 8]:
        with lender() as (pid, address), ThreadPoolExecutor(at_once) as pool:
            first, before = once(address), resident_mb(pid)
            cpu = cpu_us(pid) or 0.0
            found = sorted(pool.map(lambda _: once(address), range(given.clusters)))
            cpu = ((cpu_us(pid) or 0.0) - cpu) / given.clusters / 1000
            after = resident_mb(pid)
        sys.stdout.write(
            f"{given.clusters} clusters, {at_once} at once: {_middle(found):.1f} ms (first {first:.1f}, "
            f"99 % {found[len(found) * 99 // 100]:.1f}); {cpu:.1f} ms of CPU each; "
            f"{before:.0f} MB after the first, {after:.0f} MB at the end\n"
        )
        try:
            beside = kfakes(given.clusters, at_once)
        except kfake.CannotBuildError as reason:
            sys.stdout.write(f"no kfake: {reason}\n")
        else:
            ratio = _middle(found) / _middle(beside)
            sys.stdout.write(f"kfake in a Go program: {_middle(beside):.2f} ms; a ratio of {ratio:.1f}\n")


def _middle(ms: list[float]) -> float:
    return ms[len(ms) // 2]


if __name__ == "__main__":
    main()
