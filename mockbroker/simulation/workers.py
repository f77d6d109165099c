"""An exploration on the cores of this machine, in processes."""

import multiprocessing
import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from typing import Any, Final

from .exploring import Variant, run

CHUNK: Final = 250
"""Seeds that a process runs before it reports."""


def explore(
    variants: Sequence[Variant], seeds: range, workers: int | None = None
) -> Iterator[list[dict[str, Any]]]:
    """Rows of `exploring.COLUMNS`, chunk by chunk, in order of variants and seeds."""
    chunks = [
        (variant, seeds[start : start + CHUNK])
        for variant in variants
        for start in range(0, len(seeds), CHUNK)
    ]
    count = min(workers or os.cpu_count() or 1, len(chunks))
    if count <= 1:
        yield from map(_chunk, chunks)
        return
    with ProcessPoolExecutor(count, mp_context=multiprocessing.get_context("spawn")) as pool:
        try:
            yield from pool.map(_chunk, chunks)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _chunk(chunk: tuple[Variant, range]) -> list[dict[str, Any]]:
    return list(run(*chunk))
