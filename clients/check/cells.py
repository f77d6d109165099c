"""Which scenarios are played, and what brokers answer in each."""

import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from mockbroker.nearest import nearest
from mockbroker.protocol.releases import parse

from .scenario import Scenario
from .scenarios import SCENARIOS


@dataclass(frozen=True)
class Cell:
    """One run: a scenario, a release, with every fix or as it was, and answers that were chosen besides."""

    scenario: Scenario
    kafka: str
    fixed: bool
    policies: Mapping[str, str] = field(default_factory=dict)
    one_of_many: bool = False
    """Whether it is there because the scenario has met the behaviour whose other answer is chosen."""
    upstream: str = ""
    """The addresses of the real cluster that it is played with; empty for a mock."""

    @property
    def brokers(self) -> str:
        """The column: the release, and whether it has every fix; or a real cluster, whatever it is."""
        if self.upstream:
            return "upstream"
        return f"{self.kafka}, fixed" if self.fixed else self.kafka

    @property
    def answers(self) -> str:
        """What was chosen, as `NAME=ANSWER`."""
        return ", ".join(f"{name}={answer}" for name, answer in self.policies.items())

    @property
    def is_right(self) -> bool:
        """Whether brokers answer as they should: an invariant that is violated is the client's then."""
        return self.fixed and not self.policies

    def command(self, client: Sequence[str]) -> str:
        """What plays this one alone. `client` are the options that name it."""
        chosen = [each for name, answer in self.policies.items() for each in ("--policy", f"{name}={answer}")]
        fixed = "yes" if self.fixed else "no"
        words = ["--only", self.scenario.name, "--kafka", self.kafka, "--fixed", fixed, *chosen]
        words += ["--upstream", self.upstream] if self.upstream else []
        return shlex.join(["mockbroker", "check", *client, *words])


def planned(
    scenarios: Iterable[Scenario],
    releases: Sequence[str],
    fixed: Sequence[bool],
    policies: Mapping[str, str],
    upstream: str = "",
) -> Iterator[Cell]:
    """Every scenario with every release that has what it is about, and its variants with the last one; those
    about access once. Chosen answers take the place of variants. With an `upstream` each scenario is also
    played there, with its variants."""
    for scenario in scenarios:
        if upstream:
            for answers in [policies] if policies else [{}, *scenario.variants]:
                yield Cell(scenario, releases[-1], True, answers, upstream=upstream)
        if scenario.is_about_access:
            yield Cell(scenario, releases[-1], max(fixed), policies)
            continue
        for kafka in releases:
            if scenario.since and parse(kafka) < parse(scenario.since):
                continue
            for each in fixed:
                yield Cell(scenario, kafka, each, policies)
        if not policies:
            for variant in scenario.variants:
                yield Cell(scenario, releases[-1], False, variant)


def scenarios(names: Sequence[str]) -> list[Scenario]:
    """Those of these names, or all. ValueError for a name that there is not, with the nearest."""
    for name in names:
        if name not in SCENARIOS:
            raise ValueError(f"no scenario {name!r}{nearest(name, SCENARIOS)}")
    return [each for name, each in SCENARIOS.items() if not names or name in names]
