"""What is true of a recording, as TOML: what was done and when, what happened, and what should be found."""

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

Value = str | int | bool | list[int] | list[str]


class Truth:
    """`facts` are of the whole recording, `events` in their order, with `at_ms` (Unix time) and `did`;
    `symptoms` are what users and operators notice, with `name` and what each is about."""

    def __init__(self, name: str, release: str, finding: str | None, clients: Sequence[str]) -> None:
        self.facts: dict[str, Value] = {"name": name, "kafka": release, "clients": [*clients]}
        self.facts["healthy"] = finding is None
        if finding is not None:
            self.facts["finding"] = finding
        self.events: list[dict[str, Value]] = []
        self.symptoms: list[dict[str, Value]] = []

    def did(self, what: str, **fields: Value) -> None:
        self.events.append({"at_ms": time.time_ns() // 1_000_000, "did": what, **fields})

    def noticed(self, name: str, **fields: Value) -> None:
        self.symptoms.append({"name": name, **fields})

    def write(self, path: Path) -> None:
        lines = [f"{name} = {_value(value)}" for name, value in self.facts.items()]
        for table, rows in (("event", self.events), ("symptom", self.symptoms)):
            for row in rows:
                lines += ["", f"[[{table}]]", *(f"{name} = {_value(value)}" for name, value in row.items())]
        path.write_text("\n".join(lines) + "\n")


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list):
        return f"[{', '.join(map(_value, value))}]"
    if isinstance(value, str):
        escaped = value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
        return f'"{escaped}"'
    return str(value)
