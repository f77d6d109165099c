"""IncrementalAlterConfigs (KIP-339)."""

from typing import Any

from ..registry import Steps, about
from ..scene import Scene
from .alter_configs import dynamic
from .create_topics import VALUES
from .describe_configs import BROKER, CLIENT_METRICS, GROUP, LOGGER, TOPIC

question = about("incremental_alter_configs")

SET, DELETE, APPEND, SUBTRACT = range(4)


def _alter(
    s: Scene, name: str, *ops: tuple[int, str, str | None], kind: int = TOPIC, validate_only: bool = False
) -> Any:
    items = [{"name": key, "config_operation": op, "value": value} for op, key, value in ops]
    resource = {"resource_type": kind, "resource_name": name, "configs": items}
    return s.ask(resources=[resource], validate_only=validate_only)


@question()
def set_and_delete(s: Scene) -> Steps:
    topic = s.topic(configs={"retention.ms": "60000", "max.message.bytes": "5000"})
    yield "set", _alter(s, topic, (SET, "retention.ms", "70000"))
    s.until(lambda: dynamic(s, topic).get("retention.ms") == "70000")
    yield "then", dynamic(s, topic)
    yield "delete", _alter(s, topic, (DELETE, "retention.ms", None))
    s.until(lambda: "retention.ms" not in dynamic(s, topic))
    yield "then", dynamic(s, topic)
    yield "delete what isn't set", _alter(s, topic, (DELETE, "retention.ms", None))
    yield "delete with a value", _alter(s, topic, (DELETE, "max.message.bytes", "5"))
    yield "delete an unknown config", _alter(s, topic, (DELETE, "no.such.config", None))
    yield (
        "set and delete different ones",
        _alter(s, topic, (SET, "segment.ms", "9"), (DELETE, "flush.ms", None)),
    )
    yield "no configs", _alter(s, topic)


@question()
def lists(s: Scene) -> Steps:
    """APPEND and SUBTRACT work on lists."""
    topic = s.topic()

    def policy() -> str | None:
        return dynamic(s, topic).get("cleanup.policy")

    yield "append", _alter(s, topic, (APPEND, "cleanup.policy", "compact"))
    s.until(lambda: policy() == "delete,compact")
    yield "then", policy()
    yield "append what is there", _alter(s, topic, (APPEND, "cleanup.policy", "compact"))
    yield "then", policy()
    yield "append a wrong one", _alter(s, topic, (APPEND, "cleanup.policy", "shrink"))
    yield "subtract", _alter(s, topic, (SUBTRACT, "cleanup.policy", "delete"))
    s.until(lambda: policy() == "compact")
    yield "then", policy()
    yield "subtract what isn't there", _alter(s, topic, (SUBTRACT, "cleanup.policy", "delete"))
    yield "append null", _alter(s, topic, (APPEND, "cleanup.policy", None))
    yield "subtract null", _alter(s, topic, (SUBTRACT, "cleanup.policy", None))
    yield "subtract the last", _alter(s, topic, (SUBTRACT, "cleanup.policy", "compact"), validate_only=True)
    yield "append two", _alter(s, topic, (APPEND, "cleanup.policy", "compact,delete"), validate_only=True)


@question()
def operations_on_other_types(s: Scene) -> Steps:
    topic = s.topic()
    yield "append to a number", _alter(s, topic, (APPEND, "retention.ms", "1"))
    yield "subtract from a number", _alter(s, topic, (SUBTRACT, "retention.ms", "1"))
    yield "append to a string", _alter(s, topic, (APPEND, "compression.type", "zstd"))
    yield "append to an unknown config", _alter(s, topic, (APPEND, "no.such.config", "1"))
    for operation in (4,):
        yield f"operation {operation}", _alter(s, topic, (operation, "retention.ms", "1"))


@question(newest_only=True)
def values(s: Scene) -> Steps:
    topic = s.topic()
    for label, (name, value) in VALUES.items():
        yield label, _alter(s, topic, (SET, name, value), validate_only=True)["responses"]


@question()
def duplicates(s: Scene) -> Steps:
    topic = s.topic()
    twice = ((SET, "retention.ms", "1"), (SET, "retention.ms", "2"))
    yield "same config twice", _alter(s, topic, *twice, validate_only=True)
    both = ((SET, "retention.ms", "1"), (DELETE, "retention.ms", None))
    yield "set and deleted", _alter(s, topic, *both, validate_only=True)
    resource = {"resource_type": TOPIC, "resource_name": topic, "configs": []}
    yield "same topic twice", s.ask(resources=[resource, resource], validate_only=True)
    yield "none", s.ask(resources=[], validate_only=True)


@question()
def several_resources(s: Scene) -> Steps:
    """Each resource succeeds or fails as a whole."""
    a, b = s.topic("a"), s.topic("b")
    wrong = {"name": "retention.ms", "config_operation": SET, "value": "soon"}
    right = {"name": "max.message.bytes", "config_operation": SET, "value": "5000"}
    resources = [
        {"resource_type": TOPIC, "resource_name": a, "configs": [right, wrong]},
        {"resource_type": TOPIC, "resource_name": b, "configs": [right]},
        {"resource_type": TOPIC, "resource_name": s.name("unknown"), "configs": [right]},
    ]
    yield "half wrong, right, unknown", s.ask(resources=resources, validate_only=False)
    s.until(lambda: dynamic(s, b) != {})
    yield "then", [dynamic(s, a), dynamic(s, b)]


@question()
def validate_only(s: Scene) -> Steps:
    topic = s.topic()
    yield "valid", _alter(s, topic, (SET, "retention.ms", "70000"), validate_only=True)
    yield "invalid", _alter(s, topic, (SET, "retention.ms", "soon"), validate_only=True)
    yield "then", dynamic(s, topic)


@question()
def unknown_resources(s: Scene) -> Steps:
    one = (SET, "retention.ms", "1")
    yield "unknown topic", _alter(s, s.name("unknown"), one)
    yield "invalid topic name", _alter(s, "a b", one)
    yield "empty topic name", _alter(s, "", one)
    for kind in (0, 1, 3, 99):
        yield f"type {kind}", _alter(s, "x", one, kind=kind)
    yield "client metrics", _alter(s, s.name("m"), (SET, "no.such.config", "1"), kind=CLIENT_METRICS)
    yield "group", _alter(s, s.name("g"), (SET, "no.such.config", "1"), kind=GROUP)
    yield "loggers of an unknown broker", _alter(s, "9999", (SET, "root", "INFO"), kind=LOGGER)


@question()
def brokers(s: Scene) -> Steps:
    """Nothing is changed."""

    def alter(name: str, *ops: tuple[int, str, str | None]) -> Any:
        answer = _alter(s, name, *ops, kind=BROKER, validate_only=True)
        for each in answer["responses"]:
            each["resource_name"] = each["resource_name"] and "<name>"
        return answer

    node = str(s.node(0))
    yield "dynamic config", alter(node, (SET, "log.retention.ms", "1000"))
    yield "dynamic config, all brokers", alter("", (SET, "log.retention.ms", "1000"))
    yield "delete", alter(node, (DELETE, "log.retention.ms", None))
    yield "read-only config", alter(node, (SET, "num.partitions", "3"))
    yield "unknown config", alter(node, (SET, "no.such.config", "1"))
    yield "wrong value", alter(node, (SET, "log.retention.ms", "soon"))
    yield "append to a list", alter(node, (APPEND, "log.cleanup.policy", "compact"))
    yield "unknown broker", alter("9999", (SET, "log.retention.ms", "1000"))
    yield "no number", alter("one", (SET, "log.retention.ms", "1000"))


@question()
def takes_effect(s: Scene) -> Steps:
    """A smaller max.message.bytes refuses the next batch."""
    from ..batches import batch, records

    topic = s.topic()
    yield "set", _alter(s, topic, (SET, "max.message.bytes", "100"))

    def refused() -> bool:
        part = {"index": 0, "records": batch(records(1, size=500))}
        topics = [{**s.topic_ref(topic), "partition_data": [part]}]
        answer = s.call("produce", {"acks": -1, "timeout": 1000, "topic_data": topics})
        return bool(answer["responses"][0]["partition_responses"][0]["error_code"] == "MESSAGE_TOO_LARGE")

    yield "then", s.until(refused)
