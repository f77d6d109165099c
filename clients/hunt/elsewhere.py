"""Which plans can be played with a real cluster, where there are only requests."""

from collections.abc import Iterator, Sequence
from typing import Final

from mockbroker.faults import FaultError
from mockbroker.proxying.faults import check
from mockbroker.scenario.scenario import fault_in

from .plan import Plan, Step
from .shares import Sharing

_BY_REQUESTS: Final = frozenset({"delete-records", "delete-topic", "recreate-topic"})


def lacks(plan: Plan) -> Sequence[str]:
    """What of a plan only a mock can do, each once."""
    return tuple(dict.fromkeys(_lacks(plan)))


def _lacks(plan: Plan) -> Iterator[str]:
    if plan.racks:
        yield "racks of its own"
    if plan.security:
        yield "TLS and logins"
    if any(user.kind == Sharing.kind for user in plan.users):
        yield "what brokers know of share groups"
    for step in plan.steps:
        if not _is_possible(step):
            yield f"the fault {step.fields['do']}" if step.do == "fault" else step.do


def _is_possible(step: Step) -> bool:
    if step.do != "fault":
        return step.do in _BY_REQUESTS
    try:
        check(fault_in(step.fields))
    except FaultError:
        return False
    return True
