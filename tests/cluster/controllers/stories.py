"""What was asked of real controllers: each story begins with four brokers that are well."""

from pathlib import Path
from typing import Final

from mockbroker.rig.stories import Setting, Steps, Told, named

from .stage import ControllerStage

PREFERRED, UNCLEAN = 0, 1


def refusals(s: ControllerStage) -> Steps:
    """A reassignment that is not begun."""
    s.create("t", [[1, 2], [2, 3]])
    for version in range(s.newest("alter_partition_reassignments") + 1):
        for label, replicas in (
            ("empty", []),
            ("twice", [1, 1]),
            ("negative", [-1, 1]),
            ("unknown", [1, 99]),
            ("unknown and twice", [99, 99]),
            ("negative and twice", [-1, -1]),
        ):
            yield f"{label}, v{version}", s.reassign({"t": {0: replicas}}, version=version)
        yield f"partition -1, v{version}", s.reassign({"t": {-1: [1, 2]}}, version=version)
        yield f"partition 9, v{version}", s.reassign({"t": {9: [1, 2]}}, version=version)
        yield f"partition 9, empty, v{version}", s.reassign({"t": {9: []}}, version=version)
        yield f"unknown topic, v{version}", s.reassign({"none": {0: [1, 2]}}, version=version)
        yield f"cancel nothing, v{version}", s.reassign({"t": {0: None, 9: None}}, version=version)
        yield f"no partitions, v{version}", s.reassign({"t": {}}, version=version)
        yield f"no topics, v{version}", s.reassign({}, version=version)
        yield f"one of them bad, v{version}", s.reassign({"t": {0: [1, 2], 1: [2, 99]}}, version=version)
        yield f"as it is, v{version}", s.reassign({"t": {0: [1, 2]}}, version=version)
        yield f"after v{version}", s.describe("t")
    if s.newest("alter_partition_reassignments") > 0:
        for label, replicas in (
            ("more", [1, 2, 3]),
            ("less", [1]),
            ("unknown", [1, 2, 99]),
            ("same", [2, 1]),
        ):
            yield f"factor kept: {label}", s.reassign({"t": {0: replicas}}, factor=False)
        yield "after", s.describe("t")


def soon_over(s: ControllerStage) -> Steps:
    """All that take part are well."""
    s.create("t", [[1, 2], [2, 3]])
    yield "at first", s.describe("t")
    for label, replicas in (
        ("one more", [1, 2, 3]),
        ("one less", [1, 3]),
        ("another order", [3, 1]),
        ("the same", [3, 1]),
        ("the leader goes", [3, 2]),
        ("both go", [4, 1]),
        ("alone", [4]),
        ("alone elsewhere", [2]),
        ("all", [1, 2, 3, 4]),
        ("the leader alone", [2]),
    ):
        yield label, s.reassign({"t": {0: replicas}})
        yield f"{label}: after", s.describe("t")
        yield f"{label}: under way", s.under_way()
    yield "several at once, one bad", s.reassign({"t": {0: [1, 99], 1: [3, 4]}})
    yield "several: after", s.describe("t")


def under_way(s: ControllerStage) -> Steps:
    """A broker that is to get a replica does not fetch."""
    s.create("t", [[1, 2, 3], [2, 3, 1]])
    s.hold(4)
    yield "replace the leader", s.reassign({"t": {0: [4, 2, 3]}})
    yield "replace: meanwhile", s.describe("t")
    yield "listed", s.under_way()
    yield "listed: that partition", s.under_way({"t": [0]})
    yield "listed: the other partition", s.under_way({"t": [1]})
    yield "listed: unknown", s.under_way({"t": [0, 9], "none": [0]})
    yield "asked again", s.reassign({"t": {0: [4, 2, 3]}})
    yield "asked again: meanwhile", s.describe("t")
    yield "preferred", s.elect(PREFERRED, {"t": [0]})
    yield "unclean", s.elect(UNCLEAN, {"t": [0]})
    yield "preferred, all", s.elect(PREFERRED, None)
    yield "another order", s.reassign({"t": {0: [2, 4, 3]}})
    yield "another order: meanwhile", s.describe("t")
    yield "another order: listed", s.under_way()
    yield "preferred: it is in sync", s.elect(PREFERRED, {"t": [0]})
    yield "preferred: after", s.describe("t")
    yield "one less", s.reassign({"t": {0: [4, 3]}})
    yield "one less: meanwhile", s.describe("t")
    yield "one less: listed", s.under_way()
    if s.newest("alter_partition_reassignments") > 0:
        yield "factor kept: less", s.reassign({"t": {0: [3]}}, factor=False)
        yield "factor kept: as asked for", s.reassign({"t": {0: [4, 2]}}, factor=False)
        yield "factor kept: as at first", s.reassign({"t": {0: [1, 2, 3]}}, factor=False)
        yield "factor kept: after", s.describe("t")
    yield "cancel", s.reassign({"t": {0: None, 1: None}})
    yield "cancelled", s.describe("t")
    yield "cancelled: listed", s.under_way()
    yield "cancel again", s.reassign({"t": {0: None}})
    yield "to it alone", s.reassign({"t": {1: [4]}})
    yield "to it alone: meanwhile", s.describe("t")
    yield "back", s.reassign({"t": {1: [2, 3, 1]}})
    yield "back: after", s.describe("t")
    yield "one more", s.reassign({"t": {1: [2, 3, 1, 4]}})
    yield "one more: meanwhile", s.describe("t")
    yield "take it away", s.reassign({"t": {1: [2, 3]}})
    yield "take it away: after", s.describe("t")
    yield "replace all", s.reassign({"t": {0: [4]}})
    yield "replace all: meanwhile", s.describe("t")
    yield "min ISR 3", s.configure("t", min_insync_replicas="3")
    yield "produced", s.fill("t", 0, s.describe("t")[0]["leader"], 1)
    s.let_go(4)
    yield "it is over", s.describe("t")
    yield "it is over: listed", s.under_way()
    yield "produced: after", s.fill("t", 0, 4, 1)


def partitions_meanwhile(s: ControllerStage) -> Steps:
    """Topics that get partitions, or go, while a reassignment is under way."""
    s.create("t", [[1, 2], [2, 3]])
    s.create("u", [[1, 2]])
    s.hold(4)
    yield "more replicas", s.reassign({"t": {0: [1, 2, 4]}, "u": {0: [4, 2]}})
    for label, count, replicas in (
        ("two replicas", 3, [1, 2]),
        ("three replicas", 4, [1, 2, 3]),
        ("placed", 4, None),
    ):
        placed = [{"broker_ids": replicas}] if replicas else None
        more = {"name": "t", "count": count, "assignments": placed}
        found = s.command("create_partitions", {"topics": [more], "validate_only": label == "placed"})
        yield f"{label}", found["results"]
    yield "after", s.describe("t")
    yield "deleted", s.delete("u")
    if not s.zookeeper:
        yield "deleted: after", s.describe("u")
        yield "deleted: listed", s.under_way()


def down_meanwhile(s: ControllerStage) -> Steps:
    """Brokers that are down, and a reassignment."""
    s.create("t", [[1, 2], [2, 3], [2, 1]])
    s.create("u", [[1, 2, 3]])
    s.stop(4)
    yield "to one that is down", s.reassign({"t": {0: [1, 4]}})
    yield "to it: meanwhile", s.describe("t")
    yield "to it: listed", s.under_way()
    s.stop(3)
    yield "one down", s.describe("t")
    yield "from one that is down", s.reassign({"t": {1: [2, 1]}})
    yield "from it: after", s.describe("t")
    yield "keeps one that is down", s.reassign({"u": {0: [1, 3]}})
    yield "keeps it: after", s.describe("u")
    yield "keeps it: listed", s.under_way()
    yield "to those that are down", s.reassign({"t": {2: [3, 4]}})
    yield "to those: meanwhile", s.describe("t")
    s.start(3)
    yield "one is back", [s.describe("t"), s.describe("u")]
    yield "one is back: listed", s.under_way()
    s.start(4)
    yield "all are back", [s.describe("t"), s.describe("u")]
    yield "all are back: listed", s.under_way()


def one_by_one(s: ControllerStage) -> Steps:
    """Brokers go down until none is left of a partition, and come back."""
    s.create("t", [[1, 2, 3]], min_insync_replicas="2")
    s.create("u", [[1, 2, 3]], min_insync_replicas="1")
    yield "at first", [s.describe("t"), s.describe("u")]
    for broker in (1, 2, 3):
        s.stop(broker)
        yield f"without {broker}", [s.describe("t"), s.describe("u")]
        for kind, name in ((PREFERRED, "preferred"), (UNCLEAN, "unclean")):
            yield f"without {broker}: {name}", s.elect(kind, {"t": [0], "u": [0]})
    for broker in (2, 3, 1):
        s.start(broker)
        yield f"{broker} is back", [s.describe("t"), s.describe("u")]
    yield "preferred", s.elect(PREFERRED, {"t": [0]})
    yield "in the end", s.describe("t")


def killed(s: ControllerStage) -> Steps:
    """As before, but they are killed."""
    s.create("t", [[1, 2, 3]], min_insync_replicas="2")
    s.create("u", [[1, 2, 3]], min_insync_replicas="1")
    for broker in (1, 2, 3):
        s.kill(broker)
        yield f"without {broker}", [s.describe("t"), s.describe("u")]
    for broker in (2, 3, 1):
        s.start(broker)
        yield f"{broker} is back", [s.describe("t"), s.describe("u")]


def killed_and_first(s: ControllerStage) -> Steps:
    """The last one that led comes back first, though it was killed."""
    s.create("t", [[1, 2, 3]], min_insync_replicas="2")
    s.stop(1)
    s.kill(2)
    s.kill(3)
    yield "none is left", s.describe("t")
    s.start(3)
    yield "the last is back", s.describe("t")
    s.start(2)
    yield "the last but one is back", s.describe("t")
    s.start(1)
    yield "all are back", s.describe("t")


def unclean_meanwhile(s: ControllerStage) -> Steps:
    """Elections by hand while none in sync is there, and a topic that allows them."""
    s.create("t", [[1, 2, 3]], min_insync_replicas="2")
    s.create("u", [[1, 2, 3]], min_insync_replicas="2", unclean_leader_election_enable="true")
    s.create("v", [[1, 2, 3]], min_insync_replicas="2")
    for broker in (1, 2, 3):
        s.stop(broker)
    yield "none is left", [s.describe(topic) for topic in "tuv"]
    yield "min ISR 1", s.configure("v", min_insync_replicas="1")
    yield "min ISR: after", s.describe("v")
    for kind, name in ((PREFERRED, "preferred"), (UNCLEAN, "unclean")):
        yield f"{name}: none", s.elect(kind, {"t": [0], "u": [0], "v": [0]})
    s.start(1)
    yield "the first is back", [s.describe(topic) for topic in "tuv"]
    yield "preferred", s.elect(PREFERRED, {"t": [0], "v": [0]})
    yield "preferred: after", [s.describe(topic) for topic in "tuv"]
    yield "unclean", s.elect(UNCLEAN, {"t": [0], "v": [0]})
    yield "unclean: after", [s.describe(topic) for topic in "tuv"]
    s.start(2)
    s.start(3)
    yield "all are back", [s.describe(topic) for topic in "tuv"]


def min_isr_changes(s: ControllerStage) -> Steps:
    """The eligible leader replicas of a topic whose min.insync.replicas is changed."""
    for topic in "tuv":
        s.create(topic, [[1, 2, 3]], min_insync_replicas="3")
    s.stop(1)
    yield "one down", [s.describe(topic) for topic in "tuv"]
    yield "2", s.configure("t", min_insync_replicas="2")
    yield "2: after", s.describe("t")
    yield "to the default", s.configure("u", min_insync_replicas=None)
    yield "to the default: after", s.describe("u")
    yield "as it is", s.configure("v", min_insync_replicas="3")
    yield "as it is: after", s.describe("v")
    yield "another config", s.configure("v", retention_ms="1000000")
    yield "another config: after", s.describe("v")
    s.stop(2)
    yield "two down", [s.describe(topic) for topic in "tuv"]
    yield "all at once", s.configure("v", min_insync_replicas="1")
    yield "all at once: after", s.describe("v")
    yield "more than there are", s.configure("v", min_insync_replicas="5")
    yield "more: after", s.describe("v")
    s.start(2)
    yield "one is back", [s.describe(topic) for topic in "tuv"]
    s.start(1)
    yield "all are back", [s.describe(topic) for topic in "tuv"]


def moved_while_eligible(s: ControllerStage) -> Steps:
    """Reassignments of a partition that has eligible leader replicas."""
    s.create("t", [[1, 2, 3], [1, 2, 3], [1, 2, 3]], min_insync_replicas="3")
    s.stop(1)
    yield "one down", s.describe("t")
    yield "it goes", s.reassign({"t": {0: [2, 3]}})
    yield "it is replaced", s.reassign({"t": {1: [4, 2, 3]}})
    yield "another is replaced", s.reassign({"t": {2: [1, 2, 4]}})
    yield "after", s.describe("t")
    s.start(1)
    yield "it is back", s.describe("t")


_SHORT: Final = {"broker.session.timeout.ms": "3000", "zookeeper.session.timeout.ms": "3000"}
_LONG: Final = {"broker.session.timeout.ms": "120000", "zookeeper.session.timeout.ms": "120000"}
"""For stories in which a broker stands still, and is not to be taken for dead."""
_CONFIG: Final = {
    "auto.leader.rebalance.enable": "false",
    "offsets.topic.num.partitions": "1",
    "offsets.topic.replication.factor": "1",
}
STORIES: Final = Told(
    Path(__file__).parent,
    named(
        refusals,
        soon_over,
        under_way,
        partitions_meanwhile,
        down_meanwhile,
        one_by_one,
        killed,
        killed_and_first,
        unclean_meanwhile,
        min_isr_changes,
        moved_while_eligible,
    ),
    ControllerStage,
    Setting(4, {**_CONFIG, **_SHORT}, apart=True),
    configs={"under_way": _LONG, "partitions_meanwhile": _LONG},
)
