"""Runs an exploration in processes, on the cores of this machine."""

import multiprocessing
import os
import signal
import threading
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import contextmanager
from typing import Any, Final

from .exploring import Variant, run

CHUNK: Final = 25
"""How many seeds a process runs before it reports: this takes some tenths of a second."""
_AHEAD: Final = 4
"""How many chunks are queued for each process."""

Chunk = tuple[Variant, range]
Rows = list[dict[str, Any]]


def explore(variants: Sequence[Variant], seeds: range, workers: int | None = None) -> Iterator[Rows]:
    """Rows of `exploring.COLUMNS`, chunk by chunk: some seeds under each variant, then the next seeds.

    If the caller stops early or is interrupted, no process is left running.
    """
    chunks = _chunks(variants, seeds)
    count = min(workers or os.cpu_count() or 1, -(-len(seeds) // CHUNK) * len(variants))
    if count <= 1:
        yield from map(_chunk, chunks)
        return
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(count, mp_context=context, initializer=_end_with_parent) as pool:
        running: deque[Future[Rows]] = deque()
        try:
            for chunk in chunks:
                with _no_interrupt():
                    running.append(pool.submit(_chunk, chunk))
                if len(running) >= count * _AHEAD:
                    yield running.popleft().result()
            while running:
                yield running.popleft().result()
        finally:
            for future in running:
                future.cancel()


def _end_with_parent() -> None:
    """Ends this process when the one that started it is gone, even if that was killed: it would wait for more
    to do for ever."""
    parent = multiprocessing.parent_process()
    assert parent is not None

    def watch() -> None:
        parent.join()
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


@contextmanager
def _no_interrupt() -> Iterator[None]:
    """Processes that are started here ignore Ctrl-C, which is handled by this one."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _chunks(variants: Sequence[Variant], seeds: range) -> Iterator[Chunk]:
    for start in range(0, len(seeds), CHUNK):
        for variant in variants:
            yield variant, seeds[start : start + CHUNK]


def _chunk(chunk: Chunk) -> Rows:
    return list(run(*chunk))
