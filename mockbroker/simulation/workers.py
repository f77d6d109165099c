"""Runs an exploration in processes, on the cores of this machine."""

import os
from collections.abc import Iterator, Sequence
from typing import Any, Final

from ..processes import in_order
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
    count = min(workers or os.cpu_count() or 1, -(-len(seeds) // CHUNK) * len(variants))
    yield from in_order(_chunk, _chunks(variants, seeds), count, _AHEAD)


def _chunks(variants: Sequence[Variant], seeds: range) -> Iterator[Chunk]:
    for start in range(0, len(seeds), CHUNK):
        for variant in variants:
            yield variant, seeds[start : start + CHUNK]


def _chunk(chunk: Chunk) -> Rows:
    return list(run(*chunk))
