"""What happens to the cluster of a plan, by seed: faults, verbs, and what else operators do."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any, Final

from mockbroker.protocol.errors import ErrorCode

from .drawn_calls import calls_of
from .drawn_faults import Aiming, Guide, assumed
from .legal import FAULTS, SHARE_FAULTS, faults_of
from .plan import PlannedTopic, PlannedUser, Step

SESSION_MS: Final = 1_500
"""`broker.session.timeout.ms`: how long a broker that was killed or cut off still counts."""
_DISCONNECTS: Final = ("before", "after")
_QUIET: Final = 0.25
"""So many plans have nothing happen to the cluster."""
_AIMED: Final = {False: 0.5, True: 0.75}
"""So many of the others have a fault that is tied to a request: without a guide, and with one."""
_THINKS_MS: Final = 12_000
"""Longer than the transaction timeout of a plan."""
_ILLEGAL: Final[tuple[dict[str, Any], ...]] = (
    {"do": "error"},
    {"do": "wrong-correlation-id"},
    {"do": "reorder", "ms": 500},
)
_COORDINATED: Final = ("OffsetFetch", "JoinGroup", "SyncGroup", "OffsetCommit", "ConsumerGroupHeartbeat")
_OF_MEMBERS: Final = ("Heartbeat", "SyncGroup", "OffsetCommit", "ConsumerGroupHeartbeat")
_CODES: Final = tuple(each.name for each in ErrorCode if each is not ErrorCode.NONE)


@dataclass(frozen=True)
class Subjects:
    """What a plan is about. Of a whole application, the `users` are not known."""

    topics: Sequence[PlannedTopic]
    users: Sequence[PlannedUser]
    apis: Sequence[str]
    groups: Sequence[str] = ()
    transactional_ids: Sequence[str] = ()
    shares: bool = False
    """Whether the groups are share groups."""

    def asking(self, apis: Sequence[str]) -> Sequence[str]:
        """Those of the APIs of members by which the members of its groups ask."""
        return ("ShareGroupHeartbeat",) if self.shares else [each for each in apis if each in self.apis]


class Events:
    """`keeps`: whether no records may be deleted; `illegal`: whether brokers also answer what none does."""

    def __init__(
        self, random: Random, brokers: int, *, keeps: bool, illegal: bool, guide: Guide | None = None
    ) -> None:
        self._random, self._brokers, self._keeps, self._illegal = random, brokers, keeps, illegal
        self._guide = guide

    def drawn(self, about: Subjects, workload: str, seed: int) -> tuple[Step, ...]:
        """Those of a plan: none at all in a quarter of the plans."""
        random, steps = self._random, list[Step]()
        if random.random() < _QUIET:
            return ()
        if about.users and random.random() < _AIMED[self._guide is not None]:
            return tuple(self._aimed(about, workload, seed))
        for _ in range(random.choice((1, 1, 2, 3, 5))):
            steps += self._event(about)
        return tuple(steps)

    def _aimed(self, about: Subjects, workload: str, seed: int) -> list[Step]:
        users: dict[str, Mapping[str, int]] = {user.name: calls_of(user) for user in about.users}
        for user in about.users:
            if user.kind == "processor":
                users[f"{user.name}-in"] = {"subscribe": 1, "poll": len(user.steps)}
        asked = () if self._guide is None else self._guide.asked(workload)
        calls = dict.fromkeys(call for calls in users.values() for call in calls)
        aiming = Aiming(
            self._random,
            asked or assumed(about.apis, [*calls]),
            users,
            transactional=bool(about.transactional_ids),
            brokers=self._brokers,
        )
        return aiming.steps(self._guide, workload, seed)

    def _event(self, about: Subjects) -> list[Step]:
        random, after_ms = self._random, self._random.choice((0, 0, 50, 200, 500))
        topics, apis, groups = about.topics, about.apis, about.groups
        transactional_ids = about.transactional_ids
        topic = random.choice(topics)
        at = {"topic": topic.name, "partition": random.randrange(topic.partitions)}
        broker = {"broker": random.randrange(1, self._brokers + 1)}
        events = ["error", "error", "error", "disconnect", "delay", "restart"]
        # No expire-producer: what a client sends again after that is written twice, as it should be.
        events += [] if self._keeps else ["delete-records", "recreate-topic"]
        events += ["pass-time", "drop-fetch-sessions", "throttle", "packets", "close-idle", "add-partitions"]
        thinking = [user.name for user in about.users if user.kind in ("transactions", "processor")]
        events += ["think"] if thinking else []
        events += ["evict-member", "evict-member"] if groups else []
        events += ["expire-transactional-id"] if transactional_ids else []
        if self._brokers > 1:
            events += ["move-leader", "stop", "slow-metadata", "kill", "cut-off", "pause-follower"]
            events += ["rolling-restart"]
            events += ["move-coordinator", "move-coordinator"] if groups or transactional_ids else []
            events += ["lose-coordinators"] if groups or transactional_ids else []
            events += ["move-when-asked"] if groups else []
        events += ["illegal"] * 4 if self._illegal else []
        if about.shares:
            events += ["expire-locks", "drop-share-sessions"] * 3
            events += ["move-share-state"] * (self._brokers > 1)
        event = random.choice(events)
        match event:
            case "illegal":
                fault = random.choice(_ILLEGAL)
                if fault["do"] == "error":
                    fault = {**fault, "error": random.choice(_CODES)}
                return [Step("fault", after_ms, {**fault, "api": random.choice(apis), "times": 1})]
            case "error":
                api = random.choice([each for each in apis if each in FAULTS or each in SHARE_FAULTS])
                possible = faults_of(api, transactional=bool(transactional_ids))
                fault = {"do": "error", "api": api, **random.choice(possible)}
                return [Step("fault", after_ms, {**fault, "times": random.choice((1, 1, 2, 5))})]
            case "disconnect":
                when = random.choice(_DISCONNECTS)
                fault = {"do": "disconnect", "api": random.choice(apis), "when": when}
                return [Step("fault", after_ms, {**fault, "times": random.choice((1, 1, 3))})]
            case "delay":
                delay: dict[str, Any] = {
                    "do": "delay",
                    "api": random.choice(apis),
                    "ms": random.choice((100, 500, 1_500)),
                }
                return [Step("fault", after_ms, {**delay, "times": random.choice((1, 3))})]
            case "move-when-asked":
                api = random.choice(about.asking(_COORDINATED))
                return [Step("fault", after_ms, {"do": "move-coordinator", "api": api, "times": 1})]
            case "restart" | "stop":
                back_ms = random.choice((50, 300, 1_000))
                return [Step("stop-broker", after_ms, broker), Step("start-broker", back_ms, broker)]
            case "kill":
                return [
                    Step("kill-broker", after_ms, broker),
                    Step("start-broker", SESSION_MS + 500, broker),
                ]
            case "cut-off":
                back_ms = random.choice((300, SESSION_MS + 500))
                return [Step("cut-off-broker", after_ms, broker), Step("rejoin-broker", back_ms, broker)]
            case "pause-follower":
                return [Step("pause-follower", after_ms, {**at, **broker})]
            case "evict-member":
                api = random.choice(about.asking(_OF_MEMBERS))
                return [Step("fault", after_ms, {"do": "evict-member", "api": api, "times": 1})]
            case "throttle":
                # Request quotas are for every API, client quotas for those that carry records.
                limited = random.choice(({}, {"api": ["Produce", "Fetch"]}))
                fault = {"do": "quota", **limited, "ms": random.choice((100, 400, 1_000))}
                return [Step("fault", after_ms, {**fault, "times": random.choice((3, 10, 30))})]
            case "packets":
                fault = {"do": "slow-bytes", "bytes": random.choice((1, 7, 50)), "ms": 1}
                return [Step("fault", after_ms, {**fault, "times": random.choice((1, 5, 20))})]
            case "think":
                user = random.choice(thinking)
                calls = ("commit-transaction", "abort-transaction", "send-offsets", "produce")
                on = {"user": user, "call": random.choice(calls), "nth": random.choice((1, 2))}
                return [Step("pass-time", 0, {"by_ms": _THINKS_MS}, on)]
            case "rolling-restart":
                down_ms, up_ms = random.choice((50, 300)), random.choice((100, 500))
                return [
                    step
                    for each in range(1, self._brokers + 1)
                    for step in (
                        Step("stop-broker", up_ms, {"broker": each}),
                        Step("start-broker", down_ms, {"broker": each}),
                    )
                ]
            case "lose-coordinators":
                if random.random() < 0.5:
                    every = [{"group": name} for name in groups]
                    every += [{"transactional_id": name} for name in transactional_ids]
                    return [Step("move-coordinator", 0, fields) for fields in every]
                down = random.sample(range(1, self._brokers + 1), self._brokers - 1)
                killed = [Step("kill-broker", 0, {"broker": each}) for each in down]
                return [*killed, Step("start-brokers", SESSION_MS + 500)]
            case "close-idle":
                return [Step(event, after_ms)]
            case "add-partitions":
                return [Step(event, after_ms, {"topic": topic.name, "by": random.choice((1, 2))})]
            case "expire-transactional-id":
                return [Step(event, after_ms, {"transactional_id": random.choice(transactional_ids)})]
            case "expire-locks":
                return [Step(event, after_ms, {"group": random.choice(groups)})]
            case "move-share-state":
                state = {"topic": "__share_group_state", "partition": 0}
                return [Step("move-leader", after_ms, state)]
            case "drop-fetch-sessions" | "drop-share-sessions":
                return [Step(event, after_ms, broker)]
            case "delete-records" | "recreate-topic":
                return [Step(event, after_ms, at if event == "delete-records" else {"topic": topic.name})]
            case "pass-time":
                return [Step("pass-time", after_ms, {"by_ms": random.choice((1_000, 7_000, 12_000))})]
            case "move-leader":
                return [Step("move-leader", after_ms, at)]
            case "slow-metadata":
                return [Step("slow-metadata", after_ms, {**broker, "delay_ms": random.choice((200, 1_000))})]
            case _:
                which = [{"group": each} for each in groups]
                which += [{"transactional_id": each} for each in transactional_ids]
                return [Step("move-coordinator", after_ms, random.choice(which))]
