"""DescribeConfigs: KIP-133, KIP-226 (synonyms), KIP-569 (types, documentation)."""

from collections.abc import Iterable
from typing import Any

from ..registry import Scene, Steps, question

TOPIC, BROKER, LOGGER, CLIENT_METRICS, GROUP = 2, 4, 8, 16, 32

ENVIRONMENT = frozenset(
    {
        "advertised.listeners",
        "broker.id",
        "controller.listener.names",
        "controller.quorum.voters",
        "inter.broker.listener.name",
        "listener.security.protocol.map",
        "listeners",
        "log.cleaner.dedupe.buffer.size",
        "log.dirs",
        "node.id",
        "num.io.threads",
        "num.network.threads",
        "process.roles",
    }
)
"""Broker configs whose values belong to one process or machine."""


def _describe(
    s: Scene,
    kind: int,
    name: str,
    keys: Iterable[str] | None = None,
    *,
    synonyms: bool = False,
    documentation: bool = False,
) -> Any:
    resource = {
        "resource_type": kind,
        "resource_name": name,
        "configuration_keys": None if keys is None else list(keys),
    }
    return s.ask(resources=[resource], include_synonyms=synonyms, include_documentation=documentation)


def _name(config: dict[str, Any]) -> str:
    return str(config["name"])


def _whole_topic(s: Scene, **configs: str) -> str:
    return s.topic(configs={key.replace("_", "."): value for key, value in configs.items()})


def topic(s: Scene) -> Steps:
    """Every config of a topic: value, source, type."""
    answer = _describe(s, TOPIC, _whole_topic(s, retention_ms="60000"))
    for each in sorted(answer["results"][0].pop("configs"), key=_name):
        yield each["name"], each
    yield "the rest", answer


def topic_synonyms(s: Scene) -> Steps:
    """Where a value comes from, and what it would be without it."""
    answer = _describe(s, TOPIC, _whole_topic(s, retention_ms="60000"), synonyms=True)
    for each in sorted(answer["results"][0].pop("configs"), key=_name):
        yield each["name"], each["synonyms"]


@question(since=3)
def topic_documentation(s: Scene) -> Steps:
    """Only whether there is documentation: the texts are Kafka's."""
    plain = _describe(s, TOPIC, s.topic())["results"][0]["configs"]
    yield "not asked for", sorted({repr(each["documentation"]) for each in plain})
    told = _describe(s, TOPIC, s.topic("told"), documentation=True)["results"][0]["configs"]
    yield "asked for", sorted({type(each["documentation"]).__name__ for each in told})
    yield "without any text", sorted(each["name"] for each in told if not each["documentation"])


def chosen_keys(s: Scene) -> Steps:
    name = s.topic()
    yield "two", _describe(s, TOPIC, name, ["retention.ms", "cleanup.policy"])
    yield "unknown", _describe(s, TOPIC, name, ["no.such.config"])
    yield "broker config", _describe(s, TOPIC, name, ["log.retention.ms"])
    yield "the same twice", _describe(s, TOPIC, name, ["retention.ms", "retention.ms"])
    empty = _describe(s, TOPIC, name, [])
    yield "an empty list", len(empty["results"][0]["configs"])


def unknown_resources(s: Scene) -> Steps:
    yield "unknown topic", _describe(s, TOPIC, s.name("unknown"))
    yield "invalid topic name", _describe(s, TOPIC, "a b")
    yield "empty topic name", _describe(s, TOPIC, "")
    yield "unknown broker", _describe(s, BROKER, "9999")
    yield "broker that is no number", _describe(s, BROKER, "one")
    yield "type 0", _describe(s, 0, "x")
    yield "type 1", _describe(s, 1, "x")
    yield "type 3", _describe(s, 3, "x")
    yield "type 99", _describe(s, 99, "x")
    yield "loggers of an unknown broker", _describe(s, LOGGER, "9999")


@question(newest_only=True)
def other_resources(s: Scene) -> Steps:
    yield "client metrics", _describe(s, CLIENT_METRICS, s.name("m"))
    yield "client metrics, empty name", _describe(s, CLIENT_METRICS, "")
    yield "group", _describe(s, GROUP, s.name("g"))
    yield "group, empty name", _describe(s, GROUP, "")


def several_resources(s: Scene) -> Steps:
    a, b = s.topic("a"), s.topic("b")
    resources = [
        {"resource_type": TOPIC, "resource_name": name, "configuration_keys": ["retention.ms"]}
        for name in (b, a, s.name("unknown"), a)
    ]
    yield "two, one unknown, one twice", s.ask(resources=resources, include_synonyms=False)
    yield "none", s.ask(resources=[], include_synonyms=False)


def default_broker(s: Scene) -> Steps:
    """The empty name stands for the dynamic defaults of all brokers."""
    yield "no dynamic configs", _describe(s, BROKER, "")


def broker(s: Scene) -> Steps:
    """Every config of a broker; those that belong to a process or machine without their values."""
    node = str(s.node(0))
    for each in sorted(_describe(s, BROKER, node, synonyms=True)["results"][0]["configs"], key=_name):
        if each["name"] in ENVIRONMENT:
            each.update(value="<environment>", config_source="<environment>", synonyms="<environment>")
        yield each["name"], each


def chosen_broker_keys(s: Scene) -> Steps:
    keys = [
        "num.partitions",
        "auto.create.topics.enable",
        "message.max.bytes",
        "log.retention.ms",
        "no.such.config",
    ]
    answer = _describe(s, BROKER, str(s.node(0)), keys)
    answer["results"][0]["resource_name"] = "<broker:0>"
    yield "five", answer


@question(newest_only=True)
def loggers(s: Scene) -> Steps:
    answer = _describe(s, LOGGER, str(s.node(0)), ["root"])
    answer["results"][0].update(
        resource_name="<broker:0>", configs="<left out: depends on the logging set-up>"
    )
    yield "root", answer


@question(brokers=3)
def another_broker(s: Scene) -> Steps:
    """A broker answers for itself only."""
    for rank in (0, 1):
        answer = _describe(s, BROKER, str(s.node(rank)), ["num.partitions"])
        answer["results"][0]["resource_name"] = f"<broker:{rank}>"
        yield f"broker {rank}, asked of broker 0", answer


def resources_named_twice(s: Scene) -> Steps:
    name = s.topic()

    def ask(*keys: list[str] | None, kind: int = TOPIC, named: str = name) -> Any:
        resource = {"resource_type": kind, "resource_name": named}
        asked = [{**resource, "configuration_keys": each} for each in keys]
        return s.ask(resources=asked, include_synonyms=False, include_documentation=False)

    yield "a topic, other keys", ask(["retention.ms"], ["cleanup.policy"])
    yield "a topic, a key and none", ask(["retention.ms"], [])
    yield "an unknown topic", ask(["retention.ms"], ["retention.ms"], named=s.name("unknown"))
    yield "all brokers", ask(["num.partitions"], ["num.partitions"], kind=BROKER, named="")
