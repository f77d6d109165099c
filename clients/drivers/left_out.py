"""What drivers were not given."""

from collections import defaultdict
from collections.abc import Iterable


class LeftOut:
    """The settings that drivers were not given because they don't take them, by kind of handle."""

    def __init__(self) -> None:
        self._names: defaultdict[str, set[str]] = defaultdict(set)

    def note(self, kind: str, names: Iterable[str]) -> None:
        self._names[kind].update(names)

    def add(self, other: "LeftOut") -> None:
        for kind, names in other._names.items():
            self.note(kind, names)

    def lines(self, client: str) -> list[str]:
        """One for each kind; none if nothing was left out."""
        return [
            f"{client}: the driver takes no {', '.join(sorted(names))} for a {kind}: left out"
            for kind, names in sorted(self._names.items())
            if names
        ]
