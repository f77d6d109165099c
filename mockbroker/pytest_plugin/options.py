"""The options of clusters that tests give, in markers and in calls."""

from collections.abc import Collection, Mapping
from typing import Any, Final

import pytest

from ..cluster_options import OPTIONS, check_names
from ..errors import OptionError
from ..proxy_options import MARKED

MARKER: Final = "mockbroker"
MATRIX: Final = "mockbroker_matrix"
PROXY: Final = "mockbroker_proxy"

MATRIX_OPTIONS: Final = frozenset({"fixed", "kafka"})
BOTH: Final = "both"


def of_mark(mark: pytest.Mark, known: Collection[str] = OPTIONS) -> Mapping[str, Any]:
    """The options of a marker. OptionError."""
    where = f"@pytest.mark.{mark.name}"
    if mark.args:
        raise OptionError(f"{where} takes options by name, as in kafka='2.3': {mark.args[0]!r} has no name")
    check_names(mark.kwargs, where, known)
    return mark.kwargs


def of_test(node: pytest.Item, marker: str = MARKER) -> dict[str, Any]:
    """The options in the markers of a test, its class and its module; the nearest counts. OptionError."""
    found: dict[str, Any] = {}
    for mark in node.iter_markers(marker):
        found = {**of_mark(mark, MARKED if marker == PROXY else OPTIONS), **found}
    return found


def variants(mark: pytest.Mark) -> dict[str, dict[str, Any]]:
    """The options of each run of a test, by a readable name. OptionError."""
    given = of_mark(mark, MATRIX_OPTIONS)
    kafka, fixed = given.get("kafka"), given.get("fixed")
    if fixed not in (None, True, False, BOTH):
        raise OptionError(f"@pytest.mark.{MATRIX} has fixed={fixed!r}: choose True, False or {BOTH!r}")
    releases = [kafka] if isinstance(kafka, str | None) else list(kafka)
    if not releases:
        raise OptionError(
            f"@pytest.mark.{MATRIX} names no release: give at least one, as in kafka=['2.3', '4.4']"
        )
    found = {}
    for release in releases:
        for each in (False, True) if fixed == BOTH else (fixed,):
            options = {"kafka": release, "fixed": each}
            name = "-".join(filter(None, (release, _behaviour(each))))
            found[name] = {key: value for key, value in options.items() if value is not None}
    return found


def _behaviour(fixed: bool | None) -> str:
    return "" if fixed is None else "fixed" if fixed else "current"
