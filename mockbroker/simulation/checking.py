"""Checks whether a plan from a file is possible, before it is run."""

import random
from dataclasses import MISSING, fields
from typing import Any, Final

from ..nearest import nearest
from ..policies import Policies
from ..protocol.releases import parse
from . import share_setting
from .group_setting import ASSIGNORS, MOST, GroupSetting
from .kinds import BROKERS, UNDOES
from .plan import CLEANUPS, HISTORIES, Plan, Step
from .share_setting import ShareSetting
from .steps import STEPS

_TYPED: Final = {"seed": int, "kafka": str, "policies": dict} | {
    each.name: type(each.default)
    for each in fields(Plan)
    if each.default is not MISSING and not isinstance(each.default, tuple)
}
"""The type of each plain value of a plan."""


def check(plan: Plan) -> Plan:
    """Returns the plan if everything in it is known. PlanError; UnknownReleaseError, UnknownPolicyError."""
    try:
        for name, kind in _TYPED.items():
            _check_type(name, getattr(plan, name), kind)
        if plan.cleanup not in CLEANUPS:
            raise ValueError(f"cleanup is {plan.cleanup!r}{nearest(plan.cleanup, CLEANUPS)}")
        _check_group(plan.group)
        _check_shares(plan.shares)
        _check_steps(plan.steps)
    except ValueError as error:
        raise HISTORIES.error(str(error)) from None
    Policies(parse(plan.kafka), plan.policies)
    return plan


def _check_group(group: GroupSetting) -> None:
    for name in ("members", "partitions"):
        _check_type(f"{name} of the group", value := getattr(group, name), int)
        if not 0 <= value <= MOST:
            raise ValueError(f"{name} of the group is {value!r}")
    for assignor in group.assignors:
        if assignor not in ASSIGNORS:
            raise ValueError(f"an assignor is {assignor!r}")


def _check_shares(shares: ShareSetting) -> None:
    for each in fields(ShareSetting):
        _check_type(f"{each.name} of the share group", getattr(shares, each.name), type(each.default))
    low, high = share_setting.DELIVERIES
    for name, least, most in (
        ("members", 0, share_setting.MOST),
        ("partitions", 1, share_setting.MOST),
        ("deliveries", low, high),
        ("lock_ms", share_setting.LEAST_LOCK_MS, share_setting.MOST_LOCK_MS),
        ("records", 1, share_setting.MOST_RECORDS),
    ):
        if not least <= getattr(shares, name) <= most:
            raise ValueError(f"{name} of the share group is {getattr(shares, name)!r}")


def _check_steps(steps: tuple[Step, ...]) -> None:
    before_ms = 0
    for number, step in enumerate(steps, 1):
        try:
            _check_step(step, before_ms)
        except ValueError as error:
            raise ValueError(f"step {number}: {error}") from None
        before_ms = step.at_ms


def _check_step(step: Step, before_ms: int) -> None:
    if step.do not in STEPS:
        raise ValueError(f"nothing is called {step.do!r}{nearest(str(step.do), STEPS)}")
    if not _is(step.at_ms, int) or step.at_ms < before_ms:
        raise ValueError(f"it is at {step.at_ms!r} ms, after one at {before_ms} ms")
    named = STEPS[step.do].parameters
    known = set(named) or _arguments(step.do)
    for name in known:
        if name not in step.args and (name not in named or named[name].required):
            raise ValueError(f"{step.do} lacks {name!r}")
    for name, value in step.args.items():
        if name not in known:
            raise ValueError(f"{step.do} has no {name!r}{nearest(name, known)}")
        if name in named:
            named[name].check(name, value)
        elif not _is(value, int) or value < 0:
            raise ValueError(f"{name} is {value!r}")
    if not 1 <= step.args.get("broker", 1) <= BROKERS:
        raise ValueError(f"there is no broker {step.args['broker']}, only 1 to {BROKERS}")


def _arguments(do: str) -> set[str]:
    """What a step takes: what is drawn for it, or what it gets from the step that it undoes."""
    names = set(STEPS[do].draw(random.Random(0)))
    for kind in STEPS.values():
        if kind.then == do:
            names |= UNDOES & set(kind.draw(random.Random(0)))
    return names


def _check_type(name: str, value: Any, kind: type) -> None:
    if not _is(value, kind):
        raise ValueError(f"{name} is {value!r}")


def _is(value: Any, kind: type) -> bool:
    if kind is float:
        kind = int | float  # type: ignore[assignment]
    return isinstance(value, kind) and (kind is bool or not isinstance(value, bool))
