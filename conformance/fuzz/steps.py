"""The steps of a session, and the text that keeps one: a line for each step, bytes in hex."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


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

    def __str__(self) -> str:
        cuts = ",".join(map(str, self.cuts)) or "-"
        return f"send {self.connection} {self.broker} {cuts} {self.data.hex()}"


@dataclass(frozen=True)
class Close:
    """The client closes a connection."""

    connection: int

    def __str__(self) -> str:
        return f"close {self.connection}"


@dataclass(frozen=True)
class Do:
    """An operation of `mockbroker ctl`; a refusal does not count as a failure."""

    operation: str
    arguments: dict[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        return f"do {self.operation} {json.dumps(self.arguments)}"


Step = Send | Close | Do


@dataclass(frozen=True)
class Session:
    """`kafka` is the release; `mode` and `seed` say where the steps come from."""

    mode: str
    seed: int
    kafka: str
    traced: bool
    steps: Sequence[Step]

    def write(self, path: Path, about: Iterable[str] = ()) -> None:
        """`about` is put in front, as comments."""
        lines = [f"# {line}" for line in about]
        lines.append(
            f"session {self.mode} {self.seed} {self.kafka} {'traced' if self.traced else 'untraced'}"
        )
        path.write_text("\n".join([*lines, *map(str, self.steps)]) + "\n")


def read(path: Path) -> Session:
    """ValueError for a file that is not a session."""
    steps: list[Step] = []
    head: list[str] | None = None
    for number, line in enumerate(path.read_text().splitlines(), 1):
        word, _, rest = line.partition(" ")
        try:
            match word:
                case "#" | "":
                    continue
                case "session":
                    head = rest.split(" ")
                case "send":
                    connection, broker, cuts, data = rest.split(" ")
                    ends = () if cuts == "-" else tuple(map(int, cuts.split(",")))
                    steps.append(Send(int(connection), int(broker), bytes.fromhex(data), ends))
                case "close":
                    steps.append(Close(int(rest)))
                case "do":
                    at = rest.index("{")
                    steps.append(Do(rest[: at - 1], json.loads(rest[at:])))
                case _:
                    raise ValueError(f"no step {word!r}")
        except ValueError as error:
            raise ValueError(f"{path}, line {number}: {error}") from None
    if head is None or len(head) != 4:
        raise ValueError(f"{path} is not a session: no line begins with 'session'")
    mode, seed, kafka, traced = head
    return Session(mode, int(seed), kafka, traced == "traced", steps)
