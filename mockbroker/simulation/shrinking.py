"""Makes a history that violates an invariant as small as possible."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Final

from .. import shrinking
from ..shrinking import fewer, simpler
from .group_setting import GroupSetting
from .history import happen
from .plan import Plan, Step
from .share_setting import ShareSetting

MOST_RUNS: Final = 1_500
"""A plan is run at most so many times; the smallest one by then is the result."""
_LONG_MS: Final = 500
_MANY: Final = 500
"""Records at once, as by default."""


def shrink(plan: Plan, invariant: str, tried: Callable[[], None] = lambda: None) -> Plan:
    """The plan with the fewest and simplest steps that still violates `invariant`; `tried` is called for each
    run. ValueError if the plan does not violate it."""

    def violates(candidate: Plan) -> bool:
        tried()
        return any(each.invariant == invariant for each in happen(candidate).violations)

    if not violates(plan):
        raise ValueError(f"seed {plan.seed} does not violate {invariant}")
    return shrinking.shrink(plan, _smaller, violates, MOST_RUNS)


def _smaller(plan: Plan) -> Iterator[Plan]:
    """Plans that are simpler in one respect, those that save most first."""
    yield from map(plan.with_steps, fewer(plan.steps))
    simplest = Plan(plan.seed, plan.kafka)
    for name in ("topics", "unclean", "min_insync", "delay_ms", "replica_fetch_bytes", "purges", "cleanup"):
        yield replace(plan, **{name: getattr(simplest, name)})
    yield replace(plan, commit_rate=1.0)
    yield from (replace(plan, group=group) for group in _smaller_groups(plan.group))
    yield from (replace(plan, shares=shares) for shares in _smaller_shares(plan.shares))
    yield from map(plan.with_steps, simpler(plan.steps, _simpler))
    yield from _sooner(plan)


def _smaller_groups(group: GroupSetting) -> Iterator[GroupSetting]:
    """Without members, with one less, and with simpler ones."""
    if group.members:
        yield GroupSetting()
        yield replace(group, members=group.members - 1, assignors=group.assignors[:-1])
        yield replace(group, partitions=1)
        yield replace(group, static=False)
        if any(group.assignors):
            yield replace(group, assignors=())


def _smaller_shares(shares: ShareSetting) -> Iterator[ShareSetting]:
    """Without a share group, with one member less, and with simpler ones."""
    if shares.members:
        yield ShareSetting()
        yield replace(shares, members=shares.members - 1)
        yield replace(shares, partitions=1)
        yield ShareSetting(shares.members, shares.partitions)
        yield replace(shares, latest=False)
        yield replace(shares, poison=False)
        yield replace(shares, strict=False)
        yield replace(shares, records=_MANY)
        yield replace(shares, implicit=True)


def _simpler(step: Step) -> Iterator[Step]:
    if step.args.get("count", 1) > 1:
        yield replace(step, args={**step.args, "count": 1})
    if 0 < step.args.get("percent", 100) < 100:
        yield replace(step, args={**step.args, "percent": 100})


def _sooner(plan: Plan) -> Iterator[Plan]:
    """Halves a long wait before a step; that step and all that follow happen earlier."""
    before_ms = 0
    for index, step in enumerate(plan.steps):
        wait_ms = step.at_ms - before_ms
        if wait_ms > _LONG_MS:
            cut_ms = wait_ms // 2
            later = tuple(replace(each, at_ms=each.at_ms - cut_ms) for each in plan.steps[index:])
            yield plan.with_steps((*plan.steps[:index], *later))
        before_ms = step.at_ms
