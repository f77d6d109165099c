"""How applications behave, drawn: the settings of their clients, and their steps."""

from collections.abc import Collection, Sequence
from random import Random
from typing import Any, Final

from mockbroker.protocol.releases import parse

from ..drivers.documentation import Act
from .plan import AFTER_ERRORS, PlannedTopic, Step

CONSUMER_PROTOCOL: Final = {
    "group.consumer.heartbeat.interval.ms": "300",
    "group.consumer.min.heartbeat.interval.ms": "300",
    "group.consumer.session.timeout.ms": "6000",
    "group.consumer.min.session.timeout.ms": "6000",
}
"""What brokers decide with the consumer protocol, as the clients' own timers have it with the classic one."""
SHARE_GROUPS: Final = {
    "group.share.heartbeat.interval.ms": "300",
    "group.share.min.heartbeat.interval.ms": "300",
    "group.share.session.timeout.ms": "6000",
    "group.share.min.session.timeout.ms": "6000",
    "group.share.record.lock.duration.ms": "10000",
    "group.share.min.record.lock.duration.ms": "10000",
    "group.share.assignment.interval.ms": "0",
    "share.coordinator.state.topic.num.partitions": "1",
}
"""The same with share groups. Locks end long before an application has given up."""
_SAYS: Final = ("accept", "accept", "accept", "release", "reject")
_SINCE: Final = (4, 0)
_AUTO_COMMIT_MS: Final = 200
CODEC: Final = "compression.type"
ASSIGNOR: Final = "partition.assignment.strategy"
"""Settings of which drivers say as capabilities which values they take: `compression.type=zstd`."""
_SINCE_ZSTD: Final = (2, 1)
_SIZES: Final = (2_000, 20_000, 100_000)
_KEYS: Final = ("", "\xff\x00")
_HEADERS: Final = ("", "a", "b", "\u00fc")
_HEADED: Final = ("", "text", "\xff\x00")
_ASKED: Final = {
    "alter-config": "alter",
    "describe-config": "describe",
    "delete-records": "trim",
    "list-offsets": "list",
}
"""The steps by which an operator uses what drivers call so."""
MEANWHILE: Final = ("begin", "end", "otherwise", "send", "close")
"""What an application does while it begins or ends a transaction: begins another, ends it again, or in the
other way, sends, or closes its producer."""


def wanted(random: Random) -> list[Act]:
    """What an application does after an error, if the client's documentation allows it."""
    return random.sample(list(Act), 2)


def protocol(random: Random, capabilities: Collection[str], kafka: str) -> dict[str, str]:
    """The protocol of a group, as a setting."""
    both = "consumer-protocol" in capabilities and parse(kafka).number >= _SINCE
    return {"group.protocol": "consumer"} if both and random.random() < 0.4 else {}


def values(capabilities: Collection[str], setting: str) -> list[str]:
    """Those of a setting that the driver says it can take, in their order."""
    return sorted(e.removeprefix(f"{setting}=") for e in capabilities if e.startswith(f"{setting}="))


def codec(random: Random, capabilities: Collection[str], kafka: str) -> dict[str, str]:
    """The codec of a producer, as a setting (zstd: KIP-110)."""
    since = parse(kafka).number >= _SINCE_ZSTD
    known = [each for each in values(capabilities, CODEC) if each != "zstd" or since]
    return {CODEC: random.choice(known)} if known and random.random() < 0.5 else {}


def content(random: Random, capabilities: Collection[str], topic: PlannedTopic) -> dict[str, Any]:
    """What is peculiar about records, as fields of the step that sends them: that they are large, their key,
    their headers."""
    fields: dict[str, Any] = {}
    if "max.message.bytes" not in topic.config and random.random() < 0.15:
        fields["size"] = random.choice(_SIZES)
    if random.random() < 0.15:
        fields["key"] = random.choice(_KEYS if topic.compacted else (*_KEYS, None))
    if "headers" in capabilities and random.random() < 0.25:
        # Some libraries take them as a mapping: those of one name are together.
        names = sorted(random.choice(_HEADERS) for _ in range(random.choice((1, 2, 4))))
        headed = (*_HEADED, *((None,) if "null-headers" in capabilities else ()))
        fields["headers"] = [[name, random.choice(headed)] for name in names]
    return fields


def going(random: Random, capabilities: Collection[str], *, to_the_end: bool) -> dict[str, Any]:
    """Where a member goes, as fields of its step."""
    where = ["beginning", "offset", "offset"]
    where += ["end"] if to_the_end else []
    where += ["timestamp"] if "offsets-for-times" in capabilities else []
    to = random.choice(where)
    return {"to": to, "by": -random.choice((0, 1, 2, 5))} if to in ("offset", "timestamp") else {"to": to}


def group(random: Random, capabilities: Collection[str], kafka: str, topic: str) -> dict[str, Any]:
    """What the members of a group have in common, as fields of a user. The names of its topics, and of no
    others, begin with `topic`."""
    consumer: dict[str, Any] = {**protocol(random, capabilities, kafka)}
    fields: dict[str, Any] = {"consumer": consumer}
    if random.random() < 0.2:
        consumer |= {"enable.auto.commit": True, "auto.commit.interval.ms": _AUTO_COMMIT_MS}
    if random.random() < 0.2:
        consumer["max.poll.records"] = 1
    assignors = values(capabilities, ASSIGNOR)
    if assignors and "group.protocol" not in consumer and random.random() < 0.6:
        consumer[ASSIGNOR] = random.choice(assignors)
    if "patterns" in capabilities and random.random() < 0.2:
        fields["pattern"] = f"^{topic}.*"
    return fields


RETENTION: Final = "retention.ms"
_RETAINED: Final = ("3600000", "7200000", "86400000")


def _asking(random: Random, capabilities: Collection[str], topics: Sequence[PlannedTopic]) -> Step | None:
    """What an operator asks about a topic that others use; None if the driver can do nothing of that."""
    can = [each for each in _ASKED if each in capabilities]
    if not can:
        return None
    topic, verb = random.choice(topics), random.choice(can)
    fields: dict[str, Any]
    at: dict[str, Any] = {"topic": topic.name, "partition": random.randrange(topic.partitions)}
    match verb:
        case "alter-config":
            fields = {"topic": topic.name, "name": RETENTION, "to": random.choice(_RETAINED)}
        case "describe-config":
            fields = {"topic": topic.name, "name": RETENTION}
        case "delete-records":
            fields = {**at, "offset": random.choice((1, 1, 2, 4))}
        case _:
            fields = {**at, "at": random.choice(("earliest", "latest", "latest"))}
    return Step(_ASKED[verb], random.choice((0, 20, 150)), fields)


def administering(
    random: Random, capabilities: Collection[str], topics: Sequence[PlannedTopic]
) -> tuple[Step, ...]:
    """The steps of an operator. It deletes no topic that others use."""
    counts, steps, created = {each.name: each.partitions for each in topics}, list[Step](), 0
    for _ in range(random.randrange(4, 12)):
        asks = _asking(random, capabilities, topics) if random.random() < 0.5 else None
        if asks is not None:
            steps.append(asks)
            continue
        after_ms, own = random.choice((0, 20, 150)), sorted(counts.keys() - {each.name for each in topics})
        if own and "delete-topic" in capabilities and random.random() < 0.3:
            del counts[own[0]]
            steps.append(Step("delete", after_ms, {"topic": own[0]}))
            continue
        if random.random() < 0.5 or "create-partitions" not in capabilities:
            names = [f"created-{created + n}" for n in range(random.choice((1, 2, 3)))]
            created += len(names)
            counts |= {name: random.choice((1, 2)) for name in names}
            do = "create"
        else:
            names = random.sample([*counts], random.randrange(1, len(counts) + 1))
            counts |= {name: counts[name] + random.choice((1, 2)) for name in names}
            do = "widen"
        steps.append(Step(do, after_ms, {"topics": [[name, counts[name]] for name in names]}))
    return tuple(steps)


def instances(random: Random, names: Collection[str]) -> list[str | None]:
    """The `group.instance.id` of each member, if they are static. Two may have the same by mistake."""
    if random.random() < 0.75:
        return [None] * len(names)
    ids: list[str | None] = list(names)
    if len(ids) > 1 and random.random() < 0.4:
        ids[-1] = ids[0]
    return ids


def life(random: Random, capabilities: Collection[str], *, commits_itself: bool = False) -> tuple[Step, ...]:
    """The steps of a member that comes, polls, commits, and may go and come back. Where a client that
    `commits_itself` goes to the end, it may commit that before its application has read anything there."""
    steps = [Step("poll", random.choice((0, 0, 100, 400)))]
    acts = ["poll", "poll", "poll", "commit", "commit", "leave-group"]
    acts += ["pause", "resume"] if "pause" in capabilities else []
    acts += ["go", "go"] if "seek" in capabilities else []
    for _ in range(random.randrange(3, 10)):
        do = random.choice(acts)
        fields: dict[str, Any] = {AFTER_ERRORS: wanted(random)} if do == "commit" else {}
        if do == "go":
            fields = going(random, capabilities, to_the_end=not commits_itself)
        if do == "commit" and "commit-at-once" in capabilities and random.random() < 0.3:
            fields["meanwhile"] = random.choice(("commit", "apart", "apart", "close"))
        steps.append(Step(do, random.choice((0, 20, 100)), fields))
    return tuple(steps)


def sharing(random: Random, capabilities: Collection[str]) -> dict[str, Any]:
    """What the members of a share group have in common, as fields of a user: whether they say of each record
    what became of it, and what, by its offset."""
    mode = random.choice(("implicit", "explicit", "explicit"))
    consumer: dict[str, Any] = {"share.acknowledgement.mode": mode}
    if random.random() < 0.3:
        consumer["max.poll.records"] = random.choice((1, 3))
        consumer["share.acquire.mode"] = random.choice(("batch_optimized", "record_limit"))
    fields: dict[str, Any] = {"consumer": consumer}
    if mode == "explicit":
        every = (*_SAYS, *(("renew",) if "renew" in capabilities else ()))
        fields["says"] = [random.choice(every) for _ in range(random.choice((1, 3, 5)))]
    return fields


def share_life(random: Random) -> tuple[Step, ...]:
    """The steps of a member of a share group that comes, works, and may go and come back."""
    steps: list[Step] = []
    for _ in range(random.randrange(5, 14)):
        if steps and random.random() < 0.1:
            steps.append(Step("leave-group", random.choice((0, 20, 100))))
            continue
        fields: dict[str, Any] = {"ends": random.choice(("poll", "poll", "commit", "commit", "commit-async"))}
        if random.random() < 0.2:
            fields["thinks_ms"] = random.choice((50, 400))
        steps.append(Step("work", random.choice((0, 0, 20, 100)), {**fields, AFTER_ERRORS: wanted(random)}))
    return tuple(steps)


def polls(random: Random, count: int) -> tuple[Step, ...]:
    return tuple(Step("poll", random.choice((0, 50))) for _ in range(count))


def ending(random: Random, capabilities: Collection[str]) -> dict[str, Any]:
    """How a transaction ends, as fields of its step."""
    fields = {
        "commits": random.random() < 0.75,
        "flushes": random.random() < 0.3,
        "awaits": random.random() < 0.3,
        "in_turn": random.random() < 0.3,
        "closes": random.random() < 0.08,
        AFTER_ERRORS: wanted(random),
    }
    if "at-once" in capabilities and random.random() < 0.25:
        kinds = [each for each in MEANWHILE if each != "otherwise" or "ends-at-once" in capabilities]
        fields["meanwhile"] = random.choice(kinds)
    return fields
