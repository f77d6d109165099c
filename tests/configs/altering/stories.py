"""AlterConfigs and IncrementalAlterConfigs with null values, names that occur twice, and unknown topics."""

from pathlib import Path
from typing import Any, Final

from mockbroker.rig import requests
from mockbroker.rig.client import DisconnectedError, Fields
from mockbroker.rig.setup import BROKER_CONFIG
from mockbroker.rig.stage import Stage
from mockbroker.rig.stories import Setting, Steps, Told, named

Item = tuple[str, str | None]
Change = tuple[int, str, str | None]
_TOPIC: Final = "orders"
_BROKER: Final = 4
_SET, _DELETE, _APPEND, _SUBTRACT = range(4)
_KEPT: Final = ("retention.ms", "70000")
_SPELLED: Final = ("Resource(type=TOPIC, name='orders'}", "ConfigResource(type=TOPIC, name='orders')")
_OF_JAVA: Final = "Cannot invoke"
"""How messages of its own begin."""


class AlteringStage(Stage):
    def begin(self) -> None:
        self.ask("create_topics", requests.create_topics(requests.new_topic(_TOPIC)), version=2)
        self.brokers.until(self._is_there, "the topic to be there")
        # Another story may have changed it.
        self.alter(("max.message.bytes", "5000"), validate=False)
        self.brokers.until(lambda: self.set() == {"max.message.bytes": "5000"}, "the configuration")

    def _is_there(self) -> bool:
        (topic,) = self.ask("metadata", requests.metadata(_TOPIC), version=4)["topics"]
        return bool(topic["error_code"] == "NONE")

    def alter(
        self,
        *items: Item,
        name: str = _TOPIC,
        kind: int = requests.TOPIC,
        version: int = 0,
        validate: bool = True,
    ) -> Any:
        """The answer to AlterConfigs."""
        configs = [{"name": key, "value": value} for key, value in items]
        return self._answer("alter_configs", configs, name, kind, version, validate)

    def change(
        self,
        *changes: Change,
        name: str = _TOPIC,
        kind: int = requests.TOPIC,
        version: int = 0,
        validate: bool = True,
    ) -> Any:
        """The answer to IncrementalAlterConfigs."""
        configs = [
            {"config_operation": operation, "name": key, "value": value} for operation, key, value in changes
        ]
        return self._answer("incremental_alter_configs", configs, name, kind, version, validate)

    def _answer(
        self, api: str, configs: list[dict[str, Any]], name: str, kind: int, version: int, validate: bool
    ) -> Any:
        resource: Fields = {"resource_type": kind, "resource_name": name, "configs": configs}
        fields = {"resources": [resource], "validate_only": validate}
        try:
            (found,) = self.ask(api, fields, version=version)["responses"]
        except DisconnectedError:
            self.close()
            return "closed"
        # 1.1 spells resources otherwise.
        message = (found["error_message"] or "").replace(*_SPELLED) or None
        return [found["error_code"], None if message and message.startswith(_OF_JAVA) else message]

    def set(self) -> Any:
        """What is set for the topic."""
        asked = [{"resource_type": requests.TOPIC, "resource_name": _TOPIC, "configuration_keys": None}]
        (found,) = self.ask("describe_configs", {"resources": asked}, version=1)["results"]
        return {each["name"]: each["value"] for each in found["configs"] if each["config_source"] == 1}


def altering(s: AlteringStage) -> Steps:
    """AlterConfigs."""
    for version in range(s.newest("alter_configs") + 1):
        yield f"v{version}, null", s.alter(("retention.ms", None), version=version)
    yield "null, not only tried", s.alter(("retention.ms", None), validate=False)
    yield "then", s.set()
    yield "two nulls", s.alter(("retention.ms", None), ("segment.ms", None))
    yield "null and more", s.alter(_KEPT, ("segment.ms", None))
    yield "null, unknown key", s.alter(("no.such.config", None))
    yield "null, unknown topic", s.alter(("retention.ms", None), name="no-such-topic")
    yield "null, of the broker", s.alter(("log.retention.ms", None), name="1", kind=_BROKER)
    yield "null, of all brokers", s.alter(("log.retention.ms", None), name="", kind=_BROKER)
    yield "twice", s.alter(("retention.ms", "1"), _KEPT)
    yield "twice, null first", s.alter(("retention.ms", None), _KEPT)
    yield "twice, null last", s.alter(_KEPT, ("retention.ms", None))
    yield "unknown topic", s.alter(_KEPT, name="no-such-topic")
    yield "unknown topic, not only tried", s.alter(_KEPT, name="no-such-topic", validate=False)
    yield "unknown topic, bad value", s.alter(("retention.ms", "soon"), name="no-such-topic")
    yield "unknown topic, no configs", s.alter(name="no-such-topic")
    yield "bad value", s.alter(("retention.ms", "soon"))
    yield "unknown key", s.alter(("no.such.config", "1"))


def changing(s: AlteringStage) -> Steps:
    """IncrementalAlterConfigs."""
    s.needs("incremental_alter_configs")
    for version in range(s.newest("incremental_alter_configs") + 1):
        yield f"v{version}, set null", s.change((_SET, "retention.ms", None), version=version)
    yield "set null, not only tried", s.change((_SET, "retention.ms", None), validate=False)
    yield "then", s.set()
    for operation, label in ((_APPEND, "append"), (_SUBTRACT, "subtract")):
        yield f"{label} null", s.change((operation, "cleanup.policy", None))
        yield f"{label} null to a number", s.change((operation, "retention.ms", None))
    yield "two nulls", s.change((_SET, "retention.ms", None), (_APPEND, "cleanup.policy", None))
    yield "null and more", s.change((_SET, *_KEPT), (_SET, "segment.ms", None))
    yield "null, unknown key", s.change((_SET, "no.such.config", None))
    yield "null, unknown topic", s.change((_SET, "retention.ms", None), name="no-such-topic")
    yield "null, of the broker", s.change((_SET, "log.retention.ms", None), name="1", kind=_BROKER)
    yield "null, of all brokers", s.change((_SET, "log.retention.ms", None), name="", kind=_BROKER)
    yield "twice", s.change((_SET, "retention.ms", "1"), (_SET, *_KEPT))
    yield "twice, not only tried", s.change((_SET, "retention.ms", "1"), (_SET, *_KEPT), validate=False)
    yield "then", s.set()
    yield "set and deleted", s.change((_SET, *_KEPT), (_DELETE, "retention.ms", None))
    yield "thrice", s.change(*[(_SET, *_KEPT)] * 3)
    one, other = (_SET, *_KEPT), (_SET, "segment.ms", "9999999")
    yield "two keys twice", s.change(one, other, one, other)
    yield "twice, null first", s.change((_SET, "retention.ms", None), one)
    yield "twice, null last", s.change(one, (_SET, "retention.ms", None))
    yield "twice, of the broker", s.change(*[(_SET, "log.retention.ms", "70000")] * 2, name="1", kind=_BROKER)
    yield "twice, unknown key", s.change(*[(_SET, "no.such.config", "1")] * 2)
    yield "twice, unknown topic", s.change(one, one, name="no-such-topic")
    yield "unknown topic", s.change(one, name="no-such-topic")
    yield "unknown topic, bad value", s.change((_SET, "retention.ms", "soon"), name="no-such-topic")
    yield "unknown topic, no changes", s.change(name="no-such-topic")
    yield "bad value", s.change((_SET, "retention.ms", "soon"))
    yield "unknown key", s.change((_SET, "no.such.config", "1"))
    yield "append to a number", s.change((_APPEND, "retention.ms", "1"))


STORIES: Final = Told(
    folder=Path(__file__).parent,
    stories=named(altering, changing),
    stage=AlteringStage,
    setting=Setting(config=BROKER_CONFIG),
)
