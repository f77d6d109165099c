"""Where stories of groups are told: topics of their own, and answers without what differs from run to run."""

import uuid
from collections.abc import Mapping
from typing import Any, Final

from mockbroker.protocol.primitives import short_uuid
from mockbroker.rig import requests, stage
from mockbroker.rig.client import DisconnectedError, Fields
from mockbroker.rig.normalise import Normaliser
from mockbroker.rig.scene import CLOSED

GROUP: Final = 32
"""Type of a resource that is configured."""
UNKNOWN_ID: Final = uuid.UUID("11111111-2222-3333-4444-555555555555")
_LEFT_OUT: Final = ("throttle_time",)


class GroupStage(stage.Stage):
    """Names of a story are its own, and so are member ids, which errors repeat."""

    def begin(self) -> None:
        cluster = self.ask("metadata", {"topics": []}, version=4)
        ranks = {each["node_id"]: index for index, each in enumerate(cluster["brokers"])}
        ports = {each["port"]: index for index, each in enumerate(cluster["brokers"])}
        self.shown = Normaliser("no suffix", cluster["cluster_id"], ranks, ports, self._now_s)
        self.shown.name_topic_id(UNKNOWN_ID, "unknown")
        self._ids: dict[str, uuid.UUID] = {}
        self.enable()
        self.brokers.until(self.coordinates, "coordinators")

    def _now_s(self) -> float:
        return self.brokers.now_ms() / 1000

    def enable(self) -> None:
        """What brokers of some releases have to be told first."""

    def coordinates(self) -> bool:
        """Whether coordinators answer; topics of coordinators are made for the first who looks for them."""
        return True

    # -- names and what is there

    def named(self, name: str) -> str:
        return f"{self.name}-{name}"

    def topic(self, name: str = "t", partitions: int = 1, **configs: str) -> str:
        """A topic; configurations with underscores for dots."""
        full = self.named(name)
        new = requests.new_topic(full, partitions, configs=requests.dotted(configs))
        (made,) = self.ask("create_topics", requests.create_topics(new))["topics"]
        assert made["error_code"] == "NONE", made
        self.brokers.until(lambda: self.led(full, partitions), f"leaders of {full}")
        self._ids[name] = self.ask("metadata", requests.metadata(full))["topics"][0]["topic_id"]
        self.shown.name_topic_id(self._ids[name], name)
        return full

    def led(self, full: str, partitions: int) -> bool:
        (found,) = self.ask("metadata", requests.metadata(full))["topics"]
        led = [each for each in found["partitions"] if each["error_code"] == "NONE"]
        parts = [{"partition_index": each, "timestamp": -1} for each in range(partitions)]
        if found["error_code"] != "NONE" or len(led) != partitions:
            return False
        asked = {"replica_id": -1, "topics": [{"name": full, "partitions": parts}]}
        answer = self.ask("list_offsets", asked, version=5)["topics"][0]["partitions"]
        return all(each["error_code"] == "NONE" for each in answer)

    def topic_id(self, name: str = "t") -> uuid.UUID:
        """`UNKNOWN_ID` if the story has no such topic."""
        return self._ids.get(name, UNKNOWN_ID)

    @staticmethod
    def shown_id(topic_id: uuid.UUID) -> str:
        """As Kafka writes it."""
        return short_uuid(topic_id)

    def configure(self, group: str, **configs: str | None) -> Any:
        """Sets configurations of a group, with underscores for dots, and waits until they are in force."""
        wanted = requests.dotted(configs)
        asked = requests.configure(GROUP, self.named(group), wanted)
        (answer,) = self.ask("incremental_alter_configs", asked)["responses"]
        if answer["error_code"] == "NONE":
            self.brokers.until(lambda: self._configured(group, wanted), f"{wanted}")
        return self.plain(answer)

    def _configured(self, group: str, wanted: Mapping[str, str | None]) -> bool:
        found = self.configs(group)
        return all(found.get(name) == value for name, value in wanted.items() if value is not None)

    def configs(self, group: str) -> dict[str, str]:
        """Those of a group that are in force."""
        asked = [{"resource_type": GROUP, "resource_name": self.named(group), "configuration_keys": None}]
        (found,) = self.ask("describe_configs", {"resources": asked}, version=4)["results"]
        return {each["name"]: each["value"] for each in found["configs"]}

    # -- asking

    def say(self, api: str, fields: Fields, version: int | None = None, by: str = "") -> Any:
        """The answer, without what differs from run to run."""
        try:
            return self.shown_as(api, self.ask(api, fields, version=version, by=by))
        except DisconnectedError:
            self._clients.clear()
            return CLOSED

    def shown_as(self, api: str, answer: Any) -> Any:
        return self.plain(self.shown.answer(answer, api))

    def plain(self, answer: Any) -> Any:
        if isinstance(answer, dict):
            return {
                name: "<port>" if name == "port" and each != -1 else self.plain(each)
                for name, each in answer.items()
                if name not in _LEFT_OUT
            }
        if isinstance(answer, list):
            return [self.plain(each) for each in answer]
        return answer
