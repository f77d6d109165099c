"""Checks of group configurations (KIP-848) and of client metrics subscriptions (KIP-714)."""

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

from ..protocol.api_error import ApiError
from ..protocol.errors import ErrorCode
from ..protocol.releases import parse
from ..regular_expressions import Expression, ExpressionError, MissingRE2Error, Syntax, expression
from . import definitions, java
from .store import Configs
from .values import ConfigError

_RESET: Final = "share.auto.offset.reset"
_DEAD_LETTERS: Final = "errors.deadletterqueue.topic.name"
_DURATION: Final = re.compile(
    r"by_duration:P(?:(\d{1,9})D)?(?:T(?:(\d{1,9})H)?(?:(\d{1,9})M)?(?:(\d{1,9}(?:\.\d{0,9})?)S)?)?",
    re.IGNORECASE,
)
"""As in Java (`Duration.parse`), but not negative."""
_PARSED_SINCE: Final = parse("4.1")
_METRICS_INTERVAL_MS: Final = (100, 3_600_000)
_MATCHED: Final = frozenset(
    (
        "client_instance_id",
        "client_id",
        "client_software_name",
        "client_software_version",
        "client_source_address",
        "client_source_port",
    )
)
_RANGES_SINCE: Final = parse("4.4")
_LIMITED: Final = (
    ("consumer.heartbeat.interval.ms", "group.consumer.{}.heartbeat.interval.ms"),
    ("consumer.session.timeout.ms", "group.consumer.{}.session.timeout.ms"),
    ("consumer.assignment.interval.ms", "group.consumer.{}.assignment.interval.ms"),
    ("share.heartbeat.interval.ms", "group.share.{}.heartbeat.interval.ms"),
    ("share.session.timeout.ms", "group.share.{}.session.timeout.ms"),
    ("share.record.lock.duration.ms", "group.share.{}.record.lock.duration.ms"),
    ("share.delivery.count.limit", "group.share.{}.delivery.count.limit"),
    ("share.partition.max.record.locks", "group.share.{}.partition.max.record.locks"),
    ("share.assignment.interval.ms", "group.share.{}.assignment.interval.ms"),
    ("streams.heartbeat.interval.ms", "group.streams.{}.heartbeat.interval.ms"),
    ("streams.session.timeout.ms", "group.streams.{}.session.timeout.ms"),
    ("streams.num.standby.replicas", "group.streams.{}.standby.replicas"),
    ("streams.assignment.interval.ms", "group.streams.{}.assignment.interval.ms"),
)
"""Group configurations, and the broker configurations that limit them with `min` and `max`, or with `max`, in
the order of `GroupConfig.java`."""


def check_group(configs: Configs, overrides: Mapping[str, str]) -> None:
    """ConfigError for unknown names, for values outside of the limits that brokers set, and for sessions that
    are no longer than the interval of heartbeats."""
    keys = definitions.keys("group", configs.release)
    for name in java.in_hash_order(overrides):
        if name not in keys:
            raise ConfigError(f"Unknown group config name: {name}")
    values: dict[str, Any] = {
        name: key.parse(overrides[name]) for name, key in keys.items() if name in overrides
    }
    if values.get(_DEAD_LETTERS, "").startswith("__"):
        raise ConfigError(f"{_DEAD_LETTERS}: DLQ topic name must not start with '__'")
    if _RESET in values:
        reset_duration_ms(values[_RESET])
    for name, limit in _LIMITED:
        if name in values:
            _check_limits(configs, name, values[name], limit)
    for kind in ("consumer", "share", "streams"):
        session, heartbeat = f"{kind}.session.timeout.ms", f"{kind}.heartbeat.interval.ms"
        if session in values or heartbeat in values:
            timeout, interval = (
                values.get(name, configs.broker_int(f"group.{name}")) for name in (session, heartbeat)
            )
            if timeout <= interval:
                raise ConfigError(f"{session} must be greater than {heartbeat}")


def reset_duration_ms(text: str) -> int:
    """How long before now a share group begins, by its `share.auto.offset.reset`; 0 for `earliest` and
    `latest`. ConfigError."""
    if text.lower() in ("earliest", "latest"):
        return 0
    found = _DURATION.fullmatch(text)
    if found is None or text.upper().endswith(("P", "T")):
        raise ConfigError(
            f"Invalid value {text} for configuration {_RESET}: Invalid value `{text}` for configuration "
            f"{_RESET}. The value must be either 'earliest', 'latest' or of the format "
            "'by_duration:<PnDTnHnMn.nS>'."
        )
    days, hours, minutes, seconds = (float(each or 0) for each in found.groups())
    return round(1000 * (seconds + 60 * (minutes + 60 * (hours + 24 * days))))


def _check_limits(configs: Configs, name: str, value: int, limit: str) -> None:
    low, high = (limit.format(which) for which in ("min", "max"))
    least = configs.broker_int(low) if low in configs.broker_keys else None
    most = configs.broker_int(high)
    if (least is None or least <= value) and value <= most:
        return
    if configs.release < _RANGES_SINCE:
        if value > most:
            raise ConfigError(f"{name} must be less than or equal to {high}")
        raise ConfigError(f"{name} must be greater than or equal to {low}")
    if least is None:
        raise ConfigError(f"{name} must be less than or equal to {most}")
    raise ConfigError(f"{name} must be in the range {least} to {most} inclusive.")


def check_client_metrics(configs: Configs, name: str, overrides: Mapping[str, str]) -> None:
    """ApiError INVALID_REQUEST, ConfigError for malformed values (`ClientMetricsConfigs.java`)."""
    if not name:
        raise ApiError(ErrorCode.INVALID_REQUEST, "Subscription name can't be empty")
    keys = definitions.keys("client_metrics", configs.release)
    for each in java.in_hash_order(overrides):
        if each not in keys:
            raise ApiError(ErrorCode.INVALID_REQUEST, f"Unknown client metrics configuration: {each}")
    try:
        values: dict[str, Any] = {each: keys[each].parse(text) for each, text in overrides.items()}
    except ConfigError:
        if configs.release < _PARSED_SINCE:
            raise ApiError(ErrorCode.UNKNOWN_SERVER_ERROR) from None
        raise
    low, high = _METRICS_INTERVAL_MS
    interval = values.get("interval.ms", low)
    if not low <= interval <= high:
        raise ApiError(
            ErrorCode.INVALID_REQUEST,
            f"Invalid value {interval} for interval.ms, interval must be between {low} and {high} (1 hour)",
        )
    matching_patterns(values.get("match", ()))


def matching_patterns(items: Iterable[str]) -> dict[str, Expression]:
    """What the attributes of a client have to match, by name, from the value of `match`. ConfigError."""
    found = {}
    for item in items:
        name, _, text = item.partition("=")
        # Java's `split` leaves out empty strings at the end.
        text, illegal = text.rstrip("="), f"Illegal client matching pattern: {item}"
        if not text or "=" in text or name.strip() not in _MATCHED:
            raise ConfigError(illegal)
        try:
            found[name.strip()] = expression(text.strip(), Syntax.JAVA)
        except MissingRE2Error as error:
            raise ConfigError(f"{illegal}: {error}") from None
        except ExpressionError:
            raise ConfigError(illegal) from None
    return found
