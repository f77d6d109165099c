"""What a request costs grows as it does, not faster: counted in steps of Python, with n and 2n of everything.

Between 2n and 4n there are twice as many more steps than between n and 2n if they grow in proportion, four
times as many if with the square.
"""

from typing import Final

import pytest

from benchmarks.counting import Steps
from mockbroker.protocol.api_keys import ApiKey

from ..driving.many import Many
from ..driving.requests import REQUESTS

N: Final = 10
MOST: Final = 2.4
"""Growing in proportion, but for what is looked up in something sorted."""


def growth(counts: list[int]) -> float:
    few, more, most = counts
    return (most - more) / max(more - few, N)


def test_steps_that_grow_with_the_square_are_seen() -> None:
    counts = []
    for n in (N, 2 * N, 4 * N):
        with Steps() as steps:
            _square(n)
        counts.append(steps.count)
    assert growth(counts) > 3 * MOST / 2


def _square(n: int) -> int:
    return sum(i * j for i in range(n) for j in range(n))


@pytest.mark.parametrize(("key", "what"), REQUESTS, ids=lambda each: getattr(each, "name", each) or "many")
def test_requests_cost_what_they_ask_for(key: ApiKey, what: str) -> None:
    counts = []
    for n in (N, N, 2 * N, 4 * N):  # the first time also fills caches
        many = Many(n)
        total = 0
        for request in REQUESTS[key, what](many):
            with Steps() as steps:
                many.send(request)
            total += steps.count
        counts.append(total)
    assert growth(counts[1:]) < MOST, counts
