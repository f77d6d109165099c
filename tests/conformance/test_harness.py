"""The harness itself, without any broker."""

import time
import uuid
from typing import Any

import pytest

from mockbroker.conformance import nearest_release, recordings
from mockbroker.conformance.diff import differing, lines
from mockbroker.conformance.questions import all_questions
from mockbroker.rig import batches
from mockbroker.rig.client import UnknownFieldError, decode, encode, kio_versions
from mockbroker.rig.normalise import Normaliser
from mockbroker.rig.setup import RELEASES


@pytest.fixture
def normaliser() -> Normaliser:
    return Normaliser("abcd1234", "cluster-x", {7: 0, 9: 1}, {19092: 0, 19093: 1})


def test_names_lose_their_suffix(normaliser: Normaliser) -> None:
    answer = {"name": "t-abcd1234", "error_message": "Topic 't-abcd1234' of cluster-x"}
    assert normaliser.answer(answer) == {"name": "t", "error_message": "Topic 't' of <cluster-id>"}


def test_brokers_become_ranks(normaliser: Normaliser) -> None:
    answer = {"leader_id": 9, "replica_nodes": [7, 9], "host": "example", "port": 19093, "controller_id": 7}
    assert normaliser.answer(answer) == {
        "leader_id": "<broker:1>",
        "replica_nodes": ["<broker:0>", "<broker:1>"],
        "host": "<host>",
        "port": "<port:1>",
        "controller_id": "<broker>",
    }
    assert normaliser.answer({"leader_id": -1}) == {"leader_id": -1}
    assert normaliser.answer("includes the broker 9 twice") == "includes the broker <broker:1> twice"


def test_member_ids_are_numbered_and_keep_their_prefix(normaliser: Normaliser) -> None:
    first, second = (f"client-{uuid.uuid4()}" for _ in range(2))
    assert normaliser.answer([first, second, first]) == [
        "client-<member:0>",
        "client-<member:1>",
        "client-<member:0>",
    ]


def test_topic_ids(normaliser: Normaliser) -> None:
    known, other = uuid.uuid4(), uuid.uuid4()
    normaliser.name_topic_id(known, "t")
    assert normaliser.answer([known, other, None]) == ["<topic-id:t>", "<topic-id>", None]


def test_present_times_and_ids(normaliser: Normaliser) -> None:
    normaliser.name_producer(55)
    answer = {"timestamp": int(time.time() * 1000), "producer_id": 55, "session_id": 99, "offset": 55}
    assert normaliser.answer(answer) == {
        "timestamp": "<now>",
        "producer_id": "<producer:0>",
        "session_id": "<session:0>",
        "offset": 55,
    }
    assert normaliser.answer({"timestamp": batches.OLD, "session_id": 0}) == {
        "timestamp": batches.OLD,
        "session_id": 0,
    }


def test_lists_are_sorted_except_in_fetch(normaliser: Normaliser) -> None:
    parts = [{"partition_index": 10}, {"partition_index": 2}]
    assert normaliser.answer(parts) == [{"partition_index": 2}, {"partition_index": 10}]
    assert normaliser.answer(parts, "fetch") == parts


def test_record_bytes_are_described(normaliser: Normaliser) -> None:
    found = normaliser.answer({"records": batches.batch(3, base_offset=5)})["records"]
    assert [(each["base_offset"], each["last_offset"], each["count"]) for each in found] == [(5, 7, 3)]


@pytest.mark.parametrize("codec", [batches.NONE, batches.GZIP, batches.SNAPPY, batches.LZ4, batches.ZSTD])
def test_batches_describe_themselves(codec: int) -> None:
    data = batches.batch(batches.records(4, step=10, size=50), codec=codec, producer_id=3, sequence=2)
    plain = batches.batch(batches.records(4, step=10, size=50))
    (found,) = batches.describe(data) or []
    assert found["crc"] == "ok"
    assert (found["producer_id"], found["base_sequence"], found["attributes"]) == (3, 2, codec)
    assert found["max_timestamp"] == batches.OLD + 30
    assert found["payload_size"] == len(plain) - 61


def test_broken_batches() -> None:
    assert [each["crc"] for each in batches.describe(batches.batch(bad_crc=True)) or []] == ["bad"]
    assert batches.describe(batches.batch(2)[:-1]) == [{"incomplete": len(batches.batch(2)) - 1}]
    assert batches.describe(b"") == []
    assert batches.describe(None) is None


def test_old_message_sets() -> None:
    data = batches.message_set([batches.Record(), batches.Record()], magic=1)
    assert list(batches.old_messages(data)) == [(0, 1), (1, 1)]
    wrapped = batches.message_set([batches.Record(), batches.Record()], magic=0, codec=batches.GZIP)
    assert list(batches.old_messages(wrapped)) == [(1, 0)]


def test_differences_name_their_place() -> None:
    expected: list[list[Any]] = [["one", {"a": 1, "b": [1, 2]}], ["two", "x"]]
    got: list[list[Any]] = [["one", {"a": 1, "b": [1, 3], "c": 4}], ["two", "x"]]
    assert lines(expected, got) == ["one: b[1]: expected 2, got 3", "one: c: expected absent, got 4"]
    assert lines(expected, expected[:1]) == ['two: expected "x", got no such step']
    assert lines([["two", "x"]], [["new", 1], ["two", "y"]]) == [
        "new: expected no such step, got 1",
        'two: expected "x", got "y"',
    ]


def test_what_a_list_lacks_does_not_shift_the_rest() -> None:
    expected = [{"name": "a", "value": 1}, {"name": "b", "value": 2}, {"name": "c", "value": 3}]
    got = [{"name": "b", "value": 4}, {"name": "c", "value": 3}]
    assert lines([["one", expected]], [["one", got]]) == [
        'one: [0]: expected {"name": "a", "value": 1}, got absent',
        "one: [1].value: expected 2, got 4",
    ]
    assert lines([["one", [1, 2]]], [["one", [1, 2, 5]]]) == ["one: [2]: expected absent, got 5"]


def test_one_is_not_true() -> None:
    assert differing(1, True) == [("", 1, True)]


def test_requests_drop_what_a_version_lacks() -> None:
    fields = {"topics": [{"name": "t"}], "allow_auto_topic_creation": True}
    assert len(encode("metadata", 4, fields)) == len(encode("metadata", 1, fields)) + 1
    assert decode("heartbeat", 0, b"\0\0\0\1" + b"\0\x19") == {"error_code": "UNKNOWN_MEMBER_ID"}


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"topcis": []}, r"metadata has no field 'topcis' in any version: did you mean 'topics'\?"),
        ({"topics": [{"partition": 0}]}, r"'topics\.partition' in any version: it has name, topic_id"),
    ],
)
def test_a_field_that_no_version_has_is_an_error(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(UnknownFieldError, match=message):
        encode("metadata", 1, fields)


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        ("4.4", "4.4.0"),
        ("4.4.0", "4.4.0"),
        ("4", "4.4.0"),
        ("4.1", "4.4.0"),
        ("3.9", "3.9.2"),
        ("2.3", "3.9.2"),
    ],
)
def test_nearest_release(wanted: str, found: str) -> None:
    assert nearest_release(wanted) == found


def test_no_release() -> None:
    with pytest.raises(ValueError, match="is not a Kafka release"):
        nearest_release("latest")


@pytest.mark.parametrize("release", RELEASES)
def test_recordings_are_complete(release: str) -> None:
    for question in all_questions():
        if question.versions(kio_versions(question.api)):
            found = recordings.load(release, question.api).get(question.name)
            if found is None:
                assert release != RELEASES[-1], f"{question.id} is not recorded for {release}"
                continue
            assert found, f"{question.id} is recorded for {release} in no version"
            for version, steps in found.items():
                assert steps, f"{question.id} v{version} has no answers"
                assert steps[-1][0] != "<failed>", f"{question.id} v{version} broke off"
