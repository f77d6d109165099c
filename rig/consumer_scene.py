"""Members of a consumer group of KIP-848, for questions about it."""

import uuid
from collections.abc import Iterable, Mapping
from typing import Any, Final

from .scene import Scene

FULL: Final = {
    "instance_id": None,
    "rack_id": None,
    "rebalance_timeout": 60_000,
    "subscribed_topic_regex": None,
    "server_assignor": None,
}
UNCHANGED: Final = {**FULL, "rebalance_timeout": -1, "subscribed_topic_names": None, "topic_partitions": None}
_GROUP: Final = 32
LEAVES: Final = -1
LEAVES_FOR_A_WHILE: Final = -2


class ConsumerMember:
    """One member with its own connection: `owned` is what it was given last, by topic id. With an empty
    `member_id` it has the one that the coordinator makes."""

    def __init__(
        self,
        s: Scene,
        group: str,
        topics: Iterable[str],
        *,
        client_id: str = "member",
        member_id: str | None = None,
    ) -> None:
        self._s, self.group, self.topics = s, group, list(topics)
        self.client = s.new_client(client_id)
        self.id = str(uuid.UUID(int=0xC0FFEE00 + len(s_members(s)))) if member_id is None else member_id
        s_members(s).append(self.id)
        s.normaliser.name_member(self.id)
        self.epoch = 0
        self.owned: list[dict[str, Any]] = []

    def heartbeat(self, **more: Any) -> Any:
        """A heartbeat in which nothing has changed but what is given; remembers what the answer says."""
        return self._remember(self._beat({"member_epoch": self.epoch, **UNCHANGED, **more}))

    def join(self, **more: Any) -> Any:
        """The first heartbeat, or one after it was fenced."""
        self.epoch, self.owned = 0, []
        return self.heartbeat(**self.full(**more))

    def full(self, **more: Any) -> Mapping[str, Any]:
        """The fields of a heartbeat that says all."""
        return {**FULL, "subscribed_topic_names": self.topics, "topic_partitions": self.owned, **more}

    def acknowledge(self, **more: Any) -> Any:
        """A heartbeat that says which partitions it has, which are those that it was given."""
        return self.heartbeat(topic_partitions=self.owned, **more)

    def leave(self, epoch: int = LEAVES, **more: Any) -> Any:
        return self._beat({"member_epoch": epoch, **UNCHANGED, **more})

    def _beat(self, fields: Mapping[str, Any]) -> Any:
        s, asked = self._s, {"group_id": self.group, "member_id": self.id, **fields}
        api = "consumer_group_heartbeat"
        version = s.version if s.api == api else s.target.newest(api)
        return s.call(api, asked, version=version, client=self.client)

    def _remember(self, answer: Any) -> Any:
        if isinstance(answer, dict) and answer["error_code"] == "NONE":
            self.epoch = answer["member_epoch"]
            self.id = answer["member_id"]
            self._s.normaliser.name_member(self.id)
            if answer["assignment"] is not None:
                self.owned = answer["assignment"]["topic_partitions"]
        return answer


def s_members(s: Scene) -> list[str]:
    """The ids of the members that a scene has made."""
    known: list[str] = s.__dict__.setdefault("consumer_members", [])
    return known


def at_once(s: Scene, group: str) -> None:
    """Each change of the group is followed by an assignment at once, not a second after the last one."""
    s.configure(_GROUP, group, consumer_assignment_interval_ms="0")


def prompt_group(s: Scene, partitions: int) -> tuple[str, str]:
    """The name of a new group whose changes are followed by assignments at once, and a topic for it."""
    group, topic = s.name("g"), s.topic(partitions=partitions)
    at_once(s, group)
    return group, topic


def lone_consumer(s: Scene) -> ConsumerMember:
    """A group of one member that has joined."""
    member = ConsumerMember(s, s.name("g"), [s.topic()])
    member.join()
    return member


def settled(*members: ConsumerMember) -> None:
    """Heartbeats until nobody is given anything else."""
    for _ in range(20):
        before = [(each.epoch, each.owned) for each in members]
        for each in members:
            each.acknowledge()
        if before == [(each.epoch, each.owned) for each in members]:
            return
    raise AssertionError("the group does not settle")
