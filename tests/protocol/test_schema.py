"""Our models against kio's own readers and writers, for every API version."""

import contextlib
import functools
import importlib
import random
import tracemalloc
import types
import typing
from dataclasses import fields, is_dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from kio.serial import entity_reader

from mockbroker.protocol import reading, schema, writing
from mockbroker.protocol.api_keys import CODEC_VERSIONS, ApiKey
from mockbroker.protocol.codecs import codec
from mockbroker.protocol.headers import MalformedRequestError
from mockbroker.protocol.primitives import write_uvarint

from ..properties import examples

CASES = [
    (key, version, kind)
    for key, (low, high) in CODEC_VERSIONS.items()
    for version in range(low, high + 1)
    for kind in ("Request", "Response")
    # Records are written and read by hand: test_records.py.
    if (key, kind) not in ((ApiKey.FETCH, "Response"), (ApiKey.PRODUCE, "Request"))
]

TEXT = st.text(alphabet=st.characters(codec="utf-8"), max_size=8)
SMALL = {"int": st.integers(-1, 127), "str": TEXT, "bytes": st.binary(max_size=8), "bool": st.booleans()}


def model(api: str, kind: str) -> type:
    messages = importlib.import_module(f"mockbroker.protocol.messages.{api}")
    return getattr(messages, schema.class_name(api) + kind)  # type: ignore[no-any-return]


def values(model_type: type, schema_type: type) -> st.SearchStrategy[Any]:
    """Instances of a model in which only what the version has differs from the default."""
    hints = typing.get_type_hints(model_type)
    chosen = {}
    for field in fields(schema_type):
        timed = field.metadata.get("kafka_type", "").startswith(("timedelta", "datetime"))
        name = field.name + "_ms" if timed else field.name
        chosen[name] = _field(hints[name], field)
    return st.builds(model_type, **chosen)


def _field(hint: Any, field: Any) -> st.SearchStrategy[Any]:
    kafka_type = field.metadata.get("kafka_type", "")
    inner, nullable = _plain(field.type)
    array = typing.get_origin(inner) is tuple
    element = typing.get_args(inner)[0] if array else inner
    if is_dataclass(element):
        strategy = values(_model_in(hint), typing.cast(type, element))
    elif kafka_type == "records":
        strategy = st.lists(st.binary(min_size=1, max_size=8).map(bytearray), max_size=1)
    elif kafka_type == "uuid":
        strategy = st.uuids()
    elif kafka_type == "string":
        strategy = TEXT
    elif kafka_type == "bytes":
        strategy = SMALL["bytes"]
    elif kafka_type == "bool":
        strategy = SMALL["bool"]
    elif kafka_type.startswith("datetime"):
        # kio has None for -1, where the field may be null, and no other negative time.
        strategy = st.just(-1 if nullable else 0)
    elif kafka_type.startswith("uint"):
        strategy = st.sampled_from([0, 1, (1 << 16) - 1])
    else:
        strategy = SMALL["int"]
    if array:
        strategy = st.lists(strategy, max_size=2)
    return (
        st.none() | strategy
        if nullable and kafka_type != "records" and not kafka_type.startswith("dat")
        else strategy
    )


def _plain(hint: Any) -> tuple[Any, bool]:
    if isinstance(hint, types.UnionType) or typing.get_origin(hint) is typing.Union:
        return next(t for t in typing.get_args(hint) if t is not type(None)), True
    return hint, False


def _model_in(hint: Any) -> type:
    while not is_dataclass(hint):
        hint = next(t for t in typing.get_args(hint) if t is not type(None))
    return typing.cast(type, hint)


def plain(value: Any) -> Any:
    """What two messages that say the same have in common."""
    if is_dataclass(value):
        return {f.name: plain(_joined(f.name, getattr(value, f.name))) for f in fields(value)}
    if isinstance(value, UUID) or value is None:
        return value
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    if isinstance(value, (bytes, bytearray, memoryview)):
        return bytes(value)
    return value


def _joined(name: str, value: Any) -> Any:
    """Batches are written one by one, and read as one."""
    return b"".join(value) if name == "records" and isinstance(value, (list, tuple)) else value


def as_kio_has_it(value: Any) -> Any:
    """What a plain reader gives, from what kio read."""
    if is_dataclass(value):
        return {f.name: as_kio_has_it(getattr(value, f.name)) for f in fields(value)}
    if isinstance(value, tuple):
        return [as_kio_has_it(each) for each in value]
    if isinstance(value, timedelta):
        return value // timedelta(milliseconds=1)
    if isinstance(value, datetime):
        return value.isoformat()
    return getattr(value, "value", value)


@pytest.mark.parametrize(
    ("key", "version", "kind"), CASES, ids=lambda value: str(getattr(value, "name", value))
)
@settings(max_examples=examples(10), suppress_health_check=list(HealthCheck))
@given(data=st.data(), randomness=st.randoms(use_true_random=False))
def test_what_is_written_is_read_back_by_kio_and_by_us_and_when_damaged_read_or_refused(
    key: ApiKey, version: int, kind: str, data: st.DataObject, randomness: random.Random
) -> None:
    api = key.name.lower()
    ours, theirs = model(api, kind), schema.load(api, version, kind)
    read, read_plain = readers(ours, theirs)
    message = data.draw(values(ours, theirs))
    out = bytearray()
    writing.compile_writer(theirs, ours)(message, out)
    assert plain(read(b"head" + out, 4)) == plain(message)
    reference: Any = entity_reader(theirs)
    assert plain(read_plain(bytes(out), 0)) == as_kio_has_it(reference(bytes(out), 0)[0])
    for _ in range(8):
        damaged = damage(bytes(out), randomness)
        for each in (read, read_plain):
            with contextlib.suppress(*reading.READ_ERRORS):
                each(damaged, 0)


@functools.cache
def readers(ours: type, theirs: type) -> tuple[reading.Reader, reading.Reader]:
    return reading.compile_reader(theirs, ours), reading.compile_plain_reader(theirs)


LENGTHS = [b"\xff\xff\xff\xff\x0f", b"\xff\xff\xff\xff\x07", b"\x7f\xff\xff\xff", b"\x80\x80\x80\x80\x08"]
"""The 21-byte frame's, and as large as lengths of 32 bits get, compact and not."""


def damage(data: bytes, randomness: random.Random) -> bytes:
    at = randomness.randrange(len(data) + 1)
    match randomness.randrange(4):
        case 0:
            return data[:at]
        case 1:
            return data[:at] + randomness.randbytes(randomness.randrange(1, 6)) + data[at:]
        case 2:
            return data[:at] + randomness.randbytes(1) + data[at + 1 :]
        case _:
            return data[:at] + randomness.choice(LENGTHS) + data[at + randomness.randrange(5) :]


@pytest.mark.parametrize("key", list(CODEC_VERSIONS), ids=lambda key: key.name)
def test_no_length_that_is_announced_is_reserved(key: ApiKey) -> None:
    """In the place of every byte, and before it: memory stays flat, and nothing but a refusal is raised."""
    low, high = CODEC_VERSIONS[key]
    examples = []
    for api, version, kind in CASES:
        if api is not key or low < version < high - 1:
            continue
        ours, theirs = model(key.name.lower(), kind), schema.load(key.name.lower(), version, kind)
        out = bytearray()
        writing.compile_writer(theirs, ours)(filled(ours), out)
        examples.append((bytes(out), readers(ours, theirs)))
    tracemalloc.start()
    before, _ = tracemalloc.get_traced_memory()
    for written, both in examples:
        for at in range(len(written) + 1):
            for length in LENGTHS:
                for read in both:
                    with contextlib.suppress(*reading.READ_ERRORS):
                        read(written[:at] + length + written[at + len(length) :], 0)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak - before < 500_000


def filled(model_type: type) -> Any:
    """A message with one entry in each of its arrays."""
    hints = typing.get_type_hints(model_type)
    chosen: dict[str, Any] = {}
    for field in fields(model_type):
        if not isinstance(getattr(model_type(), field.name), (list, tuple)):
            continue
        element = hints[field.name]
        while not isinstance(element, type):
            element = next(t for t in typing.get_args(element) if t is not type(None))
        chosen[field.name] = [filled(element) if is_dataclass(element) else element()]
    return model_type(**chosen)


def test_too_many_entries_are_refused_before_they_are_made() -> None:
    keys = b"\1" * (reading.MAX_ENTRIES + 1)
    for count, refused in ((reading.MAX_ENTRIES, False), (reading.MAX_ENTRIES + 1, True)):
        body = bytearray(b"\0")
        write_uvarint(body, count + 1)
        frame = b"\0" + bytes(body[:1]) + bytes(body[1:]) + keys[:count] + b"\0"
        if refused:
            with pytest.raises(MalformedRequestError, match=f"{reading.MAX_ENTRIES + 1} entries"):
                codec(ApiKey.FIND_COORDINATOR, 4).decode(frame, 0)
        else:
            assert len(codec(ApiKey.FIND_COORDINATOR, 4).decode(frame, 0).coordinator_keys) == count


@pytest.mark.parametrize("key", list(CODEC_VERSIONS), ids=lambda key: key.name)
def test_the_ranges_of_codecs_are_those_of_schemas(key: ApiKey) -> None:
    versions = schema.versions(key.name.lower())
    assert CODEC_VERSIONS[key] == (versions[0], versions[-1])
    for version in range(versions[0], versions[-1] + 1):
        assert codec(key, version).version == version
