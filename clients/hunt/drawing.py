"""Plans by seed: random workloads under random events, and a quarter of them without any."""

from collections.abc import Collection, Sequence
from dataclasses import replace
from random import Random
from typing import Any, Final

from . import manners
from .drawn_besides import with_besides
from .drawn_events import SESSION_MS, Events, Subjects
from .drawn_faults import Guide
from .legal import FAULTS, answered_by
from .plan import AFTER_ERRORS, Fields, Plan, PlannedTopic, PlannedUser, Step

DRAWING: Final = 7
"""Goes up when seeds draw other plans than before."""
LIMIT: Final = 2_000
"""`max.message.bytes` of some topics: below what clients take for granted."""
SHARES: Final = "share members"
"""The workload of members of share groups, which no seed chooses by itself: others stay what they were."""
_KAFKA: Final = "4.4"
_CLASSIC: Final = ("JoinGroup", "SyncGroup", "Heartbeat", "LeaveGroup")
_NEW: Final = ("ConsumerGroupHeartbeat",) * 3
"""By which a member of either protocol joins, stays and leaves."""


def draw(
    seed: int,
    capabilities: Collection[str],
    kafka: str = _KAFKA,
    workload: str | None = None,
    *,
    illegal: bool = False,
    guide: Guide | None = None,
) -> Plan:
    """The plan of a seed, for a client that can do so much; the seed chooses one of `workloads`, unless it
    is given; members of share groups (`SHARES`) have to be asked for. What brokers answer is what some broker
    may answer, unless it may be `illegal` too. A `guide` says at which requests faults are aimed: the same
    seed and guide give the same plan."""
    random = Random(f"hunt share {seed}" if workload == SHARES else f"hunt {seed}")
    chosen = random.choice(workloads(capabilities)) if workload is None else workload
    made = _Drawing(seed, random, kafka, frozenset(capabilities), illegal, chosen, guide)
    plan: Plan = getattr(made, chosen.replace(" ", "_"))()
    return with_besides(plan, capabilities)


def workloads(capabilities: Collection[str]) -> list[str]:
    """What a client can be given to do."""
    kinds = ["producer"]
    if {"groups", "assign"} & set(capabilities):
        kinds.append("members")
    if "idempotence" in capabilities:
        kinds.append("idempotent")
    if "transactions" in capabilities:
        kinds.append("transactions")
    if {"groups", "send-offsets"} <= set(capabilities):
        kinds.append("processor")
    if "deserializer" in capabilities:
        kinds.append("bad payloads")
    if "admin" in capabilities and {"create-partitions", "list-offsets"} & set(capabilities):
        kinds.append("admin")
    return kinds


def draw_application(
    seed: int, fields: Fields, partitions: int, kafka: str = _KAFKA, *, illegal: bool = False
) -> Plan:
    """The plan of a seed for a whole application; `fields` are those of its user in the plan."""
    random = Random(f"hunt application {seed}")
    return with_besides(_Drawing(seed, random, kafka, frozenset(), illegal).application(fields, partitions))


def _joins(consumer: Fields) -> Sequence[str]:
    """By which requests members with these settings join, stay and leave."""
    return _NEW if consumer.get("group.protocol") == "consumer" else _CLASSIC


class _Drawing:
    def __init__(
        self,
        seed: int,
        random: Random,
        kafka: str,
        capabilities: frozenset[str],
        illegal: bool,
        workload: str = "",
        guide: Guide | None = None,
    ) -> None:
        self._seed, self._random, self._kafka = seed, random, kafka
        self._capabilities, self._illegal = capabilities, illegal
        self._workload, self._guide = workload, guide
        self._brokers = random.choice((1, 3, 3))
        self._limited = random.random() < 0.4
        self._keeps = False
        """Whether no records may be deleted: an application would be right to do without them."""

    # Workloads.

    def producer(self, idempotent: bool = False) -> Plan:
        topics = self._topics()
        config = {"acks": "all", "enable.idempotence": idempotent}
        if not idempotent and self._random.random() < 0.3:
            config["acks"] = "1"
        users = tuple(
            self._producer(f"producer-{n}", topics, config) for n in range(self._random.choice((1, 1, 2)))
        )
        apis = ("Produce", "Metadata", *(("InitProducerId",) if idempotent else ()))
        return self._plan(topics, users, apis)

    def idempotent(self) -> Plan:
        return self.producer(idempotent=True)

    def transactions(self) -> Plan:
        topics = self._topics()
        names = [f"transactions-{n}" for n in range(self._random.choice((1, 1, 2)))]
        shares = self._random.random() < 0.3
        users = tuple(self._transacting(each, names[0] if shares else each, topics) for each in names)
        group = "" if "assign" in self._capabilities else "readers"
        readers = []
        if {"groups", "assign"} & self._capabilities:
            steps = manners.polls(self._random, 4)
            readers.append(self._member("reader", topics, group, isolation="read_committed", steps=steps))
        apis = (
            "Produce",
            "InitProducerId",
            "AddPartitionsToTxn",
            "EndTxn",
            "FindCoordinator",
            "Metadata",
        )
        ids = sorted({user.config["transactional.id"] for user in users})
        return self._plan(topics, (*users, *readers), apis, transactional_ids=ids)

    def processor(self) -> Plan:
        random = self._random
        input_, output = PlannedTopic("in", random.choice((1, 2))), PlannedTopic("out", 2, self._limits())
        topics = (input_, output)
        feeder = self._producer("feeder", (input_,), {"acks": "all"}, kinds=("plain",))
        count = random.choice((1, 1, 2))
        protocol = self._protocol()
        users = [
            PlannedUser(
                f"processor-{n}",
                "processor",
                {
                    "transactional.id": f"processor-{n}",
                    "transaction.timeout.ms": 10_000,
                    "acks": "all",
                    **self._codec(),
                },
                {
                    "from": "in",
                    "to": "out",
                    "group": "g",
                    "topics": ["in"],
                    "consumer": {"isolation.level": "read_committed", **protocol},
                },
                tuple(
                    Step(
                        "round",
                        random.randrange(0, 100),
                        {
                            "commits": random.random() < 0.8,
                            "in_turn": random.random() < 0.3,
                            "apart": "at-once" in self._capabilities and random.random() < 0.3,
                            AFTER_ERRORS: manners.wanted(random),
                        },
                    )
                    for _ in range(random.randrange(3, 8))
                ),
            )
            for n in range(count)
        ]
        apis = (
            "Produce",
            "AddPartitionsToTxn",
            "AddOffsetsToTxn",
            "TxnOffsetCommit",
            "EndTxn",
            "OffsetFetch",
            *_joins(protocol),
            "FindCoordinator",
            "Fetch",
        )
        ids = [user.name for user in users]
        return self._plan(topics, (feeder, *users), apis, groups=["g"], transactional_ids=ids)

    def members(self, bad: bool = False) -> Plan:
        random, topics = self._random, self._topics(plain=True)
        kinds = ("plain", "plain", "bad") if bad else ("plain",) * 9 + ("null",)
        feeders = [self._producer("feeder", topics, {"acks": "all"}, kinds=kinds)]
        grouped, common = "groups" in self._capabilities, dict[str, Any]()
        names = [f"member-{n}" for n in range(random.choice((1, 2, 2, 3)) if grouped else 1)]
        if grouped:
            common = self._group("topic")
            alone = "enable.auto.commit" in common["consumer"]
            members = [
                self._member(
                    name, topics, "g", fails=bad, steps=self._life(alone), common=common, instance=id_
                )
                for name, id_ in zip(names, manners.instances(random, names), strict=True)
            ]
        else:
            steps = manners.polls(random, random.randrange(3, 9))
            members = [self._member(names[0], topics, "", fails=bad, steps=steps)]
        apis = (
            *_joins(common.get("consumer", {})),
            "OffsetFetch",
            "OffsetCommit",
            "FindCoordinator",
            "Fetch",
            "ListOffsets",
            "Metadata",
        )
        return self._plan(topics, (*feeders, *members), apis, groups=["g"] if grouped else [])

    def share_members(self) -> Plan:
        random, topics = self._random, self._topics(plain=True)
        feeder = self._producer("feeder", topics, {"acks": "all"}, kinds=("plain",))
        common = manners.sharing(random, self._capabilities)
        fields = {"shares": [each.name for each in topics], "group": "g", **common}
        members = [
            PlannedUser(f"member-{n}", "share-member", {}, fields, manners.share_life(random))
            for n in range(random.choice((1, 2, 2, 3)))
        ]
        apis = (
            *("ShareFetch", "ShareAcknowledge", "ShareFetch", "ShareAcknowledge"),
            *("ShareGroupHeartbeat", "FindCoordinator", "Metadata"),
        )
        return self._plan(topics, (feeder, *members), apis, groups=["g"], shares=True)

    def admin(self) -> Plan:
        topics = self._topics(plain=True)
        feeder = self._producer("feeder", topics, {"acks": "all"}, kinds=("plain",))
        steps = manners.administering(self._random, self._capabilities, topics)
        apis = ("CreateTopics", "CreatePartitions", "ListOffsets", "DeleteRecords", "Metadata", "Produce")
        return self._plan(topics, (feeder, PlannedUser("admin-0", "admin", {}, {}, steps)), apis)

    def bad_payloads(self) -> Plan:
        return self.members(bad=True)

    def application(self, fields: Fields, partitions: int) -> Plan:
        random, self._keeps = self._random, True
        inputs = [PlannedTopic(name, partitions) for name in fields["input"]]
        topics = (*inputs, *(PlannedTopic(name, partitions) for name in fields["output"]))
        steps = []
        for _ in range(random.randrange(4, 12)):
            at = {"topic": random.choice(inputs).name, "partition": random.randrange(partitions)}
            count = random.choice((1, 1, 3, 10))
            steps.append(Step("write", random.choice((0, 20, 150, 500)), {**at, "count": count}))
        drawn = {**fields, "awaited": random.random() < 0.75}
        user = PlannedUser("application", "application", {}, drawn, tuple(steps))
        groups = [fields["group"]] if fields["group"] else []
        return self._plan(topics, (user,), tuple(FAULTS), groups=groups)

    # Their parts.

    def _topics(self, plain: bool = False) -> tuple[PlannedTopic, ...]:
        random = self._random
        topics = []
        for n in range(random.choice((1, 2))):
            config = {} if plain else self._limits()
            if not plain and random.random() < 0.2:
                config = {**config, "cleanup.policy": "compact"}
            topics.append(PlannedTopic(f"topic-{n}", random.choice((1, 2, 3)), config))
        return tuple(topics)

    def _limits(self) -> dict[str, str]:
        return {"max.message.bytes": str(LIMIT)} if self._limited else {}

    def _what(self, topic: PlannedTopic) -> str:
        """What kind of record goes there: mostly a good one."""
        if self._random.random() < 0.2:
            kinds = ["large"] if "max.message.bytes" in topic.config else []
            kinds += ["keyless"] if topic.compacted else []
            return self._random.choice(kinds) if kinds else "plain"
        return "null" if self._random.random() < 0.05 else "plain"

    def _codec(self) -> dict[str, str]:
        return manners.codec(self._random, self._capabilities, self._kafka)

    def _producer(
        self,
        name: str,
        topics: Sequence[PlannedTopic],
        config: dict[str, Any],
        kinds: Sequence[str] = (),
    ) -> PlannedUser:
        random, steps = self._random, []
        for _ in range(random.randrange(4, 12)):
            topic = random.choice(topics)
            what = random.choice(kinds) if kinds else self._what(topic)
            fields: dict[str, Any] = {"topic": topic.name, "what": what}
            fields["partition"] = None if random.random() < 0.1 else random.randrange(topic.partitions)
            if what == "plain":
                fields |= manners.content(random, self._capabilities, topic)
                fields["count"] = random.choice((1, 1, 3, 3 if "size" in fields else 10))
            steps.append(Step("send", random.choice((0, 0, 20, 150)), fields))
            if random.random() < 0.2:
                steps.append(Step("flush"))
            if random.random() < 0.04:
                steps.append(Step("close"))
        return PlannedUser(name, "producer", {**config, **self._codec()}, {}, tuple(steps))

    def _transacting(self, name: str, id_: str, topics: Sequence[PlannedTopic]) -> PlannedUser:
        random, steps = self._random, []
        for _ in range(random.randrange(2, 7)):
            sends = []
            for _ in range(random.choice((0, 1, 1, 2, 2, 4, 4))):
                topic = random.choice(topics)
                sends.append([topic.name, random.randrange(topic.partitions), self._what(topic)])
            fields = {"sends": sends, **manners.ending(random, self._capabilities)}
            steps.append(Step("transact", random.choice((0, 20, 150)), fields))
            if random.random() < 0.1:
                steps.append(Step("close"))
        config = {
            "transactional.id": id_,
            "transaction.timeout.ms": 10_000,
            "acks": "all",
            **self._codec(),
        }
        return PlannedUser(name, "transactions", config, {}, tuple(steps))

    def _member(
        self,
        name: str,
        topics: Sequence[PlannedTopic],
        group: str,
        *,
        steps: tuple[Step, ...],
        fails: bool = False,
        isolation: str | None = None,
        common: Fields | None = None,
        instance: str | None = None,
    ) -> PlannedUser:
        """`common` are the fields of all members of its group, `instance` is its `group.instance.id`."""
        random = self._random
        level = isolation or random.choice(("read_uncommitted", "read_committed"))
        fields = {
            "topics": [each.name for each in topics],
            "group": group,
            "commits": random.choice(("position", "offsets")),
            "fails": fails,
            **(common or {}),
        }
        fields["consumer"] = {"isolation.level": level, **fields.get("consumer", {})}
        if instance is not None:
            fields["consumer"]["group.instance.id"] = instance
        return PlannedUser(name, "member", {}, fields, steps)

    def _protocol(self) -> dict[str, str]:
        return manners.protocol(self._random, self._capabilities, self._kafka)

    def _group(self, topic: str) -> dict[str, Any]:
        return manners.group(self._random, self._capabilities, self._kafka, topic)

    def _life(self, commits_itself: bool) -> tuple[Step, ...]:
        return manners.life(self._random, self._capabilities, commits_itself=commits_itself)

    def _plan(
        self,
        topics: tuple[PlannedTopic, ...],
        users: tuple[PlannedUser, ...],
        apis: Sequence[str],
        groups: Sequence[str] = (),
        transactional_ids: Sequence[str] = (),
        *,
        shares: bool = False,
    ) -> Plan:
        events = Events(
            self._random, self._brokers, keeps=self._keeps, illegal=self._illegal, guide=self._guide
        )
        known = users if self._workload else ()
        subjects = Subjects(topics, known, apis, groups, transactional_ids, shares)
        drawn = events.drawn(subjects, self._workload, self._seed)
        steps = tuple(replace(each, fields=answered_by(self._kafka, each.fields)) for each in drawn)
        config = {"broker.session.timeout.ms": str(SESSION_MS)}
        if any("group.protocol" in user.fields.get("consumer", {}) for user in users):
            config |= manners.CONSUMER_PROTOCOL
        config |= manners.SHARE_GROUPS if shares else {}
        return Plan(
            self._seed,
            self._kafka,
            self._brokers,
            topics,
            users,
            steps,
            config,
            workload=self._workload,
            drawing=DRAWING,
        )
