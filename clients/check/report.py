"""What came of one client: rows of scenarios, columns of brokers."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from .scenario import Scenario
from .verdicts import NOT_REACHED, NOT_SUPPORTED, RIGHT, Judged

Row = tuple[Scenario, str]


@dataclass(frozen=True)
class Report:
    """`name` is the driver's, `client` what it says it is. `options` name it on the command line. `judged` is
    in the order of the plan."""

    name: str
    client: str
    options: tuple[str, ...]
    judged: tuple[Judged, ...]

    @property
    def planned(self) -> list[Judged]:
        """The scenarios and their variants."""
        return [each for each in self.judged if not each.cell.one_of_many]

    @property
    def accessing(self) -> list[Judged]:
        """Those of them that are about logins, certificates and ACLs."""
        return [each for each in self.planned if each.cell.scenario.is_about_access]

    @property
    def others(self) -> list[Judged]:
        """The others of them."""
        return [each for each in self.planned if not each.cell.scenario.is_about_access]

    @property
    def behaviours(self) -> list[Judged]:
        """Scenarios with another answer of one behaviour each."""
        return [each for each in self.judged if each.cell.one_of_many]

    @property
    def columns(self) -> list[str]:
        return list(dict.fromkeys(each.cell.brokers for each in self.planned))

    def rows(self) -> Iterator[tuple[Row, Mapping[str, Judged]]]:
        """A scenario with what was chosen, and the verdict in each column."""
        found: dict[tuple[str, str], tuple[Row, dict[str, Judged]]] = {}
        for each in self.planned:
            row = each.cell.scenario, each.cell.answers
            _, cells = found.setdefault((row[0].name, row[1]), (row, {}))
            cells[each.cell.brokers] = each
        yield from found.values()

    @property
    def unexpected(self) -> list[Judged]:
        """What tells against the client."""
        return [each for each in self.judged if each.unexpected]

    def shown(self, story: str) -> list[Judged]:
        """The runs of a story in which the client violated something, or told of an error."""
        return [
            each
            for each in self.planned
            if story in each.cell.scenario.stories and each.verdict.word not in _NOTHING
        ]

    def unmet(self) -> list[str]:
        """The behaviours that brokers were not asked for in any run."""
        from mockbroker.policies.catalogue import CATALOGUE

        met = set[str]().union(*(each.decided for each in self.judged))
        return [name for name in CATALOGUE if name not in met]

    def as_json(self) -> dict[str, Any]:
        return {"client": self.client, "runs": [_run(each, self.options) for each in self.judged]}


_NOTHING: Final = frozenset({RIGHT, NOT_SUPPORTED, NOT_REACHED})


def _run(judged: Judged, options: Sequence[str]) -> dict[str, Any]:
    cell = judged.cell
    return {
        "scenario": cell.scenario.name,
        "source": cell.scenario.source,
        "kafka": cell.kafka,
        "fixed": cell.fixed,
        "policies": dict(cell.policies),
        "verdict": judged.verdict.word,
        "violated": list(judged.verdict.violated),
        "unexpected": judged.unexpected,
        "times": judged.times,
        "runs": judged.runs,
        "seconds": round(judged.seconds, 1),
        "evidence": list(judged.verdict.evidence),
        "heard": [each.as_json() for each in judged.verdict.heard],
        "story": list(judged.verdict.story),
        "command": cell.command(options),
    }
