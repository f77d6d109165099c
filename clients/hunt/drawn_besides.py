"""What plans have besides: replicas that take over, brokers that stay away, work that is said to have failed;
members that subscribe to other topics, and such as think for too long.

It is drawn from streams of its own, so that the rest of a seed's plan stays what it was."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from random import Random
from typing import Final, get_args

from .drawn_events import CALLS, SESSION_MS
from .plan import Fields, Loss, Plan, PlannedUser, Step

_REPLICATED: Final = 0.6
"""So many plans with several brokers have a replica of each partition on each of them."""
_MORE: Final = 0.4
"""In so many of the plans in which something happens, one of these things happens."""
_ALONE: Final = 0.5
"""In so many of these nothing else does."""
_RESUBSCRIBES: Final = 0.25
"""In so many plans of members they subscribe to other topics now and then."""
_LOSSES: Final[Sequence[str]] = get_args(Loss)
_PLACED: Final = 0.75
"""So many brokers are lost as an application makes a call."""
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
_THINKS: Final = 0.08
"""So many plans of members have one that thinks."""
_POLLS_MS: Final = 6_000
"""`max.poll.interval.ms` then: librdkafka wants no less than the session timeout."""
_THINKS_MS: Final = 7_000


def with_besides(plan: Plan, capabilities: Collection[str] = ()) -> Plan:
    """The plan of a client that can do so much, with what plans have besides. The same gives the same."""
    return _with_failovers(_with_lives(plan, capabilities))


def _with_lives(plan: Plan, capabilities: Collection[str]) -> Plan:
    random = Random(f"hunt lives {plan.seed}")
    members = [user for user in plan.users if user.kind == "member" and user.fields["group"]]
    if not members:
        return plan
    lives: dict[str, PlannedUser] = {}
    if "resubscribe" in capabilities and random.random() < _RESUBSCRIBES:
        lives = {user.name: _resubscribes(random, user) for user in members if _may_resubscribe(user)}
    if random.random() < _THINKS:
        thinks = random.choice(members)
        lives[thinks.name] = _thinks(random, lives.get(thinks.name, thinks))
    return replace(plan, users=tuple(lives.get(user.name, user) for user in plan.users))


def _may_resubscribe(user: PlannedUser) -> bool:
    """A regular expression and names exclude each other. A static member that comes back gets what it had:
    brokers don't look at what it subscribes to then (updateStaticMemberThenRebalanceOrCompleteJoin)."""
    return "pattern" not in user.fields and "group.instance.id" not in user.fields.get("consumer", {})


def _resubscribes(random: Random, user: PlannedUser) -> PlannedUser:
    topics = user.fields["topics"]
    some = random.sample(topics, random.randrange(1, len(topics) + 1))
    step = Step("resubscribe", random.choice((0, 20, 300)), {"topics": sorted(some)})
    again = Step("resubscribe", random.choice((0, 20, 300)), {"topics": list(topics)})
    return _with_steps(random, user, step, *([again] * random.choice((0, 1))))


def _thinks(random: Random, user: PlannedUser) -> PlannedUser:
    return _with_steps(random, _limited(user), Step("think", 0, {"ms": _THINKS_MS}))


def _limited(user: PlannedUser) -> PlannedUser:
    """A member that has to poll soon, and waits no longer than that for the answer to a JoinGroup."""
    consumer = {**user.fields.get("consumer", {}), "max.poll.interval.ms": _POLLS_MS}
    return replace(user, fields={**user.fields, "consumer": consumer})


def _with_steps(random: Random, user: PlannedUser, *more: Step) -> PlannedUser:
    """With more steps, each followed by a poll, after the first one of its own."""
    steps = list(user.steps)
    for each in more:
        at = random.randrange(1, len(steps) + 1)
        steps[at:at] = [each, Step("poll")]
    return replace(user, steps=tuple(steps))


def _with_failovers(plan: Plan) -> Plan:
    """With leaders that can move, and sometimes one event more."""
    random = Random(f"hunt failovers {plan.seed}")
    replicated = random.random() < _REPLICATED and plan.brokers > 1
    if replicated:
        topics = tuple(replace(each, replicas=plan.brokers) for each in plan.topics)
        plan = replace(plan, topics=topics)
    if not plan.steps or random.random() >= _MORE:
        return plan
    kept = () if random.random() < _ALONE else plan.steps
    event = _event(random, plan, replicated)
    if any(step.fields.get("how") == "hang" for step in event):
        # By default clients wait for five minutes for a coordinator that hangs.
        plan = replace(plan, users=tuple(map(_limited_if_member, plan.users)))
    return replace(plan, steps=(*kept, *event))


def _limited_if_member(user: PlannedUser) -> PlannedUser:
    return _limited(user) if user.kind == "member" and user.fields["group"] else user


def _event(random: Random, plan: Plan, replicated: bool) -> list[Step]:
    after_ms = random.choice(_WHEN_MS)
    events = ["all"] + ["done"] * any(_done_for(plan)) + ["away"] * 3 * replicated
    match random.choice(events):
        case "away":
            fields = {"broker": random.randrange(1, plan.brokers + 1), "how": random.choice(_LOSSES)}
            # Whoever has not asked anything yet knows nothing that could be wrong then.
            on = _call(random, plan) if random.random() < _PLACED else {}
            return [Step("lose-broker", 0 if on else after_ms, fields, on)]
        case "done":
            api = random.choice(_done_for(plan))
            fault = {"do": "error", "when": "after", "api": api, "error": random.choice(_DONE[api])}
            return [Step("fault", after_ms, {**fault, "nth": random.choice((1, 1, 2, 3)), "times": 1})]
        case _:
            how = random.choice(("stop", "kill"))
            back_ms = random.choice((300, 1_000) if how == "stop" else (SESSION_MS + 500, 4_000))
            return [Step("lose-all", after_ms, {"how": how}), Step("start-brokers", back_ms)]


def _call(random: Random, plan: Plan) -> Fields:
    calls = [(user.name, call) for user in plan.users for call in CALLS.get(user.kind, ())]
    if not calls:
        return {}
    user, call = random.choice(calls)
    return {"user": user, "call": call, "nth": random.choice((1, 2, 2, 3))}


def _done_for(plan: Plan) -> list[str]:
    """The requests of which a broker may do so: none that is content with the leader (acks=1)."""
    if any(user.config.get("acks") == "1" for user in plan.users):
        return []
    return list(dict.fromkeys(api for user in plan.users for api in _ASKED_BY.get(user.kind, ())))
