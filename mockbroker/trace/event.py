"""What all events have in common. Times are Unix milliseconds of the cluster's clock."""

from dataclasses import dataclass, fields
from typing import Any, ClassVar, Final

from ..shown import shown

KINDS: Final[dict[str, "type[Event]"]] = {}
"""By `kind`, which files and queries use."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Event:
    """`number` counts all events of a cluster, from 1."""

    number: int
    time_ms: int
    kind: ClassVar[str] = "event"
    line = ""
    """What happened, with the names of fields; empty where `text` is more than that."""

    def __init_subclass__(cls) -> None:
        if "kind" in vars(cls):
            KINDS[cls.kind] = cls

    # Written once: generated for each of two dozen kinds, these three take 4 ms of every start.
    def __repr__(self) -> str:
        values = (f"{each.name}={getattr(self, each.name)!r}" for each in fields(self) if each.repr)
        return f"{type(self).__name__}({', '.join(values)})"

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and other.row() == self.row()

    def __hash__(self) -> int:
        return hash((self.kind, self.number, self.time_ms))

    def row(self) -> dict[str, Any]:
        """The whole event as plain values, `kind` first."""
        return {"kind": self.kind, **{each.name: getattr(self, each.name) for each in fields(self)}}

    def text(self) -> str:
        """What happened, without the time."""
        if self.line:
            return self.line.format_map(self.row())
        return " ".join(f"{name}={value}" for name, value in self.row().items() if name not in _NOT_SHOWN)

    def __str__(self) -> str:
        seconds, ms = divmod(self.time_ms, 1000)
        time = f"{seconds % 86400 // 3600:02}:{seconds % 3600 // 60:02}:{seconds % 60:02}.{ms:03}"
        return f"{time} {shown(self.text())}"


_NOT_SHOWN: Final = ("kind", "number", "time_ms")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class OfPartition(Event):
    """What an event says of a partition."""

    topic: str
    partition: int

    def text(self) -> str:
        rest = {n: v for n, v in self.row().items() if n not in (*_NOT_SHOWN, "topic", "partition")}
        values = ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in rest.items() if value != "")
        return f"{self.topic}-{self.partition}: {values}"
