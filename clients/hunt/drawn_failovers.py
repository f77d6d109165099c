"""What plans have besides: replicas that take over, brokers that stay away, work that is said to have failed.

It is drawn from a stream of its own, so that the rest of a seed's plan stays what it was."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from random import Random
from typing import Final

from .drawn_events import SESSION_MS
from .plan import Plan, Step

_REPLICATED: Final = 0.6
"""So many plans with several brokers have a replica of each partition on each of them."""
_MORE: Final = 0.4
"""In so many of the plans in which something happens, one of these things happens."""
_ALONE: Final = 0.5
"""In so many of these nothing else does."""
_LOSSES: Final = ("stop", "kill", "hang")
_WHEN_MS: Final = (0, 50, 200, 500, 1_000)
_DONE: Final[Mapping[str, Sequence[str]]] = {
    "Produce": ("REQUEST_TIMED_OUT", "NOT_ENOUGH_REPLICAS_AFTER_APPEND"),
    "OffsetCommit": ("COORDINATOR_NOT_AVAILABLE",),
    "TxnOffsetCommit": ("COORDINATOR_NOT_AVAILABLE",),
}
"""What brokers answer when they have written it, and the replicas do not have it in time
(ReplicaManager.appendRecords, CoordinatorOperationExceptionHelper)."""
_ASKED_BY: Final[Mapping[str, Sequence[str]]] = {
    "producer": ("Produce",),
    "transactions": ("Produce",),
    "processor": ("Produce", "TxnOffsetCommit"),
    "member": ("OffsetCommit",),
}


def with_failovers(plan: Plan) -> Plan:
    """The plan, with leaders that can move, and sometimes one event more. The same plan gives the same."""
    random = Random(f"hunt failovers {plan.seed}")
    replicated = random.random() < _REPLICATED and plan.brokers > 1
    if replicated:
        topics = tuple(replace(each, replicas=plan.brokers) for each in plan.topics)
        plan = replace(plan, topics=topics)
    if not plan.steps or random.random() >= _MORE:
        return plan
    kept = () if random.random() < _ALONE else plan.steps
    return replace(plan, steps=(*kept, *_event(random, plan, replicated)))


def _event(random: Random, plan: Plan, replicated: bool) -> list[Step]:
    after_ms = random.choice(_WHEN_MS)
    events = ["all"] + ["done"] * any(_done_for(plan)) + ["away"] * 3 * replicated
    match random.choice(events):
        case "away":
            fields = {"broker": random.randrange(1, plan.brokers + 1), "how": random.choice(_LOSSES)}
            return [Step("lose-broker", after_ms, fields)]
        case "done":
            api = random.choice(_done_for(plan))
            fault = {"do": "error", "when": "after", "api": api, "error": random.choice(_DONE[api])}
            return [Step("fault", after_ms, {**fault, "nth": random.choice((1, 1, 2, 3)), "times": 1})]
        case _:
            how = random.choice(("stop", "kill"))
            back_ms = random.choice((300, 1_000) if how == "stop" else (SESSION_MS + 500, 4_000))
            return [Step("lose-all", after_ms, {"how": how}), Step("start-brokers", back_ms)]


def _done_for(plan: Plan) -> list[str]:
    """The requests of which a broker may do so: none that is content with the leader (acks=1)."""
    if any(user.config.get("acks") == "1" for user in plan.users):
        return []
    return list(dict.fromkeys(api for user in plan.users for api in _ASKED_BY.get(user.kind, ())))
