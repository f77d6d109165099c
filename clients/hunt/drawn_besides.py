"""What plans have besides: replicas that take over, brokers that stay away, work that is said to have failed,
connections that are closed while nobody asks anything; members that subscribe to other topics, don't poll for
a moment, or think for too long.

It is drawn from streams of its own, so that the rest of a seed's plan stays what it was."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from random import Random
from typing import Final, get_args

from mockbroker.protocol.releases import parse

from . import manners
from .correspondence import user_of
from .drawn_calls import calls_of, on_call
from .drawn_events import SESSION_MS
from .plan import AFTER_ERRORS, LOOKS_MS, RACK, Fields, Loss, Plan, PlannedUser, Step, rack

_REPLICATED: Final = 0.6
"""So many plans with several brokers have a replica of each partition on each of them."""
_MORE: Final = 0.5
"""In so many of the plans in which something happens, one of these things happens."""
_ALONE: Final = 0.5
"""In so many of these nothing else does."""
_RESUBSCRIBES: Final = 0.25
"""In so many plans of members they subscribe to other topics now and then."""
_LOSSES: Final[Sequence[str]] = get_args(Loss)
_PLACED: Final = 0.75
"""So many brokers are lost as an application makes a call."""
_KEPT_AWAY: Final = 0.5
"""So many of the brokers that stop when they are asked something stay away."""
_WHEN_MS: Final = (0, 50, 200, 500, 1_000)
_DONE: Final[Mapping[str, Sequence[str]]] = {
    "Produce": ("REQUEST_TIMED_OUT", "NOT_ENOUGH_REPLICAS_AFTER_APPEND"),
    "OffsetCommit": ("COORDINATOR_NOT_AVAILABLE",),
    "TxnOffsetCommit": ("COORDINATOR_NOT_AVAILABLE",),
}
"""What brokers answer when they have written it, and the replicas do not have it in time
(ReplicaManager.appendRecords, CoordinatorOperationExceptionHelper)."""
_UNTIL_GIVEN_UP: Final = 1_000
_ASKED_BY: Final[Mapping[str, Sequence[str]]] = {
    "producer": ("Produce",),
    "transactions": ("Produce",),
    "processor": ("Produce", "TxnOffsetCommit"),
    "member": ("OffsetCommit",),
}
_RACKS: Final = 0.15
_SINCE_RACKS: Final = (2, 4)
_LATE: Final = 0.5
"""In so many plans a broker learns late of what is added."""
_LOOKS: Final[Fields] = {LOOKS_MS: 1_000}
_RESTED: Final[Mapping[str, Sequence[str]]] = {
    "producer": ("produce",),
    "transactions": ("produce", "commit-transaction"),
    "processor": ("produce", "send-offsets"),
    "member": ("poll", "commit"),
    "admin": ("create-topic", "create-partitions", "list-offsets"),
    "share-member": ("poll", "commit"),
}
"""What finds connections closed that nobody has used for a while."""
_THINKS: Final[Mapping[str, float]] = {"classic": 0.08, "consumer": 0.2}
"""So many plans of members, by their protocol, have one that thinks."""
_POLLS_MS: Final = 6_000
"""`max.poll.interval.ms` then: librdkafka wants no less than the session timeout."""
_THINKS_MS: Final = (6_100, 6_500, 7_000)
_HESITATES: Final = 0.5
"""In so many plans members don't poll for a moment, and do something else then: what their clients have been
told meanwhile they have not heard of."""
_MOMENTS_MS: Final = (50, 100, 200, 400, 1_000)


def with_besides(plan: Plan, capabilities: Collection[str] = ()) -> Plan:
    """The plan of a client that can do so much, with what plans have besides. The same gives the same."""
    return _looking(_near(_with_failovers(_with_lives(plan, capabilities))))


def _near(plan: Plan) -> Plan:
    """In some plans with replicas consumers read from the replica in their rack."""
    random = Random(f"hunt racks {plan.seed}")
    readers = [user.name for user in plan.users if user.kind == "member"]
    replicated = all(topic.replicas > 1 for topic in plan.topics)
    since = parse(plan.kafka).number >= _SINCE_RACKS
    if not (readers and replicated and since and random.random() < _RACKS):
        return plan
    racks = {name: {RACK: rack(random.randrange(1, plan.brokers + 1)), **_LOOKS} for name in readers}
    return replace(plan, racks=True, users=tuple(_configured(e, racks.get(e.name, {})) for e in plan.users))


def _looking(plan: Plan) -> Plan:
    """Where something is added, members find it soon."""
    if not any(step.do in ("add-partitions", "add-topic") for step in plan.steps):
        return plan
    users = (_configured(each, _LOOKS if each.fields.get("group") else {}) for each in plan.users)
    return replace(plan, users=tuple(users))


def _configured(user: PlannedUser, more: Fields) -> PlannedUser:
    """With more settings of its consumer."""
    if user.kind not in ("member", "processor") or not more:
        return user
    return replace(user, fields={**user.fields, "consumer": {**user.fields.get("consumer", {}), **more}})


def _with_lives(plan: Plan, capabilities: Collection[str]) -> Plan:
    random = Random(f"hunt lives {plan.seed}")
    members = [user for user in plan.users if user.kind == "member" and user.fields["group"]]
    if not members:
        return plan
    lives: dict[str, PlannedUser] = {}
    if "resubscribe" in capabilities and random.random() < _RESUBSCRIBES:
        lives = {user.name: _resubscribes(random, user) for user in members if _may_resubscribe(user)}
    if random.random() < _THINKS[members[0].fields.get("consumer", {}).get("group.protocol", "classic")]:
        thinks = random.choice(members)
        lives[thinks.name] = _thinks(random, lives.get(thinks.name, thinks))
    if random.random() < _HESITATES:
        for user in members:
            lives[user.name] = _hesitates(random, lives.get(user.name, user), capabilities)
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
    every = (step, *([again] * random.choice((0, 1))))
    return _with_steps(random, user, *((each, Step("poll")) for each in every))


def _thinks(random: Random, user: PlannedUser) -> PlannedUser:
    thinks = Step("think", 0, {"ms": random.choice(_THINKS_MS)})
    return _with_steps(random, _limited(user), (thinks, Step("poll")))


def _hesitates(random: Random, user: PlannedUser, capabilities: Collection[str]) -> PlannedUser:
    commits = Step("commit", 0, {AFTER_ERRORS: manners.wanted(random)})
    # A partition that is not paused goes on: so say all that have the call.
    resumes = [Step("resume", 0, {"every": True})] * ("pause" in capabilities)
    acts = [Step("leave-group"), Step("leave-group"), commits, *resumes]
    every = [
        (Step("think", 0, {"ms": random.choice(_MOMENTS_MS)}), random.choice(acts), Step("poll"))
        for _ in range(random.choice((1, 2, 3)))
    ]
    return _with_steps(random, user, *every)


def _limited(user: PlannedUser) -> PlannedUser:
    """A member that has to poll soon, and waits no longer than that for the answer to a JoinGroup."""
    return _configured(user, {"max.poll.interval.ms": _POLLS_MS})


def _with_steps(random: Random, user: PlannedUser, *more: Sequence[Step]) -> PlannedUser:
    """With more steps, those that belong together one after the other, after the first one of its own."""
    steps = list(user.steps)
    for some in more:
        at = random.randrange(1, len(steps) + 1)
        steps[at:at] = some
    return replace(user, steps=tuple(steps))


def _with_failovers(plan: Plan) -> Plan:
    """With leaders that can move, and sometimes one event more."""
    random = Random(f"hunt failovers {plan.seed}")
    replicated = random.random() < _REPLICATED and plan.brokers > 1
    if replicated:
        topics = tuple(replace(each, replicas=plan.brokers) for each in plan.topics)
        plan = replace(plan, topics=topics, steps=tuple(_kept_away(random, plan.steps)))
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


def _kept_away(random: Random, steps: Sequence[Step]) -> Iterator[Step]:
    """Of what stops as it is asked something, some does not come back."""
    for step in steps:
        stopped = step.do == "start-brokers" and "fault" in step.on
        yield replace(step, do="keep-away", after_ms=0) if stopped and random.random() < _KEPT_AWAY else step


def _event(random: Random, plan: Plan, replicated: bool) -> list[Step]:
    after_ms = random.choice(_WHEN_MS)
    # What a whole application asks for is not known, and it may do without records that are deleted.
    whole = user_of(plan) is not None
    events = ["all"] + ["done"] * any(_done_for(plan)) + ["away"] * 3 * replicated
    events += ["for a while"] * 2 * (plan.brokers > 1) + ["idle", "recreated"] * (not whole)
    readers = [user for user in plan.users if user.kind in ("member", "processor") and user.fields["group"]]
    matching = [user for user in readers if "pattern" in user.fields]
    events += ["widened"] * any(readers) + ["appears"] * 3 * any(matching)
    match random.choice(events):
        case "away":
            fields = {**_one(random, plan), "how": random.choice(_LOSSES)}
            # Whoever has not asked anything yet knows nothing that could be wrong then.
            on = _call(random, plan) if random.random() < _PLACED else {}
            return [Step("lose-broker", 0 if on else after_ms, fields, on)]
        case "for a while":
            how, on = random.choice(("stop", "kill")), _call(random, plan)
            back_ms = random.choice((300, 1_000)) if how == "stop" else SESSION_MS + 500
            goes = Step("lose-broker", 0, {**_one(random, plan), "how": how, "for_good": False}, on)
            return [goes, Step("start-brokers", back_ms, on=on)]
        case "idle":
            after = [(user.name, call) for user in plan.users for call in _RESTED.get(user.kind, ())]
            user, call = random.choice(after)
            return [Step("close-idle", 0, {}, {"user": user, "call": call, "nth": random.randrange(2, 12)})]
        case "widened" | "appears" as event:
            slow = {"broker": random.randrange(1, plan.brokers + 1), "delay_ms": random.choice((300, 1_500))}
            late = [Step("slow-metadata", 0, slow)] * (plan.brokers > 1 and random.random() < _LATE)
            if event == "appears":
                new = {"topic": f"{plan.topics[0].name}-too", "partitions": random.choice((1, 2))}
                return [*late, Step("add-topic", after_ms, new)]
            topic = random.choice([each for user in readers for each in user.fields["topics"]])
            return [*late, Step("add-partitions", after_ms, {"topic": topic, "by": random.choice((1, 2))})]
        case "recreated":
            again = [Step("recreate-topic", 0, {"topic": each.name}) for each in plan.topics] * 2
            return [replace(each, after_ms=random.choice((0, 100, 500))) for each in again]
        case "done":
            api = random.choice(_done_for(plan))
            fault = {"do": "error", "when": "after", "api": api, "error": random.choice(_DONE[api])}
            times = random.choice((1, 1, _UNTIL_GIVEN_UP))
            return [Step("fault", after_ms, {**fault, "nth": random.choice((1, 1, 2, 3)), "times": times})]
        case _:
            how = random.choice(("stop", "kill"))
            back_ms = random.choice((300, 1_000) if how == "stop" else (SESSION_MS + 500, 4_000))
            return [Step("lose-all", after_ms, {"how": how}), Step("start-brokers", back_ms)]


def _one(random: Random, plan: Plan) -> Fields:
    """A broker: any, or the one that coordinates or leads what an application asks for."""
    topic = random.choice(plan.topics)
    which: list[Fields] = [{"broker": random.randrange(1, plan.brokers + 1)}]
    which.append({"topic": topic.name, "partition": random.randrange(topic.partitions)})
    groups = {user.fields["group"]: None for user in plan.users if user.fields.get("group")}
    which += [{"group": each} for each in groups for _ in range(2)]
    ids = {user.config["transactional.id"]: None for user in plan.users if "transactional.id" in user.config}
    which += [{"transactional_id": each} for each in ids]
    return random.choice(which)


def _call(random: Random, plan: Plan) -> Fields:
    made = [(user.name, call, n) for user in plan.users for call, n in calls_of(user).items()]
    return on_call(random, *random.choice(made)) if made else {}


def _done_for(plan: Plan) -> list[str]:
    """The requests of which a broker may do so: none that is content with the leader (acks=1)."""
    if any(user.config.get("acks") == "1" for user in plan.users):
        return []
    return list(dict.fromkeys(api for user in plan.users for api in _ASKED_BY.get(user.kind, ())))
