"""The table of error codes has all that real brokers were seen to answer; faults say what is not in it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from mockbroker.conformance import RELEASES
from mockbroker.conformance.recordings import load
from mockbroker.faults import Fault, parse
from mockbroker.faults.legal import is_legal, legal_codes, why_illegal
from mockbroker.faults.match import api_name
from mockbroker.faults.places import levels, place_of, response_class
from mockbroker.protocol.api_keys import CODEC_VERSIONS, ApiKey
from mockbroker.protocol.errors import ErrorCode
from tests.driving.faulty import FaultyDriver

ANOTHER_API = {
    ("SASL_HANDSHAKE", "UNKNOWN_MEMBER_ID"): ApiKey.HEARTBEAT,
    ("SASL_AUTHENTICATE", "UNKNOWN_MEMBER_ID"): ApiKey.HEARTBEAT,
    ("CONSUMER_GROUP_HEARTBEAT", "REBALANCE_IN_PROGRESS"): ApiKey.HEARTBEAT,
    ("JOIN_GROUP", "FENCED_MEMBER_EPOCH"): ApiKey.CONSUMER_GROUP_HEARTBEAT,
    ("JOIN_GROUP", "GROUP_ID_NOT_FOUND"): ApiKey.CONSUMER_GROUP_DESCRIBE,
    ("LEAVE_GROUP", "GROUP_ID_NOT_FOUND"): ApiKey.CONSUMER_GROUP_DESCRIBE,
    ("LEAVE_GROUP", "ILLEGAL_GENERATION"): ApiKey.HEARTBEAT,
    ("LEAVE_GROUP", "REBALANCE_IN_PROGRESS"): ApiKey.HEARTBEAT,
    ("TXN_OFFSET_COMMIT", "UNSTABLE_OFFSET_COMMIT"): ApiKey.OFFSET_FETCH,
}
"""Codes that a question about one API got from another one."""


@pytest.mark.parametrize("api", CODEC_VERSIONS, ids=api_name)
def test_what_was_recorded_is_legal(api: ApiKey) -> None:
    missing = set()
    for release in RELEASES:
        for answers in load(release, api.name.lower()).values():
            for version, recorded in answers.items():
                for path, code in _codes([answer for _, answer in recorded]):
                    if not _in_table(api, version, path, ErrorCode[code]):
                        missing.add((version, ".".join(path), code))
    assert not missing


def _codes(value: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], str]]:
    """Each error code, and the names of the lists that contain it."""
    if isinstance(value, list):
        for each in value:
            yield from _codes(each, path)
    elif isinstance(value, dict):
        for name, inner in value.items():
            if name.endswith("error_code") and isinstance(inner, str):
                yield path, inner
            else:
                yield from _codes(inner, (*path, name))


def _in_table(api: ApiKey, version: int, path: tuple[str, ...], code: ErrorCode) -> bool:
    if other := ANOTHER_API.get((api.name, code.name)):
        return any(each.code == code for each in legal_codes(other))
    # Some questions record only a part of the answer, which may be from any level.
    level = place_of(response_class(api), path) if path else None
    return any(is_legal(api, version, each, code) for each in ([level] if level else levels(api)))


@pytest.mark.parametrize("api", CODEC_VERSIONS, ids=api_name)
def test_its_levels_and_versions_exist_and_it_says_nothing_twice(api: ApiKey) -> None:
    oldest, newest = CODEC_VERSIONS[api]
    seen = set()
    for each in legal_codes(api):
        assert each.level in levels(api)
        assert oldest <= each.oldest <= each.newest <= newest
        assert (each.level, each.code) not in seen
        seen.add((each.level, each.code))


@pytest.mark.parametrize(
    ("asked", "why"),
    [
        ((ApiKey.END_TXN, 1, "top", ErrorCode.INVALID_PRODUCER_EPOCH), ""),
        (
            (ApiKey.END_TXN, 2, "top", ErrorCode.INVALID_PRODUCER_EPOCH),
            (
                "no broker answers INVALID_PRODUCER_EPOCH in EndTxn v2 at top level, "
                "only at top level in v0 to v1"
            ),
        ),
        (
            (ApiKey.HEARTBEAT, 4, "top", ErrorCode.COORDINATOR_LOAD_IN_PROGRESS),
            (
                "no broker answers COORDINATOR_LOAD_IN_PROGRESS in Heartbeat v4 at top level, "
                "nor anywhere in Heartbeat"
            ),
        ),
        ((ApiKey.HEARTBEAT, 4, "top", 9999), "no broker answers the error code 9999: Kafka has none such"),
        ((ApiKey.HEARTBEAT, 4, "top", -1), ""),
    ],
)
def test_why_no_broker_answers_so(asked: tuple[ApiKey, int, str, int], why: str) -> None:
    assert why_illegal(*asked) == why


def fault(do: str, **given: Any) -> Fault:
    return parse({"do": do, **given})


@pytest.mark.parametrize(
    ("added", "why"),
    [
        (fault("error", api="Heartbeat", error="NOT_COORDINATOR"), ""),
        (fault("error", api="Heartbeat", error=["NOT_COORDINATOR", 9999]), "Kafka has none such"),
        (fault("error", api=["Heartbeat", "Produce"], error="NOT_COORDINATOR"), ""),
        (
            fault("error", api="EndTxn", version=[2, 3], error="INVALID_PRODUCER_EPOCH"),
            "only at top level in v0",
        ),
        (fault("error", api="FindCoordinator", version=3, error="COORDINATOR_NOT_AVAILABLE"), ""),
        (fault("error", api="OffsetFetch", error="NOT_COORDINATOR"), ""),
        (
            fault("error", api="OffsetFetch", error="NOT_COORDINATOR", level="top", version=9),
            "only at top level",
        ),
        (fault("wrong-correlation-id"), "another correlation id"),
        (fault("reorder"), "in the order in which they came"),
        (fault("truncated-batch", api="Fetch"), "never the first"),
        (fault("delay", ms=1), ""),
    ],
    ids=str,
)
def test_a_fault_that_does_what_no_broker_does_says_so(added: Fault, why: str) -> None:
    assert why in added.illegal
    assert bool(why) == bool(added.illegal)


def test_what_depends_on_the_version_is_known_once_a_request_came(driver: FaultyDriver) -> None:
    fenced = driver.faults.add("error", api="EndTxn", error="PRODUCER_FENCED")
    assert not fenced.illegal
    driver.send("end_txn", transactional_id="x", producer_id=1, producer_epoch=0, committed=True)
    assert "no broker answers PRODUCER_FENCED in EndTxn v1 at top level" in fenced.illegal


def test_an_illegal_fault_does_its_work_all_the_same(driver: FaultyDriver) -> None:
    driver.faults.add("error", api="Heartbeat", error="INVALID_REQUEST")
    answer = driver.call("heartbeat", group_id="g", generation_id=1, member_id="m")
    assert answer["error_code"] == "INVALID_REQUEST"
