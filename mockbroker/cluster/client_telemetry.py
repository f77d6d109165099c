"""The metrics that clients push to one broker, and which they are to push (`ClientMetricsManager.java`)."""

from collections.abc import Iterable, Mapping
from typing import Any, Final
from uuid import UUID

from crc32c import crc32c

from ..configs import Configs, definitions, java
from ..configs.groups import matching_patterns
from ..configs.values import ConfigError
from ..environment import Environment
from ..outcome import Client
from ..policies.telemetry.large_telemetry import large_telemetry
from ..policies.telemetry.renewal_after_error import renewal_after_error
from ..protocol.api_error import ApiError
from ..protocol.compression import Compression, TooLargeError, decompress
from ..protocol.errors import ErrorCode
from ..protocol.messages.push_telemetry import PushTelemetryRequest
from ..protocol.primitives import short_uuid
from ..regular_expressions import ExpressionError

_ALL_METRICS: Final = "*"
_USUAL_INTERVAL_MS: Final = 300_000
_LEAST_KEPT_MS: Final = 60_000
_MOST_KEPT: Final = 16_384
_RENEWED: Final = (ErrorCode.UNKNOWN_SUBSCRIPTION_ID, ErrorCode.UNSUPPORTED_COMPRESSION_TYPE)
_LARGEST_KEPT: Final = 1 << 16
_COMPRESSIONS: Final = frozenset(Compression)
RESERVED: Final = (None, UUID(int=0), UUID(int=1))
"""No client has one of these ids."""


class ClientInstance:
    """A client, as telemetry knows it: what it is to push how often, and what it has pushed."""

    def __init__(self, instance_id: UUID, client_id: str, client: Client, configs: Configs) -> None:
        self.id = instance_id
        self.client_id = client_id
        self.client = client
        self.configured = configs.client_metrics_changes
        """How often subscriptions had been changed when this one was determined."""
        self.metrics, self.push_interval_ms = _subscribed(self._attributes(), configs)
        self.subscription_id = _subscription_id(instance_id, self.metrics, self.push_interval_ms)
        self.got_ms: int | None = None
        self.pushed_ms: int | None = None
        self.last_seen_ms = 0
        self.terminating = False
        self.error = ErrorCode.NONE
        self.pushes = 0
        self.pushed_bytes = 0
        self.last_push = b""
        """What it pushed last, decompressed; empty if it is larger than 64 KiB."""

    def renewed(self, configs: Configs) -> "ClientInstance":
        """The same client with a new subscription. What it has pushed still counts."""
        new = ClientInstance(self.id, self.client_id, self.client, configs)
        new.pushes, new.pushed_bytes, new.last_push = self.pushes, self.pushed_bytes, self.last_push
        return new

    def _attributes(self) -> dict[str, str]:
        host, _, port = self.client.address.rpartition(":")
        return {
            "client_instance_id": short_uuid(self.id),
            "client_id": self.client_id,
            "client_software_name": self.client.software_name,
            "client_software_version": self.client.software_version,
            "client_source_address": self.client.host.lstrip("/"),
            "client_source_port": port if host else "",
        }

    def is_gone(self, now_ms: int) -> bool:
        """Whether nothing has been heard of it for so long that it is forgotten."""
        return now_ms - self.last_seen_ms >= max(_LEAST_KEPT_MS, 3 * self.push_interval_ms)


class ClientTelemetry:
    """The clients that asked one broker what to push since it started."""

    def __init__(self, environment: Environment, broker: int) -> None:
        self._environment = environment
        self._broker = broker
        self._instances: dict[UUID, ClientInstance] = {}

    @property
    def instances(self) -> list[ClientInstance]:
        """Those that are not forgotten yet."""
        now_ms = self._environment.now_ms
        return [each for each in self._instances.values() if not each.is_gone(now_ms)]

    @property
    def max_bytes(self) -> int:
        """How large a push may be, compressed."""
        return self._environment.configs.broker_int("telemetry.max.bytes", self._broker)

    def subscribe(self, instance_id: UUID | None, client_id: str | None, client: Client) -> ClientInstance:
        """What a client is to push. ApiError THROTTLING_QUOTA_EXCEEDED if it asks too early."""
        if instance_id in (None, UUID(int=0)):
            instance_id = self._environment.new_uuid()
        assert instance_id is not None
        instance = self._instance(instance_id, client_id, client)
        now_ms = self._environment.now_ms
        last_ms = max(
            (each for each in (instance.got_ms, instance.pushed_ms) if each is not None), default=None
        )
        if last_ms is None or now_ms - last_ms >= instance.push_interval_ms:
            instance.got_ms = now_ms
        elif instance.error not in _RENEWED or self._environment.policies[renewal_after_error] == "throttled":
            raise ApiError(ErrorCode.THROTTLING_QUOTA_EXCEEDED)
        instance.error = ErrorCode.NONE
        return instance

    def push(self, request: PushTelemetryRequest, client_id: str | None, client: Client) -> None:
        """Takes metrics. ApiError."""
        if request.client_instance_id in RESERVED:
            raise ApiError(ErrorCode.INVALID_REQUEST)
        assert request.client_instance_id is not None
        instance = self._instance(request.client_instance_id, client_id, client)
        try:
            self._check(instance, request)
        except ApiError as error:
            instance.error = error.code
            raise
        finally:
            instance.terminating = request.terminating
        instance.error = self._take(instance, request) if request.metrics else ErrorCode.NONE
        if instance.error:
            raise ApiError(instance.error)

    def _check(self, instance: ClientInstance, request: PushTelemetryRequest) -> None:
        if instance.terminating:
            raise ApiError(ErrorCode.INVALID_REQUEST)
        if not self._in_time(instance) and not request.terminating:
            raise ApiError(ErrorCode.THROTTLING_QUOTA_EXCEEDED)
        if request.subscription_id != instance.subscription_id:
            raise ApiError(ErrorCode.UNKNOWN_SUBSCRIPTION_ID)
        if request.compression_type not in _COMPRESSIONS:
            raise ApiError(ErrorCode.UNSUPPORTED_COMPRESSION_TYPE)
        if len(request.metrics) > self.max_bytes:
            raise ApiError(ErrorCode.TELEMETRY_TOO_LARGE)

    def _take(self, instance: ClientInstance, request: PushTelemetryRequest) -> ErrorCode:
        """Counts metrics, unless they can't be decompressed."""
        too_large = self._environment.policies[large_telemetry]
        most = self._environment.configs.broker_int("mockbroker.max.decompressed.bytes")
        if too_large is not None:
            most = min(most, self.max_bytes)
        try:
            pushed = decompress(request.compression_type, request.metrics, most)
        except TooLargeError:
            return too_large or ErrorCode.INVALID_RECORD
        except ValueError:
            return ErrorCode.INVALID_RECORD
        instance.pushes += 1
        instance.pushed_bytes += len(request.metrics)
        instance.last_push = bytes(pushed) if len(pushed) <= _LARGEST_KEPT else b""
        return ErrorCode.NONE

    def _in_time(self, instance: ClientInstance) -> bool:
        """Whether a client may push now: for the first time after it asked, or after its interval."""
        now_ms, got_ms, pushed_ms = self._environment.now_ms, instance.got_ms, instance.pushed_ms
        asked = got_ms is not None and (pushed_ms is None or got_ms > pushed_ms)
        if asked or pushed_ms is None or now_ms - pushed_ms >= instance.push_interval_ms:
            instance.pushed_ms = now_ms
            return True
        return False

    def _instance(self, instance_id: UUID, client_id: str | None, client: Client) -> ClientInstance:
        now_ms, configs = self._environment.now_ms, self._environment.configs
        instance = self._instances.pop(instance_id, None)
        if instance is None or instance.is_gone(now_ms):
            instance = ClientInstance(instance_id, client_id or "", client, configs)
        elif instance.configured != configs.client_metrics_changes:
            instance = instance.renewed(configs)
        instance.last_seen_ms = now_ms
        if len(self._instances) >= _MOST_KEPT:
            del self._instances[next(iter(self._instances))]
        # The one that was seen last is the last one.
        self._instances[instance_id] = instance
        return instance


def _subscribed(attributes: Mapping[str, str], configs: Configs) -> tuple[list[str], int]:
    """The prefixes of the metrics that a client is to push, and how often, in ms."""
    metrics: dict[str, None] = {}
    interval_ms = _USUAL_INTERVAL_MS
    keys = definitions.keys("client_metrics", configs.release)
    for values in configs.client_metrics.values():
        parsed: dict[str, Any] = {
            name: key.parse(values[name]) if name in values else key.default_value
            for name, key in keys.items()
        }
        if _matches(attributes, parsed["match"] or ()):
            metrics |= dict.fromkeys(parsed["metrics"] or ())
            interval_ms = min(interval_ms, parsed["interval.ms"])
    if _ALL_METRICS in metrics:
        return [_ALL_METRICS], interval_ms
    return java.in_hash_order(metrics), interval_ms


def _matches(attributes: Mapping[str, str], patterns: Iterable[str]) -> bool:
    """Whether all match; a text that is too long for its pattern does not."""
    try:
        return all(each.matches(attributes[name]) for name, each in matching_patterns(patterns).items())
    except (ConfigError, ExpressionError):
        return False


def _subscription_id(instance_id: UUID, metrics: list[str], interval_ms: int) -> int:
    """As `ClientMetricsManager.computeSubscriptionId`: a signed number of 32 bits."""
    crc = crc32c(f"[{', '.join(metrics)}]{interval_ms}".encode())
    halves = instance_id.int >> 64 ^ instance_id.int & (1 << 64) - 1
    value = crc ^ halves >> 32 ^ halves & 0xFFFFFFFF
    return value - (1 << 32) if value >> 31 else value
