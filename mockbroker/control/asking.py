"""Sends requests to a broker from inside the cluster, through the handlers for clients. Faults don't
apply."""

from collections.abc import Callable
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any, TypeVar

from ..apis.advertised import advertised
from ..apis.registry import HANDLERS
from ..cluster.call import Call
from ..outcome import PARKED, Client, Failed
from ..protocol.api_keys import ApiKey
from ..protocol.errors import error_name
from .errors import RefusedError

if TYPE_CHECKING:
    from ..cluster.broker import Broker
    from ..cluster.cluster import Cluster

T = TypeVar("T")
CLIENT_ID = "mockbroker"


def ask(
    cluster: "Cluster",
    broker: "Broker",
    api: ApiKey,
    request: Any,
    read: Callable[[Any], T],
    most: int = 99,
    client_id: str = CLIENT_ID,
) -> "Future[T]":
    """A future with what `read` returns or raises for the broker's answer to the request, in the newest
    version up to `most`. It is done at once, unless the request waits."""
    future: Future[T] = Future()
    # The caller that waits for it may be cancelled; the request goes on.
    future.set_running_or_notify_cancel()

    def answered(_: Call | None, answer: Any) -> None:
        try:
            if isinstance(answer, Failed):
                raise answer.error
            future.set_result(read(answer))
        except Exception as error:
            future.set_exception(error)

    version = min(advertised(cluster.release, unstable=cluster.configs.unstable)[api][1], most)
    call = Call(cluster, broker, version, Client(), client_id, answered)
    before, cluster.environment.at_work = cluster.environment.at_work, call
    try:
        answer = HANDLERS[api](call, request)
    finally:
        cluster.environment.at_work = before
    if answer is not PARKED:
        answered(call, answer)
    return future


def check(code: int, message: str | None, what: str) -> None:
    """RefusedError for an error code; the message begins with `what`."""
    if code:
        raise RefusedError(error_name(code), f"{what}: {message}" if message else what)


def any_broker(cluster: "Cluster") -> "Broker":
    """A broker that can change topics. RefusedError if none runs, or none is the controller."""
    for broker in cluster.brokers.values():
        if broker.online and not broker.is_not_controller:
            return broker
    running = any(each.online for each in cluster.brokers.values())
    why = "there is no controller" if running else "no broker is running"
    raise RefusedError("BROKER_NOT_AVAILABLE", f"{why}: start a broker first")


def change(cluster: "Cluster", api: ApiKey, request: Any, refused: str) -> None:
    """Asks for a change of one thing. RefusedError, which begins with `refused`."""
    answer = ask(cluster, any_broker(cluster), api, request, lambda answer: answer).result()
    [result] = answer.topics if api is ApiKey.CREATE_TOPICS else answer.responses
    check(result.error_code, result.error_message, refused)
