"""Changes of configurations: the operations of KIP-339, and the changes that brokers refuse."""

import enum
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Final, NamedTuple

from ..protocol.api_error import ApiError
from ..protocol.errors import ErrorCode
from ..protocol.releases import Release, parse
from . import java
from .store import Configs
from .values import OF_LISTENER, ConfigError, ConfigKey, invalid

_THREADS: Final = (
    "num.io.threads",
    "num.network.threads",
    "num.replica.fetchers",
    "num.recovery.threads.per.data.dir",
    "background.threads",
)
_PER_LISTENER: Final = frozenset(
    (
        "ssl.keystore.type",
        "ssl.keystore.location",
        "ssl.keystore.password",
        "ssl.key.password",
        "ssl.truststore.type",
        "ssl.truststore.location",
        "ssl.truststore.password",
        "ssl.keystore.certificate.chain",
        "ssl.keystore.key",
        "ssl.truststore.certificates",
    )
)
"""`SslConfigs.RECONFIGURABLE_CONFIGS`."""
_KRAFT_SINCE: Final = parse("3.3")
_JAVA_SETS_SINCE: Final = parse("4.3")


class Operation(enum.IntEnum):
    """The operations of IncrementalAlterConfigs (`AlterConfigOp.OpType`)."""

    SET = 0
    DELETE = 1
    APPEND = 2
    SUBTRACT = 3


class Change(NamedTuple):
    """One change, as it was requested."""

    name: str
    operation: int
    value: str | None


def check_form(changes: Iterable[Change], *, may_repeat: bool = False) -> None:
    """ApiError INVALID_REQUEST for names that occur twice, unless they may, and for null values."""
    changes = list(changes)
    if not may_repeat and len({change.name for change in changes}) < len(changes):
        raise ApiError(ErrorCode.INVALID_REQUEST, "Error due to duplicate config keys")
    nulls = [each.name for each in changes if each.operation != Operation.DELETE and each.value is None]
    if nulls:
        raise ApiError(ErrorCode.INVALID_REQUEST, f"Null value not supported for : {', '.join(nulls)}")


def _without(items: Iterable[str], gone: Counter[str]) -> Iterator[str]:
    """Removes each item as often as `gone` counts it, from the front."""
    for item in items:
        if gone[item]:
            gone[item] -= 1
        else:
            yield item


def applied(
    current: Mapping[str, str],
    changes: Iterable[Change],
    keys: Mapping[str, ConfigKey],
    *,
    broker: bool = False,
) -> dict[str, str]:
    """`current` with the changes made, in Kafka's order: only the first error is reported. Lists are appended
    to what is set, or else to the default.

    `broker` chooses the messages of a broker that refuses, in place of the controller's. ApiError:
    INVALID_CONFIG if the configuration is not a list, UNKNOWN_SERVER_ERROR for an unknown operation.
    """
    values = dict(current)
    by_name = {change.name: change for change in changes}
    for name, operation, value in (by_name[each] for each in java.in_hash_order(by_name)):
        key = keys.get(name)
        if operation == Operation.DELETE:
            values.pop(name, None)
        elif operation == Operation.SET:
            values[name] = value or ""
        elif operation not in (Operation.APPEND, Operation.SUBTRACT):
            if broker:
                raise ApiError(ErrorCode.INVALID_REQUEST, f"Unknown operations type {operation}")
            raise ApiError(ErrorCode.UNKNOWN_SERVER_ERROR)
        elif key is None or key.type != "LIST":
            raise ApiError(ErrorCode.INVALID_CONFIG, _no_list(name, Operation(operation), broker))
        else:
            items = [item for item in values.get(name, key.default or "").split(",") if item]
            given = java.split(value or "")
            if operation == Operation.APPEND:
                present = set(items)
                items += [item for item in dict.fromkeys(given) if item not in present]
            else:
                items = list(_without(items, Counter(given)))
            values[name] = ",".join(items)
    return values


def _no_list(name: str, operation: Operation, broker: bool) -> str:
    if broker:
        return f"Config value {operation.name.lower()} is not allowed for config key: {name}"
    return f"Can't {operation.name} to key {name} because its type is not LIST."


def check_broker(configs: Configs, values: Mapping[str, str], broker: int | None) -> None:
    """Checks everything that is set at run time for `broker`, or, if it is None, for all brokers.

    ApiError INVALID_REQUEST; INVALID_CONFIG if eligible leader replicas forbid it (KIP-966).
    """
    keys = configs.broker_keys
    static = [name for name in values if name in keys and keys[name].dynamic is None]
    _refuse(configs.release, "Cannot update these configs dynamically", static)
    bare = [name for name in values if name in keys and keys[name].dynamic and name in _PER_LISTENER]
    what = "These security configs can be dynamically updated only per-listener using the listener prefix"
    _refuse(configs.release, what, bare)
    for name, value in values.items():
        try:
            if name in keys:
                keys[name].parse(value)
                _check_class(keys[name], value)
        except ConfigError as error:
            raise ApiError(ErrorCode.INVALID_REQUEST, str(error)) from error
    if broker is None:
        own = [name for name in values if name in keys and keys[name].dynamic == "per-broker"]
        own += [name for name in values if _of_a_listener(name) in _PER_LISTENER]
        what = "Cannot update these configs at default cluster level, broker id must be specified"
        _refuse(configs.release, what, own)
    if "log.retention.ms" in values and keys["log.retention.ms"].parse(values["log.retention.ms"]) == 0:
        message = "log.retention.ms must be unlimited (-1) or, greater than or equal to 1"
        raise ApiError(ErrorCode.INVALID_REQUEST, f"requirement failed: {message}")
    if "advertised.listeners" in values and configs.release >= _KRAFT_SINCE:
        message = (
            "Invalid value org.apache.kafka.common.config.ConfigException: Advertised listeners cannot be "
            "altered when using a Raft-based metadata quorum. for configuration Invalid dynamic configuration"
        )
        raise ApiError(ErrorCode.INVALID_REQUEST, message)
    for name in _THREADS:
        if name in values and values[name] != configs.broker_text(name, broker):
            _check_threads(name, int(str(keys[name].parse(values[name]))), configs.broker_int(name, broker))


def check_min_insync_replicas(
    configs: Configs, before: Mapping[str, str], after: Mapping[str, str], broker: int | None
) -> None:
    """ApiError INVALID_CONFIG: with eligible leader replicas it can only be set for the whole cluster
    (KIP-966)."""
    name = "min.insync.replicas"
    if not configs.eligible_leader_replicas:
        return
    if broker is not None and after.get(name) not in (None, before.get(name)):
        message = f"Broker-level {name} cannot be altered while ELR is enabled."
        raise ApiError(ErrorCode.INVALID_CONFIG, message)
    if broker is None and name in before and name not in after:
        message = f"Cluster-level {name} cannot be removed while ELR is enabled."
        raise ApiError(ErrorCode.INVALID_CONFIG, message)


def _of_a_listener(name: str) -> str:
    """What a name is without the listener's prefix; empty if it has none."""
    return name.removeprefix(OF_LISTENER).partition(".")[2] if name.startswith(OF_LISTENER) else ""


def _refuse(release: Release, what: str, names: list[str]) -> None:
    if not names:
        return
    listed = ", ".join(java.in_hash_order(names))
    kind = "HashSet" if len(names) > 4 or what.startswith("These") else "Set"
    shown = f"[{listed}]" if release >= _JAVA_SETS_SINCE else f"{kind}({listed})"
    raise ApiError(ErrorCode.INVALID_REQUEST, f"{what}: {shown}")


def _check_class(key: ConfigKey, value: str) -> None:
    """ConfigError for a class that no broker has: any but Kafka's own."""
    name = java.trim(value)
    if key.type == "CLASS" and not name.startswith("org.apache.kafka."):
        raise invalid(key.name, name, f"Class {name} could not be found.")


def _check_threads(name: str, wanted: int, present: int) -> None:
    """A thread pool may at most double and at most halve in one step (`DynamicThreadPool`)."""
    if wanted > 2 * present:
        limit = f"not be greater than double the current value {present}"
    elif wanted < present // 2:
        limit = f"be at least half the current value {present}"
    else:
        return
    raise ApiError(
        ErrorCode.INVALID_REQUEST,
        "Invalid value org.apache.kafka.common.config.ConfigException: Dynamic thread count update "
        f"validation failed for {name}={wanted}, value should {limit} "
        "for configuration Invalid dynamic configuration",
    )
