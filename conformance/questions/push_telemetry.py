"""PushTelemetry: clients push metrics (KIP-714)."""

import uuid
from typing import Any, Final

from ...protocol.compression import compress
from ...rig.client import Client
from ..registry import Scene, Steps
from ..subscriptions import NEW
from .get_telemetry_subscriptions import KNOWN, get, subscription

ONE: Final = uuid.UUID(int=1)
"""Reserved, as zero is."""


class Pushing:
    """A client that has got its subscription."""

    def __init__(self, s: Scene) -> None:
        self._scene, self._client = s, s.new_client()
        self.renew(NEW)

    def renew(self, instance: uuid.UUID) -> None:
        answer = get(self._scene, instance, self._client)
        self.instance, self.subscription = answer["client_instance_id"], answer["subscription_id"]

    def push(self, metrics: bytes = b"", *, client: Client | None = None, **more: Any) -> Any:
        fields = {"client_instance_id": self.instance, "subscription_id": self.subscription}
        answer = self._scene.ask({**fields, "metrics": metrics, **more}, client=client or self._client)
        return answer if isinstance(answer, str) else answer["error_code"]


def pushes(s: Scene) -> Steps:
    with subscription(s, metrics="*", interval_ms="60000"):
        one = Pushing(s)
        yield (
            "the whole answer",
            s.ask(client_instance_id=one.instance, subscription_id=one.subscription, metrics=b"metrics"),
        )
        yield "too soon", one.push(b"metrics")
        yield "the last", one.push(b"metrics", terminating=True)
        yield "after the last", one.push(b"metrics")
        yield "the last again", one.push(b"metrics", terminating=True)
        yield "without metrics", Pushing(s).push()
        yield "from another connection", Pushing(s).push(b"metrics", client=s.new_client())


def compression(s: Scene) -> Steps:
    with subscription(s, metrics="*", interval_ms="60000"):
        for kind in (0, 1, 2, 3, 4, 5, -1, 127):
            one = Pushing(s)
            yield f"type {kind}", one.push(b"metrics", compression_type=kind)
            one.renew(one.instance)
            yield f"type {kind}, then its subscription", bool(one.subscription)


def compressed(s: Scene) -> Steps:
    most = 1 << 20
    with subscription(s, metrics="*", interval_ms="60000"):
        for kind in (1, 2, 3, 4):
            for size in (7, most, most + 1, 4 * most):
                metrics = compress(kind, bytes(size))
                yield f"type {kind}, {size} bytes", Pushing(s).push(metrics, compression_type=kind)


def refused(s: Scene) -> Steps:
    with subscription(s, metrics="*", interval_ms="60000"):
        one = Pushing(s)
        yield "unknown subscription", one.push(b"m", subscription_id=one.subscription ^ 1)
        yield "too soon after that", one.push(b"m")
        one.renew(one.instance)
        yield "with its subscription", one.push(b"m")
        yield "zero as instance", Pushing(s).push(b"m", client_instance_id=NEW)
        yield "one as instance", Pushing(s).push(b"m", client_instance_id=ONE)
        yield "unknown instance", Pushing(s).push(b"m", client_instance_id=KNOWN)
        most = 1 << 20
        yield "the largest", Pushing(s).push(bytes(most))
        yield "too large", Pushing(s).push(bytes(most + 1))
        one = Pushing(s)
        wrong = {"subscription_id": one.subscription ^ 1, "compression_type": 9}
        yield "all of it", one.push(bytes(most + 1), **wrong)


def a_subscription_that_changes(s: Scene) -> Steps:
    with subscription(s, metrics="a.", interval_ms="60000"):
        one = Pushing(s)
        before = one.subscription
        with subscription(s, "n", metrics="b.", interval_ms="50000"):
            yield "with the old one", one.push(b"m")
            one.renew(one.instance)
            yield "it has another id", one.subscription != before
            yield "with the new one", one.push(b"m")
        one.renew(one.instance)
        yield "it has its first id again", one.subscription == before
