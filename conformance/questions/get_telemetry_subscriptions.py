"""GetTelemetrySubscriptions: which metrics clients are to push (KIP-714)."""

import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

from ...rig.client import Client
from .. import subscriptions
from ..registry import Scene, Steps
from ..subscriptions import NEW
from .describe_configs import CLIENT_METRICS

KNOWN: Final = uuid.UUID("01234567-89ab-4def-8123-456789abcdef")


def shown(answer: Any) -> Any:
    """The subscription's id depends on the client's, which is random."""
    return subscriptions.shown(answer, {KNOWN: "given"})


def get(s: Scene, client_instance: uuid.UUID = NEW, client: Client | None = None) -> Any:
    return s.call("get_telemetry_subscriptions", {"client_instance_id": client_instance}, client=client)


def listed(s: Scene, name: str) -> bool:
    found = s.call("list_config_resources", {"resource_types": []}, version=0)["config_resources"]
    return any(each["resource_name"] == name for each in found)


@contextmanager
def subscription(s: Scene, base: str = "m", **values: str) -> Iterator[None]:
    """Has clients push metrics for a while; `_` stands for `.` in keys."""
    name = s.name(base)
    s.configure(CLIENT_METRICS, name, **values)
    s.until(lambda: listed(s, name), "the subscription")
    try:
        yield
    finally:
        s.configure(CLIENT_METRICS, name, **dict.fromkeys(values))
        s.until(lambda: not listed(s, name), "no subscription")


def nothing_subscribed(s: Scene) -> Steps:
    yield "a new client", shown(get(s, client=s.new_client()))
    client = s.new_client()
    yield "a known one", shown(get(s, KNOWN, client))
    yield "again", shown(get(s, KNOWN, client))


def subscribed(s: Scene) -> Steps:
    with subscription(s, metrics="org.apache.kafka.producer.", interval_ms="60000"):
        yield "one", shown(get(s, client=s.new_client()))
        with subscription(s, "n", metrics="org.apache.kafka.consumer.", interval_ms="30000"):
            yield "two", shown(get(s, client=s.new_client()))
            with subscription(s, "o", metrics="*", interval_ms="90000"):
                yield "all", shown(get(s, client=s.new_client()))
    with subscription(s, metrics="a.,b.,c.", interval_ms="100"):
        yield "several", shown(get(s, client=s.new_client()))
    with subscription(s, interval_ms="1000"):
        yield "no metrics", shown(get(s, client=s.new_client()))
    with subscription(s, metrics="a."):
        yield "no interval", shown(get(s, client=s.new_client()))


def matching(s: Scene) -> Steps:
    name = s.name("c")

    def of(match: str, client_id: str | None = name) -> Any:
        client = s.new_client(client_id)
        software = {"client_software_name": "some-client", "client_software_version": "1.2.3"}
        s.call("api_versions", software, version=3, client=client)
        with subscription(s, metrics="a.", interval_ms="1000", match=match):
            return get(s, client=client)["requested_metrics"]

    yield "client id", of(f"client_id={name}")
    yield "another client id", of("client_id=other")
    yield "a part of the client id", of("client_id=c")
    yield "a pattern", of("client_id=c.*")
    yield "no client id", of("client_id=.*", None)
    yield "software", of("client_software_name=some-client")
    yield "software and version", of(r"client_software_name=some.*,client_software_version=1\..*")
    yield "software and another version", of(r"client_software_name=some.*,client_software_version=2\..*")
    yield "address", of("client_source_address=127.0.0.1")
    yield "another address", of("client_source_address=10.0.0.1")
    yield "port", of(r"client_source_port=\d+")


def too_soon(s: Scene) -> Steps:
    client = s.new_client()
    with subscription(s, metrics="a.", interval_ms="60000"):
        first = get(s, client=client)["client_instance_id"]
        yield "again", shown(get(s, first, client))
        yield "from another connection", shown(get(s, first, s.new_client()))
        with subscription(s, "n", metrics="b.", interval_ms="50000"):
            changed = shown(get(s, first, client))
            yield "once it has changed", changed["requested_metrics"]
