"""IncrementalAlterConfigs (KIP-339)."""

from typing import Any

from ..registry import Scene, Steps, question
from .alter_configs import dynamic
from .create_topics import VALUES
from .describe_configs import BROKER, CLIENT_METRICS, GROUP, LOGGER, TOPIC

SET, DELETE, APPEND, SUBTRACT = range(4)


def altered(
    s: Scene, name: str, *ops: tuple[int, str, str | None], kind: int = TOPIC, validate_only: bool = False
) -> Any:
    items = [{"name": key, "config_operation": op, "value": value} for op, key, value in ops]
    resource = {"resource_type": kind, "resource_name": name, "configs": items}
    return s.ask(resources=[resource], validate_only=validate_only)


def outcome(answer: list[dict[str, Any]], value: str = "") -> Any:
    """Error and message; long values shortened."""
    (one,) = answer
    message = one["error_message"]
    if len(value) > 100 and message is not None:
        message = message.replace(value, f"{value[:3]}…{value[-3:]}")
    return [one["error_code"], message]


def set_and_delete(s: Scene) -> Steps:
    topic = s.topic(configs={"retention.ms": "60000", "max.message.bytes": "5000"})
    yield "set", altered(s, topic, (SET, "retention.ms", "70000"))
    s.until(lambda: dynamic(s, topic).get("retention.ms") == "70000")
    yield "then", dynamic(s, topic)
    yield "delete", altered(s, topic, (DELETE, "retention.ms", None))
    s.until(lambda: "retention.ms" not in dynamic(s, topic))
    yield "then", dynamic(s, topic)
    yield "delete what isn't set", altered(s, topic, (DELETE, "retention.ms", None))
    yield "delete with a value", altered(s, topic, (DELETE, "max.message.bytes", "5"))
    yield "delete an unknown config", altered(s, topic, (DELETE, "no.such.config", None))
    yield (
        "set and delete different ones",
        altered(s, topic, (SET, "segment.ms", "9"), (DELETE, "flush.ms", None)),
    )
    yield "no configs", altered(s, topic)


def lists(s: Scene) -> Steps:
    """APPEND and SUBTRACT work on lists."""
    topic = s.topic()

    def policy() -> str | None:
        return dynamic(s, topic).get("cleanup.policy")

    yield "append", altered(s, topic, (APPEND, "cleanup.policy", "compact"))
    s.until(lambda: policy() == "delete,compact")
    yield "then", policy()
    yield "append what is there", altered(s, topic, (APPEND, "cleanup.policy", "compact"))
    yield "then", policy()
    yield "append a wrong one", altered(s, topic, (APPEND, "cleanup.policy", "shrink"))
    yield "subtract", altered(s, topic, (SUBTRACT, "cleanup.policy", "delete"))
    s.until(lambda: policy() == "compact")
    yield "then", policy()
    yield "subtract what isn't there", altered(s, topic, (SUBTRACT, "cleanup.policy", "delete"))
    yield "append null", altered(s, topic, (APPEND, "cleanup.policy", None))
    yield "subtract null", altered(s, topic, (SUBTRACT, "cleanup.policy", None))
    yield "subtract the last", altered(s, topic, (SUBTRACT, "cleanup.policy", "compact"), validate_only=True)
    yield "append two", altered(s, topic, (APPEND, "cleanup.policy", "compact,delete"), validate_only=True)


def operations_on_other_types(s: Scene) -> Steps:
    topic = s.topic()
    yield "append to a number", altered(s, topic, (APPEND, "retention.ms", "1"))
    yield "subtract from a number", altered(s, topic, (SUBTRACT, "retention.ms", "1"))
    yield "append to a string", altered(s, topic, (APPEND, "compression.type", "zstd"))
    yield "append to an unknown config", altered(s, topic, (APPEND, "no.such.config", "1"))
    for operation in (4,):
        yield f"operation {operation}", altered(s, topic, (operation, "retention.ms", "1"))


@question(newest_only=True)
def values(s: Scene) -> Steps:
    topic = s.topic()
    for label, (name, value) in VALUES.items():
        yield label, altered(s, topic, (SET, name, value), validate_only=True)["responses"]


def duplicates(s: Scene) -> Steps:
    topic = s.topic()
    twice = ((SET, "retention.ms", "1"), (SET, "retention.ms", "2"))
    yield "same config twice", altered(s, topic, *twice, validate_only=True)
    both = ((SET, "retention.ms", "1"), (DELETE, "retention.ms", None))
    yield "set and deleted", altered(s, topic, *both, validate_only=True)
    resource = {"resource_type": TOPIC, "resource_name": topic, "configs": []}
    yield "same topic twice", s.ask(resources=[resource, resource], validate_only=True)
    yield "none", s.ask(resources=[], validate_only=True)


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


def validate_only(s: Scene) -> Steps:
    topic = s.topic()
    yield "valid", altered(s, topic, (SET, "retention.ms", "70000"), validate_only=True)
    yield "invalid", altered(s, topic, (SET, "retention.ms", "soon"), validate_only=True)
    yield "then", dynamic(s, topic)


def unknown_resources(s: Scene) -> Steps:
    one = (SET, "retention.ms", "1")
    yield "unknown topic", altered(s, s.name("unknown"), one)
    yield "invalid topic name", altered(s, "a b", one)
    yield "empty topic name", altered(s, "", one)
    for kind in (0, 1, 3, 99):
        yield f"type {kind}", altered(s, "x", one, kind=kind)
    yield "client metrics", altered(s, s.name("m"), (SET, "no.such.config", "1"), kind=CLIENT_METRICS)
    yield "group", altered(s, s.name("g"), (SET, "no.such.config", "1"), kind=GROUP)
    yield "loggers of an unknown broker", altered(s, "9999", (SET, "root", "INFO"), kind=LOGGER)
    unknown = altered(s, str(s.node(0)), (4, "root", "INFO"), kind=LOGGER)
    yield "loggers, an operation that does not exist", unknown["responses"][0]["error_code"]


def limits_of_groups(s: Scene) -> Steps:
    """What brokers allow for groups. Nothing is changed."""

    def alter(**configs: str) -> Any:
        ops = [(SET, name.replace("_", "."), value) for name, value in configs.items()]
        return altered(s, s.name("g"), *ops, kind=GROUP, validate_only=True)

    yield "session too short", alter(consumer_session_timeout_ms="1")
    yield "session too long", alter(consumer_session_timeout_ms="70000")
    yield "heartbeats too frequent", alter(consumer_heartbeat_interval_ms="1")
    yield "heartbeats too rare", alter(consumer_heartbeat_interval_ms="16000")
    yield "both", alter(consumer_session_timeout_ms="1", consumer_heartbeat_interval_ms="1")
    yield "assignments too rare", alter(consumer_assignment_interval_ms="16000")
    yield "assignments negative", alter(consumer_assignment_interval_ms="-1")
    yield "within", alter(consumer_session_timeout_ms="60000", consumer_heartbeat_interval_ms="15000")
    yield "share session", alter(share_session_timeout_ms="1")
    yield "share heartbeats", alter(share_heartbeat_interval_ms="16000")
    yield "share locks too short", alter(share_record_lock_duration_ms="2000")
    yield "share locks too long", alter(share_record_lock_duration_ms="70000")
    yield "share deliveries", alter(share_delivery_count_limit="11")
    yield "share records", alter(share_partition_max_record_locks="20000")
    yield "share assignments", alter(share_assignment_interval_ms="16000")
    yield "streams session", alter(streams_session_timeout_ms="70000")
    yield "streams heartbeats", alter(streams_heartbeat_interval_ms="1")
    yield "streams standbys", alter(streams_num_standby_replicas="3")
    yield "streams assignments", alter(streams_assignment_interval_ms="16000")


def brokers(s: Scene) -> Steps:
    """Nothing is changed."""

    def alter(name: str, *ops: tuple[int, str, str | None]) -> Any:
        answer = altered(s, name, *ops, kind=BROKER, validate_only=True)
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


@question(newest_only=True)
def broker_security(s: Scene) -> Steps:
    """Which security configurations may be set while brokers run. Nothing is changed."""
    security = {
        "sasl.enabled.mechanisms": "PLAIN",
        "sasl.mechanism.inter.broker.protocol": "PLAIN",
        "sasl.jaas.config": "",
        "sasl.kerberos.service.name": "kafka",
        "sasl.kerberos.kinit.cmd": "/usr/bin/kinit",
        "sasl.kerberos.ticket.renew.window.factor": "0.7",
        "sasl.kerberos.ticket.renew.jitter": "0.1",
        "sasl.kerberos.min.time.before.relogin": "60000",
        "sasl.kerberos.principal.to.local.rules": "DEFAULT",
        "sasl.login.class": "",
        "sasl.login.refresh.window.factor": "0.7",
        "sasl.login.refresh.window.jitter": "0.1",
        "sasl.login.refresh.min.period.seconds": "70",
        "sasl.login.refresh.buffer.seconds": "200",
        "ssl.protocol": "TLSv1.2",
        "ssl.provider": "none",
        "ssl.cipher.suites": "TLS_AES_128_GCM_SHA256",
        "ssl.enabled.protocols": "TLSv1.2",
        "ssl.keystore.type": "JKS",
        "ssl.keystore.location": "/nowhere",
        "ssl.keystore.password": "secret",
        "ssl.key.password": "secret",
        "ssl.keystore.key": "secret",
        "ssl.keystore.certificate.chain": "secret",
        "ssl.truststore.type": "JKS",
        "ssl.truststore.location": "/nowhere",
        "ssl.truststore.password": "secret",
        "ssl.truststore.certificates": "secret",
        "ssl.keymanager.algorithm": "SunX509",
        "ssl.trustmanager.algorithm": "PKIX",
        "ssl.endpoint.identification.algorithm": "",
        "ssl.secure.random.implementation": "SHA1PRNG",
        "ssl.client.auth": "required",
        "ssl.engine.factory.class": "",
        "ssl.principal.mapping.rules": "DEFAULT",
        "ssl.allow.dn.changes": "true",
        "ssl.allow.san.changes": "true",
        "principal.builder.class": "no.such.Class",
        "max.connections": "100",
        "max.connections.per.ip": "100",
        "max.connections.per.ip.overrides": "127.0.0.1:100",
        "max.connection.creation.rate": "100",
        "max.connections.per.listener": "100",
        "advertised.listeners": "PLAINTEXT://127.0.0.1:1",
        "metric.reporters": "",
        "connections.max.reauth.ms": "1000",
    }
    for name, value in security.items():
        for broker, label in (("", "all"), (str(s.node(0)), "one")):
            answer = altered(s, broker, (SET, name, value), kind=BROKER, validate_only=True)["responses"]
            yield f"{name}, {label}", outcome(answer, value)
    for label, named in (
        (
            "static ones",
            {
                "num.partitions": "1",
                "log.dirs": "/x",
                "log.dir": "/x",
                "broker.rack": "a",
            },
        ),
        ("two for one listener", {"ssl.keystore.type": "JKS", "ssl.keystore.location": "/x"}),
        ("two for one broker", {"ssl.client.auth": "none", "advertised.listeners": "PLAINTEXT://a:1"}),
    ):
        for count in range(1, len(named) + 1):
            changes = [(SET, *each) for each in list(named.items())[:count]]
            answer = altered(s, "", *changes, kind=BROKER, validate_only=True)["responses"]
            yield f"{count} of {label}", outcome(answer)


def takes_effect(s: Scene) -> Steps:
    """A smaller max.message.bytes refuses the next batch."""
    from ...rig.batches import batch, records

    topic = s.topic()
    yield "set", altered(s, topic, (SET, "max.message.bytes", "100"))

    def refused() -> bool:
        part = {"index": 0, "records": batch(records(1, size=500))}
        topics = [{**s.topic_ref(topic), "partition_data": [part]}]
        answer = s.call("produce", {"acks": -1, "timeout": 1000, "topic_data": topics})
        return bool(answer["responses"][0]["partition_responses"][0]["error_code"] == "MESSAGE_TOO_LARGE")

    yield "then", s.until(refused)
