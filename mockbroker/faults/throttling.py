"""Clients that are over their quota are told to wait, and are not served meanwhile (KIP-13, KIP-219)."""

from dataclasses import replace
from typing import Any, Final

from ..cluster.call import Call
from ..cluster.client_quotas import KEY_OF, Limit
from ..outcome import NO_ANSWER
from ..protocol.api_keys import ApiKey
from ..protocol.codecs import codec
from ..protocol.releases import parse as release
from .exchange import Delivery, Exchange

_MUTED_SINCE: Final = release("2.0")
_HEADER: Final = 4
_FLEXIBLE_HEADER: Final = 5


def throttle(exchange: Exchange, ms: int) -> bool:
    """The client has to wait `ms`: it is told at once, for Fetch without records, and its later requests on
    the connection wait. Before 2.0, and if it expects no answer, the answer itself is late: False then."""
    if exchange.has_answer and hasattr(exchange.answer, "throttle_time_ms"):
        exchange.answer = replace(exchange.answer, throttle_time_ms=ms)
    if not exchange.has_answer or exchange.call.cluster.release < _MUTED_SINCE:
        exchange.call.environment.wait(ms, exchange.go_on)
        return False
    if exchange.api is ApiKey.FETCH and not exchange.answer.error_code:
        exchange.answer = _throttled_fetch(exchange.answer, exchange.request)

    def mute(delivery: Delivery) -> None:
        delivery.mute_ms = ms

    exchange.on_the_way.append(mute)
    return True


def _throttled_fetch(answer: Any, request: Any) -> Any:
    """It begins no session (`FullFetchContext.getThrottledResponse`)."""
    begins = request.session_epoch <= 0
    return replace(answer, responses=[], session_id=0 if begins else answer.session_id)


class Quota:
    """The client quota that is in force for one request of `size` bytes (`KafkaApis.scala`)."""

    do = "client quota"

    def __init__(self, limit: Limit, size: int) -> None:
        self._limit = limit
        self._size = size

    def acts_before(self, api: ApiKey) -> bool:
        """A Fetch gets no more than fits into its quota."""
        return api is ApiKey.FETCH

    def touch(self, exchange: Exchange) -> bool:
        if exchange.api is ApiKey.FETCH:
            most = min(exchange.request.max_bytes, self._limit.most_at_once)
            exchange.request.max_bytes = int(most)
            return exchange.then(self._fetched)
        return self._produced(exchange)

    def _produced(self, exchange: Exchange) -> bool:
        if not exchange.has_answer and exchange.answer is not NO_ANSWER:
            return True
        ms = self._limit.use(self._size, exchange.call.now_ms)
        return throttle(exchange, ms) if ms else True

    def _fetched(self, exchange: Exchange) -> bool:
        if not exchange.has_answer or exchange.answer.error_code:
            return True
        now_ms, size = exchange.call.now_ms, _size(exchange)
        ms = self._limit.use(size, now_ms)
        if not ms:
            return True
        self._limit.give_back(size, now_ms)
        return throttle(exchange, ms)


def _size(exchange: Exchange) -> int:
    """The size of an answer as brokers count it (`FetchResponse.sizeOf`)."""
    found = codec(exchange.api, exchange.call.version)
    frame = found.encode(0, exchange.answer)
    size = sum(map(len, frame)) if isinstance(frame, list) else len(frame)
    return size - (_FLEXIBLE_HEADER if found.tagged_answer else _HEADER)


def quota(api: ApiKey, call: Call, request: Any, size: int) -> Quota | None:
    """The quota that is in force for a request, None if there is none. Followers have none."""
    if api not in KEY_OF or (api is ApiKey.FETCH and _is_follower(request)):
        return None
    limit = call.broker.quotas.limit(api, call.client_id)
    return None if limit is None else Quota(limit, size)


def _is_follower(request: Any) -> bool:
    replica: int = max(request.replica_id, request.replica_state.replica_id)
    return replica >= 0
