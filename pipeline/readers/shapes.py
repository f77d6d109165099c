"""Lines that nobody knows, counted by shape."""

from dataclasses import dataclass, field
from typing import Final

MOST_SHAPES: Final = 2_000
"""The shapes that are kept; lines of all others are counted together."""
_SHOWN: Final = 300
"""What is kept of a line."""
OTHER: Final = "(other lines at WARN or ERROR)"


@dataclass(slots=True)
class Shape:
    """How many lines have a shape, and one of them: its file, position and text."""

    count: int
    file: str
    position: int
    text: str

    def as_json(self, shape: str) -> dict[str, object]:
        return {
            "shape": shape,
            "count": self.count,
            "file": self.file,
            "position": self.position,
            "text": self.text,
        }


@dataclass(slots=True)
class Shapes:
    """Lines that nobody knows, by shape."""

    known: dict[str, Shape] = field(default_factory=dict)

    def saw(self, shape: str, file: str, position: int, line: str) -> None:
        """A line has that shape."""
        self.add(shape, Shape(1, file, position, line[:_SHOWN]))

    def add(self, shape: str, found: Shape) -> None:
        """So many lines have it."""
        if shape not in self.known and len(self.known) >= MOST_SHAPES:
            shape = OTHER
        if (earlier := self.known.get(shape)) is None:
            self.known[shape] = found
            return
        count = earlier.count + found.count
        if found.file == earlier.file and found.position < earlier.position:
            self.known[shape] = found
        self.known[shape].count = count

    def most_frequent(self, most: int) -> list[tuple[str, Shape]]:
        by_count = sorted(self.known.items(), key=lambda each: (-each[1].count, each[0]))
        return by_count[:most]
