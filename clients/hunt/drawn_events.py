"""What happens to the cluster of a plan, by seed: faults, verbs, and what else operators do."""

from collections.abc import Sequence
from random import Random
from typing import Any, Final

from mockbroker.protocol.errors import ErrorCode

from .legal import FAULTS, faults_of
from .plan import PlannedTopic, Step

SESSION_MS: Final = 1_500
"""`broker.session.timeout.ms`: how long a broker that was killed or cut off still counts."""
_DISCONNECTS: Final = ("before", "after")
_QUIET: Final = 0.25
"""So many plans have nothing happen to the cluster."""
_ILLEGAL: Final[tuple[dict[str, Any], ...]] = (
    {"do": "error"},
    {"do": "wrong-correlation-id"},
    {"do": "reorder", "ms": 500},
)
_CODES: Final = tuple(each.name for each in ErrorCode if each is not ErrorCode.NONE)


class Events:
    """`keeps`: whether no records may be deleted; `illegal`: whether brokers also answer what none does."""

    def __init__(self, random: Random, brokers: int, *, keeps: bool, illegal: bool) -> None:
        self._random, self._brokers, self._keeps, self._illegal = random, brokers, keeps, illegal

    def drawn(
        self,
        topics: Sequence[PlannedTopic],
        apis: Sequence[str],
        groups: Sequence[str],
        transactional_ids: Sequence[str],
    ) -> tuple[Step, ...]:
        """Those of a plan: none at all in a quarter of the plans."""
        steps: list[Step] = []
        if self._random.random() >= _QUIET:
            for _ in range(self._random.choice((1, 1, 2, 3, 5))):
                steps += self._event(topics, apis, groups, transactional_ids)
        return tuple(steps)

    def _event(
        self,
        topics: Sequence[PlannedTopic],
        apis: Sequence[str],
        groups: Sequence[str],
        transactional_ids: Sequence[str],
    ) -> list[Step]:
        random, after_ms = self._random, self._random.choice((0, 0, 50, 200, 500))
        topic = random.choice(topics)
        at = {"topic": topic.name, "partition": random.randrange(topic.partitions)}
        broker = {"broker": random.randrange(1, self._brokers + 1)}
        events = ["error", "error", "error", "disconnect", "delay", "restart"]
        # No expire-producer: what a client sends again after that is written twice, as it should be.
        events += [] if self._keeps else ["delete-records", "recreate-topic"]
        events += ["pass-time", "drop-fetch-sessions"]
        events += ["evict-member", "evict-member"] if groups else []
        events += ["expire-transactional-id"] if transactional_ids else []
        if self._brokers > 1:
            events += ["move-leader", "stop", "slow-metadata", "kill", "cut-off", "pause-follower"]
            events += ["move-coordinator", "move-coordinator"] if groups or transactional_ids else []
            events += ["move-when-asked"] if groups else []
        events += ["illegal"] * 4 if self._illegal else []
        event = random.choice(events)
        match event:
            case "illegal":
                fault = random.choice(_ILLEGAL)
                if fault["do"] == "error":
                    fault = {**fault, "error": random.choice(_CODES)}
                return [Step("fault", after_ms, {**fault, "api": random.choice(apis), "times": 1})]
            case "error":
                api = random.choice([each for each in apis if each in FAULTS])
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
                api = random.choice(("OffsetFetch", "JoinGroup", "SyncGroup", "OffsetCommit"))
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
                api = random.choice(("Heartbeat", "SyncGroup", "OffsetCommit"))
                return [Step("fault", after_ms, {"do": "evict-member", "api": api, "times": 1})]
            case "expire-transactional-id":
                return [Step(event, after_ms, {"transactional_id": random.choice(transactional_ids)})]
            case "drop-fetch-sessions":
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
