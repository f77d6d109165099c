"""What is measured inside a process rather than over sockets: clusters of a test, and the simulator."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from benchmarks.trees import Tree

_SCRIPT: Final = Path(__file__).with_name("in_process.py")
_HISTORIES: Final = 100
"""Of each kind, in a second of measured time."""
_RECORDS: Final = 100_000
_OFFSETS: Final = f"{_RECORDS:,} records of committed offsets"
_TOOK: Final = re.compile(r" in ([\d.]+) s$", re.MULTILINE)
_WAITED: Final = re.compile(r"meanwhile: .*p99 ([\d.]+) ms", re.MULTILINE)
_REBALANCED: Final = re.compile(r": ([\d.]+) s of CPU, settled after (\d+) intervals$", re.MULTILINE)
_SIMULATED: Final = re.compile(r"^(\w+)\s+([\d,]+) requests", re.MULTILINE)


@dataclass(frozen=True)
class Row:
    """A name to choose it by, the words of the table, and the unit of its number."""

    name: str
    title: str
    unit: str
    more_is_better: bool = False
    steady: bool = True
    """Whether it is CPU time, which suffers little from what else runs on the machine."""
    program: str = ""
    """The checkout's own benchmark that tells it, along with its other rows."""


_IN_PROCESS: Final = (
    Row("start-wall", "a fresh cluster in a test, start", "ms", steady=False),
    Row("start-cpu", "a fresh cluster in a test, start and stop", "CPU ms"),
    Row("week-idle", "clock.advance by a week, idle", "CPU ms"),
    Row("week-records", "clock.advance by a week, segments expire", "CPU ms"),
)

_SIMULATOR: Final = tuple(
    Row(f"simulator-{kind}", f"simulated histories, {kind}", "requests/CPU s", True, program="simulation")
    for kind in ("plain", "idempotent", "transactional", "compacted", "mixed")
)
_BESIDE: Final = tuple(
    row
    for program, work in (("loading", "load"), ("compacting", "compact"))
    for row in (
        Row(f"{program}-time", f"{work} {_OFFSETS}", "s", steady=False, program=program),
        Row(f"{program}-wait", "  produce 100 B meanwhile, p99", "ms", steady=False, program=program),
    )
)
_REBALANCES: Final = (
    Row("rebalancing-1000", "1,000 members join a consumer group", "CPU s", program="rebalancing"),
    Row("rebalancing-leave", "  one of them leaves", "CPU s", program="rebalancing"),
    Row("rebalancing-settled", "  heartbeat intervals until it has settled", "", program="rebalancing"),
    Row("rebalancing-5000", "5,000 members join a consumer group", "CPU s", program="rebalancing"),
)
ROWS: Final = (*_IN_PROCESS, *_SIMULATOR, *_BESIDE, *_REBALANCES)


def choose(prefixes: str) -> list[Row]:
    """Rows whose name starts with one of the comma-separated prefixes; all for an empty string."""
    wanted = tuple(prefix.strip() for prefix in prefixes.split(",") if prefix.strip())
    return [row for row in ROWS if not wanted or row.name.startswith(wanted)]


def measure(
    tree: Tree, rows: Sequence[Row], seconds: float, report: Callable[[Row], None]
) -> dict[str, float]:
    """The number of each row; each takes about `seconds`. NotATreeError when the tree can't be measured."""
    found: dict[str, float] = {}
    for row in rows:
        if row.name in found:
            continue
        report(row)
        match row.program:
            case "simulation":
                found |= simulate(tree, max(2, round(_HISTORIES * seconds)))
            case "rebalancing":
                found |= rebalance(tree)
            case "":
                found |= json.loads(tree.run([tree.python, "-P", str(_SCRIPT), str(seconds), row.name]))
            case program:
                found |= beside(tree, program, seconds)
    return {row.name: found[row.name] for row in rows if row.name in found}


def simulate(tree: Tree, seeds: int) -> dict[str, float]:
    """By a tree's own benchmark, which knows its simulator."""
    module = ["-m", "benchmarks.simulation", "--rounds", "1", "--seeds", str(seeds)]
    printed = tree.run([tree.python, *module])
    return {f"simulator-{kind}": float(rate.replace(",", "")) for kind, rate in _SIMULATED.findall(printed)}


def rebalance(tree: Tree, few: int = 1_000, many: int = 5_000) -> dict[str, float]:
    """Groups of so many members; nothing if the tree has no such benchmark."""
    if not (tree.folder / "benchmarks" / "rebalancing.py").exists():
        return {}
    printed = tree.run([tree.python, "-m", "benchmarks.rebalancing", "--members", f"{few},{many}"])
    joined, left, crowd, _ = _REBALANCED.findall(printed)
    return {
        "rebalancing-1000": float(joined[0]),
        "rebalancing-leave": float(left[0]),
        "rebalancing-settled": float(left[1]),
        "rebalancing-5000": float(crowd[0]),
    }


def beside(tree: Tree, program: str, seconds: float, records: int = _RECORDS) -> dict[str, float]:
    """What takes long, and another client meanwhile; nothing if the tree has no such benchmark."""
    if not (tree.folder / "benchmarks" / f"{program}.py").exists():
        return {}
    arguments = ["--records", str(records), "--seconds", str(seconds)]
    printed = tree.run([tree.python, "-m", f"benchmarks.{program}", *arguments])
    took, waited = _TOOK.search(printed), _WAITED.search(printed)
    assert took, printed
    assert waited, printed
    return {f"{program}-time": float(took[1]), f"{program}-wait": float(waited[1])}
