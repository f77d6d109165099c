"""Requests leave nothing that refers to itself: it would stay until a collection of all garbage finds it."""

import gc
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

import pytest

from mockbroker.protocol.api_keys import ApiKey
from mockbroker.protocol.errors import ErrorCode
from mockbroker.protocol.messages.alter_client_quotas import AlterClientQuotasRequest, AlteredEntry, OpData
from mockbroker.protocol.messages.of_administrators import QuotaEntity

from ..driving.many import Many
from ..driving.requests import REQUESTS

N: Final = 10
KEPT: Final = {
    ApiKey.DELETE_TOPICS: {
        "mockbroker.cluster.topic.Topic": N,
        "mockbroker.cluster.topic.TopicPartition": N,
        "mockbroker.metadata.image.PartitionRegistration": N,
    }
}
"""A topic and its partitions refer to each other, so that who has one of them has the others."""


@pytest.fixture(scope="module", autouse=True)
def _only_what_comes() -> None:
    """Collections of garbage don't look through what was there before: they would take half a second."""
    gc.collect()
    gc.freeze()


@pytest.mark.parametrize(("key", "what"), REQUESTS, ids=lambda each: getattr(each, "name", each) or "many")
def test_requests_leave_no_garbage(key: ApiKey, what: str) -> None:
    many = Many(N)
    requests = REQUESTS[key, what](many)
    with collections_by_hand():
        for request in requests:
            many.send(request)
        del requests, request
        assert left() == KEPT.get(key, {})


def test_refused_quotas_leave_no_garbage() -> None:
    many = Many(N)
    with collections_by_hand():
        refused = AlteredEntry([QuotaEntity("user", "alice")], [OpData("no_such_rate", 1.0)])
        answer = many.send(AlterClientQuotasRequest([refused]))
        assert answer.entries[0].error_code is ErrorCode.INVALID_REQUEST
        del refused, answer
        assert left() == {}


@contextmanager
def collections_by_hand() -> Iterator[None]:
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def left() -> dict[str, int]:
    """How many objects of mockbroker's classes only a collection of garbage finds."""
    gc.set_debug(gc.DEBUG_SAVEALL)
    try:
        gc.collect()
        return dict(Counter(_name(type(each)) for each in gc.garbage if _is_ours(type(each))))
    finally:
        gc.set_debug(0)
        gc.garbage.clear()


def _is_ours(kind: type[Any]) -> bool:
    return kind.__module__.partition(".")[0] == "mockbroker"


def _name(kind: type[Any]) -> str:
    return f"{kind.__module__}.{kind.__qualname__}"
