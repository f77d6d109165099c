"""A ledger: what is known of one thing, folded row by row."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import attrgetter
from typing import Any, Final

from ..tables import Column, Fewer, Table, as_it_is
from ..tables import functions as F
from .row import Note, Row

_KEY: Final = attrgetter("key")


def refused_only(if_so: Column) -> Column:
    """True for all rows but refusals, of which only some are wanted."""
    return (F.col("kind") != "refused") | F.coalesce(if_so, F.lit(False))


@dataclass(frozen=True, slots=True)
class Ledger:
    """`new` is the state of a thing of which nothing is known; `step` takes a row into it, and `end` says
    what is so at the end. Both give notes. None of the three reads or writes anything else.

    Rows of `kinds` for which `of` is true go into it, `columns` besides those that all have. Those with the
    same `key`, and only those, are about one thing. `named` fills in what other rows tell of a row's thing.
    Of those that have only the columns which go into it, `spread` gives those about many things to each of
    them, and `fewer` leaves out rows that change nothing, which those with the same `key` tell. Without any
    row of the kinds `needs` it would note nothing.
    """

    name: str
    kinds: Sequence[str]
    of: Column
    key: Column
    columns: Sequence[str]
    new: Callable[[], Any]
    step: Callable[[Any, Row], Iterable[Note]]
    end: Callable[[Any], Iterable[Note]]
    named: Callable[[Table], Table] = as_it_is
    spread: Callable[[Table], Table] = as_it_is
    fewer: Fewer = as_it_is
    needs: Sequence[str] = ()

    def fold(self, rows: Iterable[Row]) -> Iterator[Note]:
        """The notes about each thing; its rows come one after the other, in the order of time."""
        step = self.step
        for _, each in groupby(rows, _KEY):
            state = self.new()
            for row in each:
                if found := step(state, row):
                    yield from found
            yield from self.end(state)
