"""Waiting for share groups: real brokers read and write the states of share partitions after they answer."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from ...rig.client import Client
from . import aside, coordinating
from .binding import Bindings
from .share_binding import SESSION_APIS, Held, SharePlace, named
from .steps import DISCONNECT, LOCKS_END, MOVE, RESTARTS, Step
from .waiting import until

SHORT_LOCK_MS: Final = 1000
"""Of locks that a sequence waits for."""
_MEMBER: Final = "asideAAAAAAAAAAAAAAAAA"
_LONG_MS: Final = 5000
_SOON_MS, _MUCH = 300, 2**31 - 1
_BEGINS, _ENDS = 0, -1
_HEARD_S: Final = 3.0
_RESETS: Final = frozenset(
    {
        "delete_groups",
        "delete_share_group_offsets",
        "alter_share_group_offsets",
        "initialize_share_group_state",
        "write_share_group_state",
        "delete_share_group_state",
    }
)
"""After these leaders may read a state again."""
_MOVES: Final = RESTARTS | {MOVE, "elect_leaders", "alter_partition_reassignments"}


class Sharing:
    """`coordinator` gives a client of the broker that leads a topic. `counted` says whether
    a delivery counts after which the member ended its session; 4.1 takes it back."""

    def __init__(
        self,
        nodes: Mapping[int, Client],
        bound: Bindings,
        coordinator: Callable[[str], Client],
        *,
        counted: bool,
    ) -> None:
        self._nodes = nodes
        self._bound = bound
        self._coordinator = coordinator
        self._taken_back = 0 if counted else 1
        self._primed: set[tuple[SharePlace, int]] = set()

    # -- before a step

    def prepared(self, step: Step, fields: dict[str, Any], node: int) -> dict[str, Any]:
        """The fields of a request. Before a ShareFetch its leader reads the states of all partitions, so that
        these are read at once: otherwise it is by chance which of them are in the answer. Where a state can't
        be read, which is tried each time, the request waits for the error."""
        if step.api != "share_fetch" or fields["share_session_epoch"] == _ENDS:
            return fields
        shares = self._bound.shares
        wanted = set(named(fields))
        if step.binds is not None and fields["share_session_epoch"] != _BEGINS:
            wanted |= shares.read.get((step.binds, shares.rank), set())
        names = {topic_id: name for name, topic_id in self._bound.topic_ids.items()}
        new = []
        for place in sorted(wanted):
            leader, epoch = self._bound.leaders.get((names.get(place.topic_id, ""), place.partition), (-1, 0))
            if leader == node and (place, epoch) not in self._primed:
                new.append((place, epoch))
        failed = False
        for place, epoch in new:
            if self._fetch(node, place, _BEGINS):
                self._primed.add((place, epoch))
            else:
                failed = True
        if new:
            self._fetch(node, new[0][0], _ENDS)
        if failed and fields["max_bytes"]:
            return {**fields, "max_wait": _SOON_MS, "min_bytes": _MUCH, "max_bytes": _MUCH}
        return fields

    def _fetch(self, node: int, place: SharePlace, epoch: int) -> bool:
        """Acquires nothing, and is answered once the state was read. Whether it could be."""
        part = {"partition_index": place.partition, "acknowledgement_batches": []}
        topic = {"topic_id": place.topic_id, "partitions": [part]}
        limits = {"max_wait": _LONG_MS, "min_bytes": 0, "max_bytes": 1, "max_records": -1, "batch_size": 1}
        who = {"group_id": place.group, "member_id": _MEMBER, "share_session_epoch": epoch}
        topics = [topic] if epoch == _BEGINS else []
        fields = {**who, **limits, "topics": topics, "forgotten_topics_data": []}
        answer = self._nodes[node].call("share_fetch", 1, fields)
        return all(
            part["error_code"] == "NONE" for topic in answer["responses"] for part in topic["partitions"]
        )

    # -- after a step

    def settle(self, step: Step, fields: dict[str, Any], answer: Any) -> bool:
        """Whether what the step set off is done."""
        shares = self._bound.shares
        if step.api in _MOVES:
            # Leaders that change forget locks.
            shares.held.clear()
        if step.api in _RESETS | _MOVES | {DISCONNECT} or shares.doubtful:
            shares.doubtful = False
            self._primed.clear()
        if step.api == LOCKS_END:
            return self._await(dict(shares.locked_shortly(SHORT_LOCK_MS)))
        ends = step.api in SESSION_APIS and fields["share_session_epoch"] == _ENDS
        good = isinstance(answer, dict) and answer.get("error_code") == "NONE"
        if step.binds is not None and (step.api == DISCONNECT or (ends and good)):
            return self._await(dict(shares.ended(step.binds)))
        if step.api == "share_group_heartbeat" and good:
            return until(lambda: self._initialized(fields["group_id"]), _HEARD_S)
        return True

    def _initialized(self, group: str) -> bool:
        """Whether the group has all partitions of the topics that its members subscribe to."""
        client = self._coordinator(coordinating.GROUPS)
        [found] = client.call("share_group_describe", 1, {"group_ids": [group]})["groups"]
        subscribed = {name for each in found["members"] for name in each["subscribed_topic_names"]}
        if found["error_code"] != "NONE" or not subscribed:
            return True
        known = {each for each in self.offsets(group) if each[0] in subscribed}
        there = {
            (topic["name"], each["partition_index"])
            for topic in aside.metadata(client, sorted(subscribed))["topics"]
            for each in topic["partitions"]
        }
        return there <= known

    def forgotten(self, group: str, topics: set[str]) -> bool:
        """Whether the group and its share coordinators know nothing of topics any more."""
        if topics & {name for name, _ in self.offsets(group)}:
            return False
        return not any(
            self._state(SharePlace(group, self._bound.topic_ids[name], index), epoch)["error_code"] == "NONE"
            for (name, index), (_, epoch) in self._bound.leaders.items()
            if name in topics
        )

    def _state(self, place: SharePlace, leader_epoch: int) -> dict[str, Any]:
        """What the share coordinator has."""
        part = {"partition": place.partition, "leader_epoch": max(0, leader_epoch)}
        asked = {"group_id": place.group, "topics": [{"topic_id": place.topic_id, "partitions": [part]}]}
        client = self._coordinator(coordinating.SHARES)
        [found] = client.call("read_share_group_state", 0, asked)["results"][0]["partitions"]
        return dict(found)

    def offsets(self, group: str) -> set[tuple[str, int]]:
        """The partitions of a share group."""
        asked = {"groups": [{"group_id": group, "topics": None}]}
        client = self._coordinator(coordinating.GROUPS)
        [found] = client.call("describe_share_group_offsets", 0, asked)["groups"]
        return {
            (topic["topic_name"], each["partition_index"])
            for topic in found["topics"]
            for each in topic["partitions"]
        }

    def _await(self, held: Mapping[SharePlace, Mapping[int, Held]]) -> bool:
        """Waits until what was held is let go, which leaders write after they have answered. Brokers that
        forget some of it are given a moment."""
        for place, records in held.items():
            until(lambda place=place, records=records: self._let_go(place, records), _HEARD_S)  # type: ignore[misc]
        return True

    def _let_go(self, place: SharePlace, records: Mapping[int, Held]) -> bool:
        names = {topic_id: name for name, topic_id in self._bound.topic_ids.items()}
        _, epoch = self._bound.leaders.get((names.get(place.topic_id, ""), place.partition), (-1, 0))
        found = self._state(place, epoch)
        if found["error_code"] != "NONE":
            return True
        return all(
            offset < found["start_offset"]
            or any(
                each["first_offset"] <= offset <= each["last_offset"]
                and (
                    each["delivery_state"] != 0
                    or each["delivery_count"] >= held.deliveries - self._taken_back
                )
                for each in found["state_batches"]
            )
            for offset, held in records.items()
        )
