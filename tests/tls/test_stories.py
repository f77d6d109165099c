"""Handshakes go as at real brokers, but for what OpenSSL does in another way than Java."""

import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from . import STORIES
from .served import served

ALERTS: Final = {
    "alert: bad certificate": {"alert: certificate required", "alert: handshake failure"},
    "alert: certificate unknown": {
        "alert: bad certificate",
        "alert: certificate expired",
        "alert: unknown ca",
    },
    "alert: bad record mac": {"alert: internal error", "alert: unexpected message"},
    "alert: internal error": {"alert: protocol version"},
}
"""What Java calls it, and what OpenSSL does."""
OTHERWISE: Final = {
    # Java says goodbye to a client that ends its handshake with an alert that nobody encrypted.
    "a hello, then an alert": [[], "closed"],
    "a hello, then close_notify": [[], "closed"],
    # OpenSSL waits for more.
    "a hello, then a warning": [[], "nothing"],
}


def texts(answer: Any) -> Iterator[Any]:
    if isinstance(answer, list):
        for each in answer:
            yield from texts(each)
    else:
        yield answer


def alike(real: Any, ours: Any) -> bool:
    pairs = itertools.zip_longest(texts(real), texts(ours))
    return all(one == other or other in ALERTS.get(one, ()) for one, other in pairs)


@pytest.mark.needs("openssl")
@pytest.mark.parametrize(("release", "story"), STORIES.cases())
def test_tls_is_as_at_real_brokers(release: str, story: str, tmp_path: Path) -> None:
    with served(release, STORIES.setting_of(story), tmp_path) as brokers:
        ((_, told),) = STORIES.tell(brokers, [story])
    recorded = STORIES.recorded(release)[story]
    assert [label for label, _ in told] == [label for label, _ in recorded]
    for (label, ours), (_, real) in zip(told, recorded, strict=True):
        assert ours == OTHERWISE[label] if label in OTHERWISE else alike(real, ours), (label, real, ours)
