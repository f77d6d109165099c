"""No request keeps others waiting: what it takes is done in parts, however much it names.

Counted in instructions of Python between two turns, where others have theirs after each step of the request.
"""

from typing import Any, Final

import pytest

from benchmarks.counting import Steps
from mockbroker.protocol.api_keys import ApiKey
from mockbroker.protocol.codecs import Codec

from ..driving.cluster import ask
from ..driving.many import Many
from ..driving.requests import REQUESTS

N: Final = 200
MOST: Final = 40_000
"""Takes one to three milliseconds."""
WHOLE: Final = {
    (ApiKey.OFFSET_COMMIT, ""): "a commit is one batch, of at most `message.max.bytes`",
    (ApiKey.JOIN_GROUP, ""): "a generation begins for all its members",
    (ApiKey.CONSUMER_GROUP_HEARTBEAT, ""): "an assignment is made for all members and topics",
    (ApiKey.ALTER_SHARE_GROUP_OFFSETS, ""): "a group's partitions are one record",
    (ApiKey.CREATE_TOPICS, "with many partitions"): "a topic is there with all its partitions",
}
"""What real brokers do as a whole, too."""
MOST_OF_ONE: Final = 650
"""The same for each of N entries that belong to such a whole."""


@pytest.mark.parametrize(("key", "what"), REQUESTS, ids=lambda each: getattr(each, "name", each) or "many")
def test_requests_are_answered_in_parts(key: ApiKey, what: str) -> None:
    for request in REQUESTS[key, what](first := Many(1)):
        # What is imported and compiled for the first time does not count.
        ask(first.cluster, request, answered=_left_alone)
    many = Many(N)
    work = many.cluster.work
    work.at_once = 1
    turns = []
    for request in REQUESTS[key, what](many):
        work.in_parts = True
        with Steps() as steps:
            ask(many.cluster, request, answered=_left_alone)
        turns.append(steps.count)
        while work:
            with Steps() as steps:
                work.go_on()
            turns.append(steps.count)
        with Steps() as steps:
            many.advance(0)
        turns.append(steps.count)
        work.in_parts = False
    assert max(turns) < (N * MOST_OF_ONE if (key, what) in WHOLE else MOST), sorted(turns)[-5:]


def _left_alone(codec: Codec, answer: Any) -> None:
    """Connections write answers in parts, too."""
