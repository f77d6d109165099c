"""Medians over the rounds, ratios within them, and the table."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from statistics import median
from typing import Final

from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from benchmarks import inside
from benchmarks.bench import ScenarioResult
from benchmarks.peers import BEFORE, OURS
from benchmarks.rounds import Measured
from benchmarks.scenarios import Scenario

LEAST: Final = 0.95
"""A row that is worse than this beside `before` is named."""

Rounds = list[dict[str, Measured]]
"""One entry per round: what each peer gave."""


@dataclass(frozen=True)
class Metric:
    """A row of the table, and how its number is found in one peer's round."""

    title: str
    unit: str
    more_is_better: bool
    read: Callable[[Measured], float | None]
    scenario: Scenario | None = None
    steady: bool = True
    """Whether it says the same while other things run on the machine: CPU time and memory."""


def metrics(scenarios: list[Scenario]) -> Iterator[Metric]:
    """All rows that there may be; those without any number are not shown."""
    yield Metric("start-up", "ms", False, lambda peer: _scaled(peer.start_up_seconds, 1e3), steady=False)
    yield Metric("start-up", "CPU ms", False, lambda peer: _scaled(peer.start_up_cpu_us, 1e-3))
    yield Metric("memory, idle", "MB", False, lambda peer: peer.resident_idle_mb)
    for scenario in scenarios:
        rates = f"{scenario.unit}/s" if scenario.unit == "MB" else f"{scenario.unit}s/s"
        of_rate = (
            (rates, "rate", True, False),
            ("p50 µs", "p50_us", False, False),
            ("p99 µs", "p99_us", False, False),
            (f"broker CPU µs/{scenario.unit}", "broker_cpu_us", False, True),
            ("p50, times that of 1 replica", "times_one_replica", False, False),
        )
        of_memory = (
            ("MB", "resident_mb", False, True),
            ("times that of 1 replica", "times_one_replica", False, True),
        )
        for unit, name, more_is_better, steady in of_rate if scenario.unit else of_memory:
            read = _outcome_reader(scenario, name)
            yield Metric(scenario.title, unit, more_is_better, read, scenario, steady)
    for row in inside.ROWS:
        read = _inside_reader(row)
        yield Metric(row.title, row.unit, row.more_is_better, read, steady=row.steady)


def _outcome_reader(scenario: Scenario, name: str) -> Callable[[Measured], float | None]:
    def read(peer: Measured) -> float | None:
        outcome = peer.outcomes.get(scenario.name)
        return None if outcome is None or outcome.error else getattr(outcome, name)

    return read


def _inside_reader(row: inside.Row) -> Callable[[Measured], float | None]:
    return lambda peer: peer.inside.get(row.name)


def _scaled(value: float | None, factor: float) -> float | None:
    return None if value is None else value * factor


def middle(metric: Metric, rounds: Rounds, peer: str) -> float | None:
    """The median over the rounds that gave a number."""
    values = [value for entry in rounds if (value := metric.read(entry[peer])) is not None]
    return median(values) if values else None


def ratio(metric: Metric, rounds: Rounds, peer: str) -> float | None:
    """How many times better ours is than `peer`: the median of the ratios within each round."""
    found = ratios(metric, rounds, peer)
    return median(found) if found else None


def ratios(metric: Metric, rounds: Rounds, peer: str) -> list[float]:
    """That of each round."""
    found = []
    for entry in rounds:
        ours, theirs = metric.read(entry[OURS]), metric.read(entry[peer])
        if ours and theirs:
            found.append(ours / theirs if metric.more_is_better else theirs / ours)
    return found


def worse(rounds: Rounds, scenarios: list[Scenario], *, steady: bool) -> list[str]:
    """The rows whose ratio to `before` is below LEAST, with the least and the greatest of the rounds."""
    found = []
    for metric in metrics(scenarios):
        each = ratios(metric, rounds, BEFORE)
        if metric.steady == steady and each and (middle := median(each)) < LEAST:
            apart = f"{min(each):.2f} to {max(each):.2f}"
            found.append(f"{metric.title}, {metric.unit}: {middle:.2f} ({apart})")
    return found


def errors(rounds: Rounds, scenarios: list[Scenario]) -> list[str]:
    """What went wrong, once for each peer, scenario and reason."""
    seen: dict[str, int] = {}
    for entry in rounds:
        for peer, measured in entry.items():
            found = [f"{peer}: {measured.failure}"] if measured.failure else []
            for scenario, outcome in _outcomes(measured, scenarios):
                if outcome.error:
                    found.append(f"{peer}, {scenario.title}: {outcome.error}")
            for text in found:
                seen[text] = seen.get(text, 0) + 1
    return [f"{text} ({count} of {len(rounds)} rounds)" for text, count in seen.items()]


def notes(rounds: Rounds, scenarios: list[Scenario]) -> list[str]:
    """Versions spoken, what a peer does not offer, and where the client may have been the limit."""
    out = []
    for peer, measured in rounds[-1].items():
        if measured.versions:
            spoken = ", ".join(f"{name} {version}" for name, version in measured.versions.items())
            out.append(f"{peer} speaks {spoken}")
        for scenario, outcome in _outcomes(measured, scenarios):
            if outcome.left_out:
                out.append(f"{peer}, {scenario.title}: {outcome.left_out}")
    for scenario in scenarios:
        slower = [peer for peer in rounds[0] if _client_bound(rounds, scenario, peer)]
        if slower:
            out.append(
                f"{scenario.title}: the client used more CPU than {', '.join(slower)}, and may be the limit"
            )
    return out


def _client_bound(rounds: Rounds, scenario: Scenario, peer: str) -> bool:
    client = middle(Metric("", "", False, _outcome_reader(scenario, "client_cpu_us")), rounds, peer)
    broker = middle(Metric("", "", False, _outcome_reader(scenario, "broker_cpu_us")), rounds, peer)
    return client is not None and broker is not None and client > broker


def _outcomes(measured: Measured, scenarios: list[Scenario]) -> Iterator[tuple[Scenario, ScenarioResult]]:
    for scenario in scenarios:
        if scenario.name in measured.outcomes:
            yield scenario, measured.outcomes[scenario.name]


def table(rounds: Rounds, scenarios: list[Scenario]) -> Table:
    """A row for each scenario and metric, a column for each peer, and ours against each of the others."""
    peers = list(rounds[0])
    others = [peer for peer in peers if peer != OURS] if OURS in peers else []
    title = f"median of {len(rounds)} round{'s' * (len(rounds) > 1)}" + (
        f"; vs: how many times better {OURS} is" if others else ""
    )
    grid = Table(title=title, box=SIMPLE_HEAD, pad_edge=False)
    grid.add_column("scenario")
    grid.add_column("metric")
    for heading in (*peers, *(f"vs {peer}" for peer in others)):
        grid.add_column(heading, justify="right")
    previous = ""
    for metric in metrics(scenarios):
        failed = {peer for peer in peers if _failed(metric, rounds, peer)}
        values = {peer: middle(metric, rounds, peer) for peer in peers}
        is_first_of_scenario = metric.title != previous
        if not any(value is not None for value in values.values()) and not (failed and is_first_of_scenario):
            continue
        cells = [Text("ERR", "bold red") if peer in failed else number(values[peer]) for peer in peers]
        better = [
            _ratio_cell(None if {OURS, peer} & failed else ratio(metric, rounds, peer)) for peer in others
        ]
        grid.add_row(metric.title if is_first_of_scenario else "", metric.unit, *cells, *better)
        previous = metric.title
    return grid


def _failed(metric: Metric, rounds: Rounds, peer: str) -> bool:
    for entry in rounds:
        measured = entry[peer]
        outcome = measured.outcomes.get(metric.scenario.name) if metric.scenario else None
        if measured.failure if outcome is None else outcome.error:
            return True
    return False


def number(value: float | None) -> Text:
    """Three significant digits, and no decimals from 100 on."""
    if value is None:
        return Text("–", "dim")
    return Text(f"{value:,.0f}" if value >= 100 else f"{value:.3g}")


def _ratio_cell(value: float | None) -> Text:
    if value is None:
        return Text("–", "dim")
    return Text(f"{value:.2f}", "green" if value >= 1 else "red")
