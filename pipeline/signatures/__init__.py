"""Each file of this folder declares a search, with all that belongs to what it finds, as `SEARCH`."""

import pkgutil
from collections.abc import Iterator
from importlib import import_module

from ..consequences import Rule
from ..signature import Search, Signature


def searches() -> Iterator[Search]:
    """In the order of their files."""
    for each in pkgutil.iter_modules(__path__):
        search: Search = import_module(f"{__name__}.{each.name}").SEARCH
        yield search


def signatures() -> Iterator[Signature]:
    for search in searches():
        yield from search.signatures


def by_name() -> dict[str, Signature]:
    """What each finding may be."""
    return {name: each for each in signatures() for name in each.names}


def rules() -> Iterator[Rule]:
    for each in signatures():
        yield from each.rules
