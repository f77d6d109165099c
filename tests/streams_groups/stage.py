"""Where a story is told: topologies, and instances of Kafka Streams that run them."""

from collections.abc import Sequence
from typing import Any, Final

from mockbroker.rig.scene import CLOSED

from ..driving.group_stage import GroupStage

REBALANCE_MS: Final = 300_000
_TASKS: Final = ("active_tasks", "standby_tasks", "warmup_tasks")


class StreamsStage(GroupStage):
    """Members of streams groups."""

    def coordinates(self) -> bool:
        asked = {"key_type": 0, "coordinator_keys": [self.named("g")]}
        (found,) = self.ask("find_coordinator", asked, version=6)["coordinators"]
        if found["error_code"] != "NONE":
            return False
        (group,) = self.ask("streams_group_describe", {"group_ids": [self.named("nobody's")]})["groups"]
        return bool(group["error_code"] == "GROUP_ID_NOT_FOUND")

    def begin(self) -> None:
        self.needs("streams_group_heartbeat")
        super().begin()

    # -- topologies

    def reading(self, *sources: str, name: str = "0", **fields: Any) -> dict[str, Any]:
        """A subtopology that reads these topics."""
        return {"subtopology_id": name, "source_topics": [self.named(each) for each in sources], **fields}

    def internal(self, name: str, partitions: int = 0, **configs: str) -> dict[str, Any]:
        """A topic that the broker is to create; configurations with underscores for dots."""
        return {
            "name": self.named(name),
            "partitions": partitions,
            "topic_configs": [
                {"key": key.replace("_", "."), "value": value} for key, value in configs.items()
            ],
        }

    def words(self) -> list[dict[str, Any]]:
        """Lines are split into words, which are counted."""
        return [
            self.reading("lines", repartition_sink_topics=[self.named("words")]),
            {
                "subtopology_id": "1",
                "repartition_source_topics": [self.internal("words", cleanup_policy="delete")],
                "state_changelog_topics": [self.internal("totals", cleanup_policy="compact")],
            },
        ]

    # -- asking

    def member(self, letter: str = "A", group: str = "g", process: str = "") -> "Instance":
        return Instance(self, letter, group, process or letter)

    def described(self, *groups: str, **fields: Any) -> Any:
        """By StreamsGroupDescribe, members in the order of their ids."""
        asked = {"group_ids": [self.named(each) for each in groups or ("g",)], **fields}
        found = self.say("streams_group_describe", asked)["groups"]
        for group in found:
            group["members"].sort(key=lambda each: each["member_id"])
        return found

    def state(self, group: str = "g") -> Any:
        """The state of a group, and its epochs."""
        (found,) = self.described(group)
        return [found[each] for each in ("group_state", "group_epoch", "assignment_epoch")]

    def write_something(self) -> None:
        """What brokers of 4.1 have found out about a topology is seen once anything is written after it."""
        if self.brokers.release.startswith("4.1"):
            part = {"partition_index": 0, "committed_offset": 0, "committed_metadata": ""}
            topics = [{"name": self.named("lines"), "partitions": [part]}]
            fields = {"generation_id_or_member_epoch": -1, "member_id": "", "topics": topics}
            self.ask("offset_commit", {"group_id": self.named("another"), **fields}, version=8)

    def settle(self, members: "Sequence[Instance]", group: str = "g") -> Any:
        """What each member has once the group is stable: active and standby tasks."""

        def stable() -> bool:
            for each in members:
                each.beat()
            self.write_something()
            return bool(self.state(group)[0] == "Stable")

        self.brokers.until(stable, f"{group} to be stable")
        (found,) = self.described(group)
        return {each["member_id"]: tasks(each["assignment"]) for each in found["members"]}


def tasks(assignment: Any) -> list[str]:
    """As `active 0: 1, 2`."""
    return [
        f"{kind.removesuffix('_tasks')} {each['subtopology_id']}: {', '.join(map(str, each['partitions']))}"
        for kind in _TASKS
        for each in assignment[kind]
    ]


class Instance:
    """A member of a streams group: it gives up and takes what it is told, with the next heartbeat."""

    def __init__(self, s: StreamsStage, letter: str, group: str, process: str) -> None:
        self.s, self.group = s, group
        self.id = f"member{letter}AAAAAAAAAAAAAAA"
        self.process = f"process{process}AAAAAAAAAAAAAA"
        self.epoch = 0
        self.owned: dict[str, Any] = {each: [] for each in _TASKS}
        self._joining: dict[str, Any] = {}

    def ask(self, epoch: int, **fields: Any) -> Any:
        """One StreamsGroupHeartbeat; what is not given has not changed."""
        asked = {
            "group_id": self.s.named(self.group),
            "member_id": self.id,
            "member_epoch": epoch,
            **fields,
        }
        answer = self.s.say("streams_group_heartbeat", asked)
        if answer is not CLOSED and answer["error_code"] == "NONE":
            self.epoch = max(answer["member_epoch"], 0)
            if answer["active_tasks"] is not None:
                self.owned = {each: answer[each] for each in _TASKS}
        return answer

    def join(self, *subtopologies: Any, epoch: int = 0, **fields: Any) -> Any:
        """Joins with a topology; `fields` take the place of others."""
        self._joining = {
            "rebalance_timeout": REBALANCE_MS,
            "topology": {"epoch": epoch, "subtopologies": list(subtopologies)},
            "process_id": self.process,
            "client_tags": [],
            **{each: [] for each in _TASKS},
            **fields,
        }
        return self.ask(0, **self._joining)

    def beat(self, **fields: Any) -> Any:
        """Says what it has; or joins again, if it has no epoch yet."""
        if not self.epoch:
            return self.ask(0, **{**self._joining, **fields})
        return self.ask(self.epoch, **{**self.owned, **fields})

    def run(self, *subtopologies: Any, **fields: Any) -> Any:
        """Joins, and heartbeats until all topics are there and it has tasks: that answer."""
        answer = self.join(*subtopologies, **fields)

        def assigned() -> bool:
            nonlocal answer
            if not answer["active_tasks"]:
                answer = self.beat()
            return bool(answer["active_tasks"])

        self.s.brokers.until(assigned, f"tasks of {self.id}")
        return answer

    def leave(self, **fields: Any) -> Any:
        return self.ask(-1, **fields)
