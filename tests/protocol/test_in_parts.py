"""What is read and written in parts is the same as at once, and no part is large."""

import random
from collections.abc import Generator, Iterator
from typing import Any, Final

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mockbroker.protocol import reading, schema, writing
from mockbroker.protocol.api_keys import CODEC_VERSIONS, ApiKey
from mockbroker.protocol.codecs import AnswerTooLargeError, codec
from mockbroker.protocol.messages.offset_fetch import (
    OffsetFetchResponse,
    OffsetFetchResponseGroup,
    OffsetFetchResponsePartitions,
    OffsetFetchResponseTopics,
)
from mockbroker.protocol.primitives import FrameBuffer

from ..properties import examples
from .test_schema import CASES, damage, model, values

FIRST_AND_LAST: Final = [
    (key, version, kind) for key, version, kind in CASES if version in (CODEC_VERSIONS[key][1], 0)
]
ENTRIES: Final = 5_000


def parts(steps: Generator[None, None, Any], found: list[Any]) -> Iterator[None]:
    """The steps; what they return is added to `found`."""
    found.append((yield from steps))


def whole(steps: Generator[None, None, Any]) -> Any:
    found: list[Any] = []
    for _ in parts(steps, found):
        pass
    return found[0]


def outcome(read: reading.Reader, written: bytes) -> Any:
    """The message, or why it is none."""
    try:
        return read(written, 0)
    except reading.READ_ERRORS as error:
        return str(error)


@pytest.mark.parametrize(("key", "version", "kind"), FIRST_AND_LAST)
@settings(max_examples=examples(5), suppress_health_check=list(HealthCheck))
@given(data=st.data(), randomness=st.randoms(use_true_random=False))
def test_messages_are_the_same_in_parts(
    key: ApiKey, version: int, kind: str, data: st.DataObject, randomness: random.Random
) -> None:
    api = key.name.lower()
    ours, theirs = model(api, kind), schema.load(api, version, kind)
    message = data.draw(values(ours, theirs))
    at_once, frame = bytearray(), FrameBuffer()
    writing.compile_writer(theirs, ours)(message, at_once)
    whole(writing.compile_writer_in_parts(theirs, ours)(message, frame))
    assert frame == at_once
    read, read_in_parts = reading.compile_reader(theirs, ours), reading.compile_reader_in_parts(theirs, ours)
    for written in (bytes(at_once), damage(bytes(at_once), randomness)):
        assert outcome(lambda *asked: whole(read_in_parts(*asked)), written) == outcome(read, written)


def an_answer(texts: str = "") -> OffsetFetchResponse:
    """With arrays in arrays in arrays."""
    partitions = [OffsetFetchResponsePartitions(i, i, i, texts, 0) for i in range(ENTRIES)]
    topics = [OffsetFetchResponseTopics(None, partitions, "t")]
    return OffsetFetchResponse(groups=[OffsetFetchResponseGroup("g", topics, 0)])


def test_no_part_of_a_large_answer_is_large() -> None:
    offsets_fetch = codec(ApiKey.OFFSET_FETCH, 8)
    expected = offsets_fetch.encode(7, an_answer())
    found: list[Any] = []
    count = sum(1 for _ in parts(offsets_fetch.encode_in_parts(7, an_answer()), found))
    assert found == [expected]
    assert count > len(expected) // (2 * writing.BYTES_PER_PART)


def test_no_part_of_a_large_request_is_large() -> None:
    names = b"".join(b"\x05name" for _ in range(ENTRIES))
    frame = b"\0\0" + b"\x89\x27" + names + b"\0"
    find_coordinator = codec(ApiKey.FIND_COORDINATOR, 4)
    found: list[Any] = []
    count = sum(1 for _ in parts(find_coordinator.decode_in_parts(frame, 0), found))
    assert found == [find_coordinator.decode(frame, 0)]
    assert len(found[0].coordinator_keys) == ENTRIES
    assert count > len(frame) // (2 * reading.BYTES_PER_PART)


def test_an_answer_that_is_too_large_is_given_up_where_it_becomes_so() -> None:
    offsets_fetch = codec(ApiKey.OFFSET_FETCH, 8)
    most = 1_000_000
    answer = an_answer("x" * 4_000)
    with pytest.raises(AnswerTooLargeError, match="more than 1000000 bytes"):
        offsets_fetch.encode(7, answer, most)
    written: list[None] = []
    with pytest.raises(AnswerTooLargeError, match="more than 1000000 bytes"):
        written.extend(offsets_fetch.encode_in_parts(7, answer, most))
    assert len(written) <= most // 4_000


def test_tagged_fields_count_as_entries() -> None:
    """Each would be skipped for its own sake, however many a request of 100 MB has."""
    tags = b"\xc1\x9a\x0c" + b"\x14\x00" * 200_001
    frame = b"\0" + b"\0" + b"\x01" + tags
    with pytest.raises(ValueError, match=r"tagged fields: .* is the most"):
        codec(ApiKey.FIND_COORDINATOR, 4).decode(frame, 0)
