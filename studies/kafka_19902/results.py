"""What came of the cases: kept as JSON, so that the page and the tests need no clients."""

import json
from pathlib import Path
from typing import Final

from .case import Case, Outcome

Row = dict[str, str]
"""What was told, by `auto.offset.reset`."""
_SAME: Final = "same"
"""Stands for the row of the plain variant."""
RECORDED: Final = Path(__file__).parent / "results.json"


def told(outcome: Outcome) -> str:
    """An outcome in a few words."""
    return f"{outcome.verdict}, {outcome.harm}" if outcome.harm else outcome.verdict


class Results:
    """Outcomes by client, mechanism, variant and `auto.offset.reset`, and clients' own words."""

    def __init__(self, file: Path = RECORDED) -> None:
        self._file = file
        kept = json.loads(file.read_text()) if file.exists() else {"outcomes": {}, "logs": {}}
        self.logs: dict[str, dict[str, list[str]]] = kept["logs"]
        self.outcomes: dict[str, dict[str, dict[str, Row]]] = kept["outcomes"]
        for mechanisms in self.outcomes.values():
            for variants in mechanisms.values():
                for variant, row in variants.items():
                    if row == _SAME:
                        variants[variant] = variants[plain(variant)]

    def add(self, client: str, case: Case, outcome: Outcome) -> None:
        variants = self.outcomes.setdefault(client, {}).setdefault(case.mechanism, {})
        variants[case.variant] = {**variants.get(case.variant, {}), case.reset: told(outcome)}
        if case.plain and case.reset == "earliest":
            self.logs.setdefault(client, {})[f"{case.mechanism} {case.variant}"] = list(outcome.log)

    def save(self) -> None:
        """A line for each variant, so that a difference can be read."""
        clients = []
        for client, mechanisms in sorted(self.outcomes.items()):
            told = [
                f"  {json.dumps(mechanism)}: {{\n{_lines(variants)}\n  }}"
                for mechanism, variants in sorted(mechanisms.items())
            ]
            clients.append(f" {json.dumps(client)}: {{\n" + ",\n".join(told) + "\n }")
        logs = {client: dict(sorted(said.items())) for client, said in sorted(self.logs.items())}
        body = '"outcomes": {\n' + ",\n".join(clients) + f'\n}},\n"logs": {json.dumps(logs, indent=1)}'
        self._file.write_text(f"{{\n{body}\n}}\n")


def plain(variant: str) -> str:
    """The variant with the same commits where nothing else is special."""
    return variant.split(" ", 1)[0]


def _lines(variants: dict[str, Row]) -> str:
    return ",\n".join(
        f"   {json.dumps(name)}: "
        + json.dumps(_SAME if name != plain(name) and row == variants[plain(name)] else row)
        for name, row in variants.items()
    )
