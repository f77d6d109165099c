"""Which metrics a broker asks for, and when it takes them."""

import functools
import sys
from uuid import UUID

import pytest

from mockbroker.cluster.client_telemetry import ClientTelemetry
from mockbroker.configs.groups import check_client_metrics
from mockbroker.configs.values import ConfigError
from mockbroker.outcome import Client
from mockbroker.protocol.api_error import ApiError
from mockbroker.protocol.compression import Compression, compress
from mockbroker.protocol.errors import ErrorCode
from mockbroker.protocol.messages.push_telemetry import PushTelemetryRequest

from ..driving.cluster import ClusterDriver, configured

INTERVAL_MS = 1000


class TelemetryDriver(ClusterDriver):
    def __init__(self, release: str = "4.4", policies: dict[str, str] | None = None) -> None:
        super().__init__(configured(release, 1, policies, {}))
        self.client = Client()
        self.configure(metrics="a.")

    @property
    def telemetry(self) -> ClientTelemetry:
        return self.cluster.brokers[1].telemetry

    def configure(self, **values: str) -> None:
        configs = self.cluster.configs
        configs.client_metrics["m"] = {"interval.ms": str(INTERVAL_MS), **values}
        configs.client_metrics_changes += 1

    def subscribe(self, instance: UUID | None = None) -> tuple[UUID, int]:
        found = self.telemetry.subscribe(instance, "me", self.client)
        return found.id, found.subscription_id

    def push(
        self,
        subscribed: tuple[UUID, int],
        metrics: bytes = b"metrics",
        kind: Compression = Compression.NONE,
        *,
        terminating: bool = False,
    ) -> ErrorCode:
        request = PushTelemetryRequest(*subscribed, terminating, kind, compress(kind, metrics))
        try:
            self.telemetry.push(request, "me", self.client)
        except ApiError as error:
            return error.code
        return ErrorCode.NONE


def test_a_client_pushes_once_in_each_interval(driver: TelemetryDriver) -> None:
    one = driver.subscribe()
    assert driver.push(one) is ErrorCode.NONE
    for _ in range(3):
        driver.advance(INTERVAL_MS - 1)
        assert driver.push(one) is ErrorCode.THROTTLING_QUOTA_EXCEEDED
        driver.advance(1)
        assert driver.push(one) is ErrorCode.NONE
    (found,) = driver.telemetry.instances
    assert (found.pushes, found.pushed_bytes) == (4, 4 * len(b"metrics"))


@pytest.mark.parametrize("kind", Compression)
def test_pushes_are_decompressed(driver: TelemetryDriver, kind: Compression) -> None:
    metrics = b"metric" * 100
    assert driver.push(driver.subscribe(), metrics, kind) is ErrorCode.NONE
    (found,) = driver.telemetry.instances
    assert found.last_push == metrics
    assert found.pushed_bytes == len(compress(kind, metrics))


@pytest.mark.parametrize(
    ("release", "size", "policies", "error"),
    [
        ("4.2", 2 << 20, {}, ErrorCode.NONE),
        ("4.2", 33 << 20, {}, ErrorCode.INVALID_RECORD),
        ("4.3", 2 << 20, {}, ErrorCode.INVALID_RECORD),
        ("4.4", 1 << 20, {}, ErrorCode.NONE),
        ("4.4", 2 << 20, {"large-telemetry": "telemetry-too-large"}, ErrorCode.TELEMETRY_TOO_LARGE),
    ],
)
def test_pushes_that_are_large_when_they_are_decompressed(
    release: str, size: int, policies: dict[str, str], error: ErrorCode
) -> None:
    driver = TelemetryDriver(release, policies)
    assert driver.push(driver.subscribe(), bytes(size), Compression.ZSTD) is error
    (found,) = driver.telemetry.instances
    assert (found.pushes, found.error) == (error is ErrorCode.NONE, error)
    assert found.last_push == b""


def test_large_pushes_are_counted_and_not_kept(driver: TelemetryDriver) -> None:
    assert driver.push(driver.subscribe(), bytes(1 << 17)) is ErrorCode.NONE
    (found,) = driver.telemetry.instances
    assert (found.pushes, found.last_push) == (1, b"")


@pytest.mark.parametrize(("release", "at_once"), [("4.0", False), ("4.1", True)])
def test_a_subscription_that_changes(release: str, at_once: bool) -> None:
    driver = TelemetryDriver(release)
    one = driver.subscribe()
    driver.configure(metrics="b.")
    assert driver.push(one) is ErrorCode.UNKNOWN_SUBSCRIPTION_ID
    if at_once:
        other = driver.subscribe(one[0])
    else:
        with pytest.raises(ApiError, match="THROTTLING_QUOTA_EXCEEDED"):
            driver.subscribe(one[0])
        driver.advance(INTERVAL_MS)
        other = driver.subscribe(one[0])
    assert other[0] == one[0]
    assert other[1] != one[1]
    driver.advance(INTERVAL_MS)
    assert driver.push(other) is ErrorCode.NONE


def test_a_client_that_is_silent_is_forgotten(driver: TelemetryDriver) -> None:
    one = driver.subscribe()
    assert driver.push(one, terminating=True) is ErrorCode.NONE
    assert driver.push(one) is ErrorCode.INVALID_REQUEST
    driver.advance(60_000)
    assert driver.telemetry.instances == []
    assert driver.push(one) is ErrorCode.NONE


def test_a_broker_that_restarts_knows_no_clients(driver: TelemetryDriver) -> None:
    driver.subscribe()
    driver.cluster.processes.stop(1)
    driver.cluster.processes.start(1)
    assert driver.telemetry.instances == []


def test_ids_are_the_same_in_each_run() -> None:
    assert TelemetryDriver().subscribe() == TelemetryDriver().subscribe()


@pytest.mark.parametrize(
    ("match", "matches"),
    [
        ("client_id=m.*", True),
        ("client_id=(m+)+", False),
        ("client_id = m[a-f] , client_source_address=.*", True),
        ("client_id=me==", True),
        (r"client_id=m(?!x)e", False),
    ],
)
def test_re2_matches_clients(driver: TelemetryDriver, match: str, matches: bool) -> None:
    driver.configure(metrics="a.", match=match)
    instance = driver.subscribe()[0]
    (found,) = (each for each in driver.telemetry.instances if each.id == instance)
    assert found.metrics == (["a."] if matches else [])


@pytest.mark.parametrize(
    ("match", "valid"),
    [("client_id=a+", True), ("client_id=a=b", False), ("client_id=", False), (r"client_id=\Z", False)],
)
def test_what_is_no_pattern_is_refused(match: str, valid: bool) -> None:
    check = functools.partial(check_client_metrics, TelemetryDriver().cluster.configs, "m", {"match": match})
    if valid:
        check()
    else:
        with pytest.raises(ConfigError, match=r"^Illegal client matching pattern: client_id="):
            check()


def test_without_re2_patterns_are_refused_with_the_name_of_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "re2", None)
    with pytest.raises(ConfigError, match=r"Illegal client matching pattern: client_id=only: .*\[regex\]"):
        check_client_metrics(TelemetryDriver().cluster.configs, "m", {"match": "client_id=only"})
