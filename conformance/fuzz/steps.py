"""The steps of a session, and the file that keeps one: a line for each step, bytes in hex."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from ...nearest import nearest
from ...plan_files import PlanError, Row, Schema, as_row

SESSIONS: Final = Schema("mockbroker-session", 1, "a session")


@dataclass(frozen=True)
class Send:
    """Bytes on connection `connection`, which goes to `broker`, in writes that end at `cuts`."""

    connection: int
    broker: int
    data: bytes
    cuts: tuple[int, ...] = ()

    @property
    def writes(self) -> list[bytes]:
        ends = [*self.cuts, len(self.data)]
        return [self.data[start:end] for start, end in zip([0, *ends], ends, strict=False) if end > start]


@dataclass(frozen=True)
class Close:
    """The client closes a connection."""

    connection: int


@dataclass(frozen=True)
class Do:
    """An operation of `mockbroker ctl`; a refusal does not count as a failure."""

    operation: str
    arguments: dict[str, Any] = field(default_factory=dict)


Step = Send | Close | Do
_KINDS: Final[dict[str, type[Step]]] = {"send": Send, "close": Close, "do": Do}


@dataclass(frozen=True)
class Session:
    """`kafka` is the release; `mode` and `seed` say where the steps come from."""

    mode: str
    seed: int
    kafka: str
    traced: bool
    steps: Sequence[Step] = ()

    def write(self, path: Path, about: Iterable[str] = ()) -> None:
        """`about` is put in front, as comments."""
        head = {name: value for name, value in as_row(self).items() if name != "steps"}
        rows = ({"step": type(each).__name__.lower(), **as_row(each)} for each in self.steps)
        path.write_text(SESSIONS.text(head, rows, about))


def read(path: Path) -> Session:
    """ValueError for a file that is not a session."""
    lines = path.read_text().splitlines()
    try:
        if any(line.startswith("session ") for line in lines):
            head, rows = _of_lines(lines)
        else:
            head, found = SESSIONS.read("\n".join(lines))
            rows = [(f"step {number}", row) for number, row in enumerate(found, 1)]
        return SESSIONS.built(Session, {**head, "steps": [_step(where, row) for where, row in rows]})
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None


def _step(where: str, row: Row) -> Step:
    kind = row.pop("step", None)
    if kind not in _KINDS:
        raise PlanError(f"{where}: no step {kind!r}{nearest(str(kind), _KINDS)}")
    try:
        return SESSIONS.built(_KINDS[kind], row)
    except PlanError as error:
        raise PlanError(f"{where}: {error}") from None


def _of_lines(lines: Sequence[str]) -> tuple[Row, list[tuple[str, Row]]]:
    """The session of a file from before there were versions, and its steps: words in lines."""
    head: Row = {}
    rows = []
    for number, line in enumerate(lines, 1):
        word, _, rest = line.partition(" ")
        try:
            match word:
                case "#" | "":
                    continue
                case "session":
                    mode, seed, kafka, traced = rest.split(" ")
                    head = {"mode": mode, "seed": int(seed), "kafka": kafka, "traced": traced == "traced"}
                    continue
                case "send":
                    connection, broker, cuts, data = rest.split(" ")
                    ends = [] if cuts == "-" else list(map(int, cuts.split(",")))
                    row = {"connection": int(connection), "broker": int(broker), "data": data, "cuts": ends}
                case "close":
                    row = {"connection": int(rest)}
                case _:
                    operation, _, arguments = rest.partition(" {")
                    row = {"operation": operation, "arguments": json.loads("{" + arguments)}
        except ValueError as error:
            raise PlanError(f"line {number}: {error}") from None
        rows.append((f"line {number}", {"step": word, **row}))
    return head, rows
