"""Runs many seeds, and counts what they violate."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from ..policies import fixes
from .history import draw, happen
from .plan import Options

COLUMNS: Final = {
    "seed": "int64",
    "variant": "string",
    "kafka": "string",
    "commit": "string",
    "reset": "string",
    "producer": "string",
    "unclean": "bool",
    "requests": "int32",
    "read_again": "int32",
    "violations": "list<string>",
    "first": "string",
}
"""Name and Arrow type of what is kept of each run; `first` describes its first violation."""


@dataclass(frozen=True, slots=True)
class Variant:
    """A cluster's behaviours, with a name: `own`, `fixed`, or the fix of one behaviour."""

    name: str
    options: Options


def variants(options: Options, fixed: str) -> list[Variant]:
    """The variants for `--fixed`: `no`, `yes`, `both`, or `each`, which adds each fix alone to these two.

    `options.policies` take precedence over fixes. ValueError for another word.
    """
    own = Variant("own", options)
    every = Variant("fixed", _with(options, fixes()))
    alone = [Variant(f"{name}={answer}", _with(options, {name: answer})) for name, answer in fixes().items()]
    try:
        return {"no": [own], "yes": [every], "both": [own, every], "each": [own, every, *alone]}[fixed]
    except KeyError:
        raise ValueError(f"fixed is no, yes, both or each, not {fixed!r}") from None


def _with(options: Options, policies: Mapping[str, str]) -> Options:
    return replace(options, policies={**policies, **options.policies})


def run(variant: Variant, seeds: Iterable[int]) -> Iterator[dict[str, Any]]:
    """A row of `COLUMNS` for each seed."""
    for seed in seeds:
        plan = draw(seed, variant.options)
        history = happen(plan)
        found = list(dict.fromkeys(each.invariant for each in history.violations))
        first = history.violations[0] if history.violations else None
        yield {
            "seed": seed,
            "variant": variant.name,
            "kafka": plan.kafka,
            "commit": plan.consumer.commit.value,
            "reset": plan.consumer.reset.value,
            "producer": plan.producers[0].generation.value if plan.producers else "",
            "unclean": plan.unclean,
            "requests": history.requests,
            "read_again": history.read_again,
            "violations": found,
            "first": f"{first.invariant}: {first.text}" if first else None,
        }


@dataclass(slots=True)
class Count:
    """How many of `runs` violated an invariant; `first_seed` is the smallest of them."""

    runs: int = 0
    violations: int = 0
    first_seed: int | None = None

    def interval(self) -> tuple[float, float]:
        """The rate's 95 % confidence interval, after Wilson."""
        return wilson(self.violations, self.runs)


def wilson(hits: int, runs: int, z: float = 1.959964) -> tuple[float, float]:
    """Wilson's score interval of a rate."""
    if not runs:
        return 0.0, 1.0
    rate, square = hits / runs, z * z
    middle = (rate + square / (2 * runs)) / (1 + square / runs)
    half = z / (1 + square / runs) * math.sqrt(rate * (1 - rate) / runs + square / (4 * runs * runs))
    return max(0.0, middle - half), min(1.0, middle + half)


@dataclass(slots=True)
class Summary:
    """Counts by variant and invariant."""

    runs: dict[str, int] = field(default_factory=dict)
    requests: int = 0
    counts: dict[tuple[str, str], Count] = field(default_factory=dict)

    def add(self, rows: Iterable[Mapping[str, Any]]) -> None:
        for row in rows:
            variant = row["variant"]
            self.runs[variant] = self.runs.get(variant, 0) + 1
            self.requests += row["requests"]
            for invariant in row["violations"]:
                count = self.counts.setdefault((variant, invariant), Count())
                count.violations += 1
                if count.first_seed is None or row["seed"] < count.first_seed:
                    count.first_seed = row["seed"]
        for (variant, _), count in self.counts.items():
            count.runs = self.runs[variant]

    @property
    def invariants(self) -> Sequence[str]:
        """The invariants that were violated."""
        return sorted({invariant for _, invariant in self.counts})
