"""What came of many cases, as a table and as a page."""

from collections import Counter, defaultdict
from pathlib import Path
from typing import Final

from rich.table import Table

from .case import Case, Outcome

_TEXT: Final = Path(__file__).with_suffix(".md")
_COLUMNS: Final = ("Kafka", "client", "cases", "exactly once", "lost", "duplicated", "stuck", "traced to")
_FIXED: Final = ", every fix"


class Tally:
    """Counts by release and client."""

    def __init__(self) -> None:
        self._kinds: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
        self._causes: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)

    def add(self, client: str, case: Case, outcome: Outcome, causes: list[str]) -> None:
        """`causes` are the answers of behaviours that make it come out well."""
        key = (case.kafka + _FIXED * case.fixed, client)
        self._kinds[key][outcome.kind] += 1
        self._causes[key].update(causes)

    @property
    def unexpected(self) -> int:
        """How many cases failed with every fix."""
        return sum(
            kinds.total() - kinds["exactly once"]
            for (kafka, _), kinds in self._kinds.items()
            if kafka.endswith(_FIXED)
        )

    def rows(self) -> list[tuple[str, ...]]:
        found = []
        for (kafka, client), kinds in sorted(self._kinds.items()):
            counts = [str(kinds[name]) for name in ("exactly once", "lost", "duplicated", "stuck")]
            causes = ", ".join(
                f"{name} ({times})" if " " in name else f"`{name}` ({times})"
                for name, times in self._causes[kafka, client].items()
            )
            found.append((kafka, client, str(kinds.total()), *counts, causes))
        return found

    def table(self) -> Table:
        table = Table(*_COLUMNS)
        for row in self.rows():
            table.add_row(*row)
        return table


def page(tally: Tally) -> str:
    """The page, with the table in its place."""
    lines = [_COLUMNS, tuple("---" for _ in _COLUMNS), *tally.rows()]
    table = "\n".join(f"| {' | '.join(row)} |" for row in lines)
    return _TEXT.read_text().replace("{table}", table)
