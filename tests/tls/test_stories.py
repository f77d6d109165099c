"""Handshakes go as at real brokers, but for what OpenSSL does in another way than Java."""

import itertools
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final

import pytest

from . import STORIES
from .served import Secure, served

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
UNALTERING: Final = ("versions", "certificates", "names", "plain_text", "half_done", "afterwards", "logins")
"""Stories that leave brokers as they are."""


def texts(answer: Any) -> Iterator[Any]:
    if isinstance(answer, list):
        for each in answer:
            yield from texts(each)
    else:
        yield answer


def alike(real: Any, ours: Any) -> bool:
    pairs = itertools.zip_longest(texts(real), texts(ours))
    return all(one == other or other in ALERTS.get(one, ()) for one, other in pairs)


def cases() -> list[tuple[str, str]]:
    """Every story of the newest release, and of others those that real brokers answered otherwise there."""
    *_, newest = STORIES.releases
    answers = STORIES.recorded(newest)
    every = ((release, story, STORIES.recorded(release)[story]) for release, story in STORIES.cases())
    return [(release, story) for release, story, told in every if release == newest or told != answers[story]]


@pytest.fixture(scope="module")
def unaltered(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Secure]:
    with served(STORIES.releases[-1], STORIES.setting, tmp_path_factory.mktemp("unaltered")) as brokers:
        yield brokers


@pytest.mark.needs("openssl")
@pytest.mark.parametrize(("release", "story"), cases())
def test_tls_is_as_at_real_brokers(
    release: str, story: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    with ExitStack() as stack:
        if story in UNALTERING and release == STORIES.releases[-1]:
            brokers: Secure = request.getfixturevalue("unaltered")
        else:
            brokers = stack.enter_context(served(release, STORIES.setting_of(story), tmp_path))
        ((_, told),) = STORIES.tell(brokers, [story])
    recorded = STORIES.recorded(release)[story]
    assert [label for label, _ in told] == [label for label, _ in recorded]
    for (label, ours), (_, real) in zip(told, recorded, strict=True):
        assert ours == OTHERWISE[label] if label in OTHERWISE else alike(real, ours), (label, real, ours)
