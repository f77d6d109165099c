"""AlterConfigs (KIP-133): sets all configs of a resource; what is left out goes back to its default."""

from typing import Any

from ..registry import Scene, Steps, question
from .create_topics import VALUES
from .describe_configs import BROKER, CLIENT_METRICS, GROUP, LOGGER, TOPIC


def _alter(
    s: Scene, name: str, *configs: tuple[str, str | None], kind: int = TOPIC, validate_only: bool = False
) -> Any:
    items = [{"name": key, "value": value} for key, value in configs]
    resource = {"resource_type": kind, "resource_name": name, "configs": items}
    return s.ask(resources=[resource], validate_only=validate_only, within=1.5)


def dynamic(s: Scene, topic: str) -> dict[str, str]:
    """Configs set on the topic itself."""
    resource = {"resource_type": TOPIC, "resource_name": topic, "configuration_keys": None}
    found = s.call("describe_configs", {"resources": [resource]})["results"][0]["configs"]
    return {each["name"]: each["value"] for each in found if each["config_source"] == 1}


def replaces_everything(s: Scene) -> Steps:
    topic = s.topic(configs={"retention.ms": "60000", "max.message.bytes": "5000"})
    yield "one config", _alter(s, topic, ("retention.ms", "70000"))
    s.until(lambda: dynamic(s, topic).get("retention.ms") == "70000")
    yield "then", dynamic(s, topic)
    yield "no configs", _alter(s, topic)
    s.until(lambda: dynamic(s, topic) == {})
    yield "then", dynamic(s, topic)


def validate_only(s: Scene) -> Steps:
    topic = s.topic()
    yield "valid", _alter(s, topic, ("retention.ms", "70000"), validate_only=True)
    yield "invalid", _alter(s, topic, ("retention.ms", "soon"), validate_only=True)
    yield "then", dynamic(s, topic)


@question(at=(0, 2))
def values(s: Scene) -> Steps:
    topic = s.topic()
    for label, (name, value) in VALUES.items():
        yield label, _alter(s, topic, (name, value), validate_only=True)["responses"]


def duplicates(s: Scene) -> Steps:
    topic = s.topic()
    yield (
        "same config twice",
        _alter(s, topic, ("retention.ms", "1"), ("retention.ms", "2"), validate_only=True),
    )
    resource = {"resource_type": TOPIC, "resource_name": topic, "configs": []}
    yield "same topic twice", s.ask(resources=[resource, resource], validate_only=True, within=1.5)
    yield "none", s.ask(resources=[], validate_only=True)


def unknown_resources(s: Scene) -> Steps:
    yield "unknown topic", _alter(s, s.name("unknown"), ("retention.ms", "1"))
    yield "invalid topic name", _alter(s, "a b", ("retention.ms", "1"))
    yield "empty topic name", _alter(s, "", ("retention.ms", "1"))
    for kind in (0, 1, 3, 99):
        yield f"type {kind}", _alter(s, "x", ("retention.ms", "1"), kind=kind)
    yield "loggers", _alter(s, str(s.node(0)), ("root", "INFO"), kind=LOGGER)
    yield "client metrics", _alter(s, s.name("m"), ("no.such.config", "1"), kind=CLIENT_METRICS)
    yield "group", _alter(s, s.name("g"), ("no.such.config", "1"), kind=GROUP)


def brokers(s: Scene) -> Steps:
    """Nothing is changed."""

    def alter(name: str, *configs: tuple[str, str | None]) -> Any:
        answer = _alter(s, name, *configs, kind=BROKER, validate_only=True)
        for each in answer["responses"]:
            each["resource_name"] = each["resource_name"] and "<name>"
        return answer

    node = str(s.node(0))
    yield "dynamic config", alter(node, ("log.retention.ms", "1000"))
    yield "dynamic config, all brokers", alter("", ("log.retention.ms", "1000"))
    yield "read-only config", alter(node, ("num.partitions", "3"))
    yield "unknown config", alter(node, ("no.such.config", "1"))
    yield "wrong value", alter(node, ("log.retention.ms", "soon"))
    yield "unknown broker", alter("9999", ("log.retention.ms", "1000"))
    yield "no number", alter("one", ("log.retention.ms", "1000"))
    yield "per-broker config for all", alter("", ("listeners", "PLAINTEXT://127.0.0.1:1"))
