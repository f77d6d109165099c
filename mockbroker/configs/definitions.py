"""Which configurations a release has: tables of topic, broker, group and client metrics configurations.

Each JSON table has, for every name, its definitions and the release since which each is valid, oldest first;
an entry with nothing but `since` means that the configuration was removed. The tables were read from the
`ConfigDef`s and the dynamic update modes of real releases from 0.11 to 4.4.
"""

import functools
import json
import pkgutil
from dataclasses import replace
from typing import Any, Final

from ..protocol.primitives import MOST_DECOMPRESSED
from ..protocol.releases import Release, parse
from .values import OF_LISTENER, ConfigKey

_FULL_ITEMS_SINCE: Final = parse("4.2")
_HOUR_MS: Final = 3600 * 1000
_MINUTE_MS: Final = 60 * 1000

TOPIC_SYNONYMS: Final[dict[str, tuple[tuple[str, int], ...]]] = {
    "cleanup.policy": (("log.cleanup.policy", 1),),
    "compression.gzip.level": (("compression.gzip.level", 1),),
    "compression.lz4.level": (("compression.lz4.level", 1),),
    "compression.type": (("compression.type", 1),),
    "compression.zstd.level": (("compression.zstd.level", 1),),
    "delete.retention.ms": (("log.cleaner.delete.retention.ms", 1),),
    "file.delete.delay.ms": (("log.segment.delete.delay.ms", 1),),
    "flush.messages": (("log.flush.interval.messages", 1),),
    "flush.ms": (("log.flush.interval.ms", 1), ("log.flush.scheduler.interval.ms", 1)),
    "index.interval.bytes": (("log.index.interval.bytes", 1),),
    "local.retention.bytes": (("log.local.retention.bytes", 1),),
    "local.retention.ms": (("log.local.retention.ms", 1),),
    "max.compaction.lag.ms": (("log.cleaner.max.compaction.lag.ms", 1),),
    "max.decompressed.message.bytes": (("max.decompressed.message.bytes", 1),),
    "max.message.bytes": (("message.max.bytes", 1),),
    "message.downconversion.enable": (("log.message.downconversion.enable", 1),),
    "message.format.version": (("log.message.format.version", 1),),
    "message.timestamp.after.max.ms": (("log.message.timestamp.after.max.ms", 1),),
    "message.timestamp.before.max.ms": (("log.message.timestamp.before.max.ms", 1),),
    "message.timestamp.difference.max.ms": (("log.message.timestamp.difference.max.ms", 1),),
    "message.timestamp.type": (("log.message.timestamp.type", 1),),
    "min.cleanable.dirty.ratio": (("log.cleaner.min.cleanable.ratio", 1),),
    "min.compaction.lag.ms": (("log.cleaner.min.compaction.lag.ms", 1),),
    "min.insync.replicas": (("min.insync.replicas", 1),),
    "preallocate": (("log.preallocate", 1),),
    "remote.copy.lag.bytes": (("log.remote.copy.lag.bytes", 1),),
    "remote.copy.lag.ms": (("log.remote.copy.lag.ms", 1),),
    "retention.bytes": (("log.retention.bytes", 1),),
    "retention.ms": (
        ("log.retention.ms", 1),
        ("log.retention.minutes", _MINUTE_MS),
        ("log.retention.hours", _HOUR_MS),
    ),
    "segment.bytes": (("log.segment.bytes", 1),),
    "segment.index.bytes": (("log.index.size.max.bytes", 1),),
    "segment.jitter.ms": (("log.roll.jitter.ms", 1), ("log.roll.jitter.hours", _HOUR_MS)),
    "segment.ms": (("log.roll.ms", 1), ("log.roll.hours", _HOUR_MS)),
    "unclean.leader.election.enable": (("unclean.leader.election.enable", 1),),
}
"""Broker configurations from which a topic inherits, with the factor to the topic's unit; the first that is
set counts (`ServerTopicConfigSynonyms.java`)."""

INTERNAL_BROKER_KEYS: Final = {
    "log.initial.task.delay.ms": ConfigKey(
        "log.initial.task.delay.ms", "LONG", "30000", valid={"range": [0, None]}
    ),
    "producer.id.expiration.check.interval.ms": ConfigKey(
        "producer.id.expiration.check.interval.ms", "INT", "600000", valid={"range": [1, None]}
    ),
    "mockbroker.transaction.markers.delay.ms": ConfigKey(
        "mockbroker.transaction.markers.delay.ms", "LONG", "0", valid={"range": [0, None]}
    ),
    "mockbroker.max.decompressed.bytes": ConfigKey(
        "mockbroker.max.decompressed.bytes", "INT", "33554432", valid={"range": [1, MOST_DECOMPRESSED]}
    ),
    "mockbroker.max.response.bytes": ConfigKey(
        "mockbroker.max.response.bytes", "INT", "104857600", valid={"range": [1, MOST_DECOMPRESSED]}
    ),
    "mockbroker.max.handshake.ms": ConfigKey(
        "mockbroker.max.handshake.ms", "INT", "30000", valid={"range": [1, None]}
    ),
    "mockbroker.client.telemetry": ConfigKey("mockbroker.client.telemetry", "BOOLEAN", "false"),
    "unstable.api.versions.enable": ConfigKey("unstable.api.versions.enable", "BOOLEAN", "false"),
    "unstable.feature.versions.enable": ConfigKey("unstable.feature.versions.enable", "BOOLEAN", "false"),
    "super.users": ConfigKey("super.users", "STRING", ""),
    "allow.everyone.if.no.acl.found": ConfigKey("allow.everyone.if.no.acl.found", "BOOLEAN", "false"),
}
"""Configurations that brokers accept but never show, the last two because they are the authorizer's. Five are
our own: how long after the answer to EndTxn the markers are written, during which clients get
CONCURRENT_TRANSACTIONS, as from a busy cluster; how many bytes a batch may have after decompression, beyond
which it is refused with INVALID_RECORD; how many bytes an answer may have without records, beyond which its
connection ends; how long a client may take to prove who it is, with TLS or SASL; and whether brokers
advertise that they take clients' metrics (KIP-714), as those with a plugin for that do."""

STATIC: Final = {"group.initial.rebalance.delay.ms": "0"}
"""Set in every broker's static configuration, as in the `server.properties` that comes with Kafka: with its
default value the first rebalance of a group waits 3 s, which would only make every test with a consumer
slower."""

BROKER_SYNONYMS: Final[tuple[tuple[str, ...], ...]] = (
    ("log.roll.ms", "log.roll.hours"),
    ("log.roll.jitter.ms", "log.roll.jitter.hours"),
    ("log.flush.interval.ms", "log.flush.scheduler.interval.ms"),
    ("log.retention.ms", "log.retention.minutes", "log.retention.hours"),
)
"""Broker configurations that are synonyms; the first takes precedence
(`DynamicBrokerConfig.brokerConfigSynonyms`)."""


@functools.cache
def _table(kind: str) -> dict[str, list[dict[str, Any]]]:
    return json.loads(pkgutil.get_data(__package__, f"{kind}.json") or b"")  # type: ignore[no-any-return]


@functools.cache
def keys(kind: str, release: Release) -> dict[str, ConfigKey]:
    """The configurations of a kind (`topic`, `broker`, `group`, `client_metrics`), in Kafka's order."""
    found = {}
    for name, history in _table(kind).items():
        rows = [row for row in history if parse(row["since"]) <= release]
        if rows and "type" in rows[-1]:
            found[name] = _key(name, rows[-1])
            if release >= _FULL_ITEMS_SINCE and "list" in found[name].valid:
                found[name] = replace(found[name], valid={**found[name].valid, "full_items": True})
    return found


@functools.cache
def ever_known(kind: str) -> dict[str, ConfigKey]:
    """The configurations that any release has, as the newest of those releases defines each."""
    rows = {name: [row for row in history if "type" in row][-1] for name, history in _table(kind).items()}
    return {name: _key(name, row) for name, row in rows.items()}


def _key(name: str, row: dict[str, Any]) -> ConfigKey:
    return ConfigKey(name, **{key: value for key, value in row.items() if key != "since"})


def broker_synonyms(name: str) -> tuple[str, ...]:
    """All names that are looked up for a broker configuration, the one with the highest precedence first."""
    for names in BROKER_SYNONYMS:
        if name in names and (name == names[0] or not name.startswith("log.flush")):
            return names
    if name.startswith(OF_LISTENER):
        return (name, name.split(".", 3)[3])
    return (name,)


def group_synonym(name: str, release: Release) -> str:
    """The broker configuration that a group configuration inherits from."""
    if name == "streams.assignor.name":
        return "group.streams.assignors"
    prefixed = f"group.{name}"
    return prefixed if prefixed in keys("broker", release) else name
