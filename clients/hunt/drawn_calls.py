"""Which calls of the applications of a plan make their clients ask something, and how many there are of each:
what waits for a call should wait for one that comes."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from random import Random
from typing import Final

from .plan import Fields, PlannedUser, Step

_MOST: Final = 3
"""What waits for a call waits for this one at most: later ones are like it."""
_ASKED: Final[Mapping[str, str]] = {
    "create": "create-topic",
    "widen": "create-partitions",
    "list": "list-offsets",
    "trim": "delete-records",
    "alter": "alter-config",
}


def _of_producer(step: Step) -> Iterable[str]:
    return (step.do,) if step.do == "flush" else ()


def _of_transactions(step: Step) -> Iterable[str]:
    if step.do != "transact":
        return ()
    return ("begin", "commit-transaction" if step.fields["commits"] else "abort-transaction")


def _of_processor(step: Step) -> Iterable[str]:
    return ("begin", "send-offsets", *(("commit-transaction",) if step.fields["commits"] else ()))


def _of_member(step: Step) -> Iterable[str]:
    match step.do:
        case "commit":
            return ("commit",)
        case "leave-group":
            return ("close", "subscribe")
        case "resubscribe":
            return ("subscribe",)
    return ()


def _of_admin(step: Step) -> Iterable[str]:
    return (_ASKED[step.do],) if step.do in _ASKED else ()


def _of_share_member(step: Step) -> Iterable[str]:
    return ("poll", step.fields["ends"]) if step.do == "work" else ("close", "subscribe")


_KINDS: Final[Mapping[str, Callable[[Step], Iterable[str]]]] = {
    "producer": _of_producer,
    "transactions": _of_transactions,
    "processor": _of_processor,
    "member": _of_member,
    "admin": _of_admin,
    "share-member": _of_share_member,
}


def calls_of(user: PlannedUser) -> Counter[str]:
    """How often an application makes each call, as long as nothing goes wrong."""
    of_step = _KINDS.get(user.kind)
    if of_step is None:
        return Counter()
    made = Counter(call for step in user.steps for call in of_step(step))
    if user.kind in ("member", "share-member"):
        made["subscribe"] += 1
        if not user.fields["group"]:
            return Counter()
        if user.fields.get("consumer", {}).get("enable.auto.commit"):
            del made["commit"]
    return made


def on_call(random: Random, user: str, call: str, count: int) -> Fields:
    """One of the `count` calls of a user, as a step waits for it."""
    return {"user": user, "call": call, "nth": random.randrange(1, min(max(count, 1), _MOST) + 1)}
