"""Waiting until brokers have come to rest: real ones answer before they are done."""

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from ...rig.client import Client
from ...rig.normalise import Normaliser
from ...rig.scene import Target
from . import coordinating, expecting
from .aside import CONSUMER, DEBUGGER, EARLIEST, ends, fetched, metadata, of_each
from .binding import Bindings
from .consuming import Consuming
from .expecting import Expected, Topic
from .sharing import Sharing
from .steps import KILL, RESTARTS, START, Step
from .streaming import Streaming
from .waiting import until

TIMEOUT_S: Final = 20.0
_ASIDE_S: Final = 60.0
"""DescribeShareGroupOffsets takes half a minute if a topic is deleted meanwhile."""
_NOBODY: Final = -1
_CHANGES: Final = frozenset({"elect_leaders", "alter_partition_reassignments"})
TOPIC_CHANGES: Final = (
    frozenset({"create_topics", "delete_topics", "create_partitions", "metadata"}) | _CHANGES
)
CONFIG_CHANGES: Final = frozenset(
    {"alter_configs", "incremental_alter_configs", "create_acls", "delete_acls"}
    | {"alter_client_quotas", "alter_user_scram_credentials"}
)
"""Brokers learn of these a moment after the controller has answered."""
_WRITES: Final = frozenset(
    {"produce", "delete_records", "end_txn", "init_producer_id", "write_txn_markers"}
    | TOPIC_CHANGES
    | RESTARTS
)
_ENDS: Final = frozenset({"end_txn", "init_producer_id"})
_FAILED: Final = "UNKNOWN_SERVER_ERROR"
"""Of the controller, whether it then goes on or gives up its leadership for a second (`QuorumController`)."""
_AFTER_CHANGE_S: Final = 0.06
"""A broker answers once the change is committed, and applies it a moment later; nothing tells when. Nor does
anything tell which topics a malformed request changes."""
_SESSION_LIMIT_S: Final = 20.0
_TOPIC: Final = 2
_GROUPS: Final = ("g0~", "g1~", "unheard~")


class Settling:
    """What the brokers of `target` say aside, of the topics of one sequence."""

    def __init__(
        self,
        target: Target,
        suffix: str,
        bound: Bindings,
        normaliser: Normaliser,
        coordinators: Sequence[str] = coordinating.COORDINATORS,
        *,
        consumers: bool = False,
    ) -> None:
        """`coordinators` are the topics whose leaders are asked something; with `consumers` there are members
        of consumer groups."""
        self._suffix = suffix
        self._coordinators = coordinators
        self._bound = bound
        self._normaliser = normaliser
        self._nodes = {
            node: Client(host, port, "aside", _ASIDE_S, target.network) for node, host, port in target.nodes
        }
        self._down: set[int] = set()
        self._first = next(iter(self._nodes.values()))
        self.topics: set[str] = set()
        self._placed_at_random: set[str] = set()
        self._dying = False
        self._expected: dict[str, Expected] = {}
        self._told: Any = None
        self._share_groups = bool(target.supported("share_fetch"))
        counted = 2 in target.supported("share_fetch")
        self.sharing = Sharing(self._nodes, bound, self._coordinator, counted=counted)
        self._consuming = Consuming(self._coordinator, self.topics, needed=consumers)
        self.streaming = Streaming(self._coordinator, lambda: self._asked.values(), self.topics)

    def close(self) -> None:
        for each in self._nodes.values():
            each.close()

    def settle(self, step: Step, sent: str | None, fields: dict[str, Any], answer: Any) -> bool:
        """Whether the brokers came to rest. `sent` is the API in the header as it was sent."""
        if step.api in ("create_topics", "metadata"):
            named = [each.get("name") for each in fields.get("topics") or ()]
            self.topics.update(name for name in named if name and self._suffix in name)
        if step.api == "create_topics":
            self._placed_at_random |= {each["name"] for each in fields["topics"] if not each["assignments"]}
        if sent in TOPIC_CHANGES | CONFIG_CHANGES and _FAILED in str(answer) and not until(self._controlled):
            return False
        if step.mutations:
            if sent in TOPIC_CHANGES | CONFIG_CHANGES:
                time.sleep(_AFTER_CHANGE_S)
            return sent not in _ENDS or until(self._transactions_settled)
        self._expected = dict(self._expectations(step, fields, answer))
        if step.api == KILL and fields.get("at_once"):
            self._dying = True
            return True
        restarted, self._dying = self._dying or step.api in RESTARTS, False
        if restarted and not until(self._brokers_known, _SESSION_LIMIT_S):
            return False
        if step.api in CONFIG_CHANGES:
            time.sleep(_AFTER_CHANGE_S)
        if (step.api in TOPIC_CHANGES or self._several) and not until(self._topics_settled):
            return False
        if restarted and not self.coordinated():
            return False
        # Markers may have waited for a broker that was down.
        ends = step.api in ("end_txn", START) or (
            step.api == "init_producer_id" and fields.get("transactional_id")
        )
        if ends and not until(self._transactions_settled):
            return False
        if step.api == "delete_topics" and not until(lambda: self._offsets_forgotten(answer), _ASIDE_S):
            return False
        if not self.settled(step, fields, answer):
            return False
        return not self._several or (step.api not in _WRITES and not restarted) or until(self._replicated)

    def settled(self, step: Step, fields: dict[str, Any], answer: Any) -> bool:
        """Whether share groups, consumer groups and streams groups are."""
        of_kinds = self.sharing, self._consuming, self.streaming
        return all(each.settle(step, fields, answer) for each in of_kinds)

    def _expectations(
        self, step: Step, fields: dict[str, Any], answer: Any
    ) -> Iterator[tuple[str, Expected]]:
        yield from expecting.created(step, fields, answer, self.topics)
        if self._several:
            yield from expecting.changed(step, fields, answer, all_up=not self._down)

    @property
    def _several(self) -> bool:
        return len(self._nodes) > 1

    # -- brokers

    def stopped(self, node: int) -> None:
        """That broker is asked no more."""
        self._down.add(node)
        self._nodes[node].close()

    def started(self, node: int) -> None:
        self._down.discard(node)

    def _up(self, nodes: Iterable[int]) -> list[int]:
        """Those of `nodes` that can be asked."""
        return [each for each in nodes if each in self._nodes and each not in self._down]

    @property
    def _asked(self) -> dict[int, Client]:
        return {node: self._nodes[node] for node in self._up(self._nodes)}

    def coordinated(self, topic: str = "", node: int | None = None) -> bool:
        """Waits until brokers are ready to coordinate, of a topic a certain one if it is named."""
        return not self._several or coordinating.settle(
            self._asked, self._bound, topic, node, self._coordinators
        )

    def move(self, topic: str, node: int) -> bool:
        """Makes a broker that is up coordinate."""
        if not self.coordinated():
            return False
        return coordinating.move(topic, node, self._asked) and self.coordinated(topic, node)

    def led(self, topic: str, node: int) -> bool:
        """Makes a broker that is up coordinate, unless it does."""
        return self.coordinated() and (self._bound.leaders[topic, 0][0] == node or self.move(topic, node))

    def coordinators_told(self) -> str:
        """What brokers that are up say of who coordinates."""
        return coordinating.told(self._coordinators, self._asked)

    def _coordinator(self, topic: str) -> Client:
        node, _ = self._bound.leaders.get((topic, 0), (_NOBODY, 0))
        return self._nodes.get(node, self._first)

    def _brokers_known(self) -> bool:
        """Whether all that are up know who is."""
        return all(
            {each["node_id"] for each in metadata(client, [])["brokers"]} == set(self._asked)
            for client in self._asked.values()
        )

    # -- metadata

    def news(self) -> Any:
        """What brokers of a cluster of several say of the topics, if it is not what they said last: of each
        broker, or once where it is the same."""
        if not self._several:
            return None
        names = sorted(self.topics - self._placed_at_random)
        found = [metadata(client, names)["topics"] for client in self._asked.values()]
        told = found[0] if all(each == found[0] for each in found) else found
        if told == self._told:
            return None
        self._told = told
        return told

    def _topics_settled(self) -> bool:
        if not self.topics:
            return True
        for client in self._asked.values():
            found = metadata(client, sorted(self.topics))
            if not all(map(self._as_expected, found["topics"])):
                return False
        there = [each for each in found["topics"] if each["error_code"] == "NONE"]
        for topic in there:
            self._learn(topic)
        return not there or (
            self._led(there)
            if not self._several
            else all(self._led_by(node, client, there) for node, client in self._asked.items())
            and not self._moving(there)
        )

    def _learn(self, topic: Topic) -> None:
        name, topic_id = topic["name"], topic["topic_id"]
        self._bound.topic_ids[name] = topic_id
        self._normaliser.name_topic_id(topic_id, name.replace(f"-{self._suffix}", ""))
        for each in topic["partitions"]:
            place = name, each["partition_index"]
            self._bound.leaders[place] = each["leader_id"], each["leader_epoch"]

    def _as_expected(self, topic: Topic) -> bool:
        if not self._expected.get(topic["name"], expecting.nothing)(topic):
            return False
        if topic["error_code"] != "NONE":
            return bool(topic["error_code"] != "LEADER_NOT_AVAILABLE")
        return all(map(self._at_rest, topic["partitions"]))

    def _at_rest(self, part: dict[str, Any]) -> bool:
        """Whether it is led and all are in sync that can be. Where a replica is down nobody may lead."""
        up = self._up(part["replica_nodes"])
        if part["leader_id"] == _NOBODY and not self._down.isdisjoint(part["replica_nodes"]):
            return True
        return part["error_code"] == "NONE" and set(part["isr_nodes"]) == set(up)

    def _led(self, topics: list[Topic]) -> bool:
        """Whether the only broker leads all of them by now."""
        return all(
            part["error_code"]
            not in ("UNKNOWN_TOPIC_OR_PARTITION", "NOT_LEADER_OR_FOLLOWER", "LEADER_NOT_AVAILABLE")
            for _, _, part in ends(self._first, topics)
        )

    def _led_by(self, node: int, client: Client, topics: list[Topic]) -> bool:
        """Whether a broker leads what it should, and knows the leader epoch of what it has a replica of."""
        leads = {
            (topic["name"], each["partition_index"]): each["leader_id"] == node
            for topic in topics
            for each in topic["partitions"]
        }
        asked = of_each(
            topics,
            lambda each: {
                "partition": each["partition_index"],
                "current_leader_epoch": each["leader_epoch"],
                "leader_epoch": each["leader_epoch"],
            },
            name="topic",
        )
        fields = {"replica_id": -1, "topics": asked}
        found = client.call("offset_for_leader_epoch", 3, fields)
        return all(
            part["error_code"]
            == ("NONE" if leads[topic["topic"], part["partition"]] else "NOT_LEADER_OR_FOLLOWER")
            for topic in found["topics"]
            for part in topic["partitions"]
        )

    def _controlled(self) -> bool:
        """Whether there is an active controller: any may say what it has, but only that one create topics."""
        size = {"num_partitions": 1, "replication_factor": 1}
        topic = {"name": "aside", **size, "assignments": [], "configs": []}
        asked = {"topics": [topic], "timeout": 10_000, "validate_only": True}
        [found] = self._first.call("create_topics", 4, asked)["topics"]
        return bool(found["error_code"] == "NONE")

    def _moving(self, topics: list[Topic]) -> bool:
        """Whether a reassignment is not over, of those that don't wait for a broker."""
        asked = of_each(topics, lambda each: each["partition_index"], key="partition_indexes")
        found = self._first.call("list_partition_reassignments", 0, {"timeout": 10_000, "topics": asked})
        return any(
            self._down.isdisjoint(part["replicas"]) for each in found["topics"] for part in each["partitions"]
        )

    # -- what was written

    def _replicated(self) -> bool:
        """Whether all that leaders have can be read. Since 4.0 it can't where too few are in sync."""
        names = [name for name, _ in self._bound.leaders if name in self.topics]
        found = metadata(self._first, sorted(set(names)))
        least = self._least_in_sync(found["topics"]) if self._down else {}
        for node, client in self._asked.items():
            led = _led_only(found["topics"], node, least)
            if not led:
                continue
            readable, written = (
                [(name, index, part["offset"]) for name, index, part in ends(client, led, replica=replica)]
                for replica in (CONSUMER, DEBUGGER)
            )
            if readable != written:
                return False
        return True

    def _least_in_sync(self, topics: list[Topic]) -> dict[str, int]:
        """`min.insync.replicas` of topics."""
        keys = {"resource_type": _TOPIC, "configuration_keys": ["min.insync.replicas"]}
        there = [each["name"] for each in topics if each["error_code"] == "NONE"]
        named = [{**keys, "resource_name": each} for each in there]
        found = self._first.call("describe_configs", 1, {"resources": named, "include_synonyms": False})
        return {
            each["resource_name"]: int(each["configs"][0]["value"])
            for each in found["results"]
            if each["configs"]
        }

    def caught_up(self) -> bool:
        """Waits until followers know what their leaders do, of each partition."""
        return not self._several or until(self._followers_know)

    def _followers_know(self) -> bool:
        names = sorted({name for name, _ in self._bound.leaders if name in self.topics})
        found = [each for each in metadata(self._first, names)["topics"] if each["error_code"] == "NONE"]
        for topic in found:
            for part in topic["partitions"]:
                known = {self._known(node, topic, part) for node in self._up(part["replica_nodes"])}
                if len(known) > 1:
                    return False
        return True

    def _known(self, node: int, topic: Topic, part: dict[str, Any]) -> tuple[Any, ...]:
        client = self._nodes[node]
        [(_, _, start)] = ends(client, [{**topic, "partitions": [part]}], EARLIEST, replica=DEBUGGER)
        found = fetched(client, topic["name"], part["partition_index"], max(0, start["offset"]))
        return found["error_code"], found["high_watermark"], start["offset"]

    def _offsets_forgotten(self, answer: Any) -> bool:
        """Whether the groups of the sequence have no offsets of deleted topics any more."""
        deleted = answer["responses"] if isinstance(answer, dict) else ()
        gone = {each["name"] for each in deleted if each["error_code"] == "NONE"}
        coordinator = self._coordinator(coordinating.GROUPS)
        for group in _GROUPS if gone else ():
            asked = {"group_id": self._bound.fill(group), "topics": None}
            if gone & {each["name"] for each in coordinator.call("offset_fetch", 2, asked)["topics"]}:
                return False
            if self._share_groups and not self.sharing.forgotten(asked["group_id"], gone):
                return False
        return True

    def _transactions_settled(self) -> bool:
        found = self._coordinator(coordinating.TRANSACTIONS).call("list_transactions", 0, {})
        if found["error_code"] != "NONE":
            return bool(found["error_code"] != "COORDINATOR_LOAD_IN_PROGRESS")
        return not any(
            self._suffix in each["transactional_id"] and each["transaction_state"].startswith("Prepare")
            for each in found["transaction_states"]
        )


def _led_only(topics: list[Topic], node: int, least: Mapping[str, int]) -> list[Topic]:
    """Topics with those of their partitions that `node` leads, where as many are in sync as have to be, but
    no more than there are."""

    def leads(topic: Topic, part: dict[str, Any]) -> bool:
        needed = min(least.get(topic["name"], 0), len(part["replica_nodes"]))
        return bool(part["leader_id"] == node and len(part["isr_nodes"]) >= needed)

    found = [{**each, "partitions": [p for p in each["partitions"] if leads(each, p)]} for each in topics]
    return [each for each in found if each["partitions"]]
