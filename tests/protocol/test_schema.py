"""Our models against kio's own readers and writers, for every API version."""

import importlib
import types
import typing
from dataclasses import fields, is_dataclass
from typing import Any
from uuid import UUID

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mockbroker.protocol import schema
from mockbroker.protocol.api_keys import CODEC_VERSIONS, ApiKey
from mockbroker.protocol.codecs import codec

CASES = [
    (key, version, kind)
    for key, (low, high) in CODEC_VERSIONS.items()
    for version in range(low, high + 1)
    for kind in ("Request", "Response")
    if not (key is ApiKey.OFFSET_FOR_LEADER_EPOCH and version < 2)
    # Records are written and read by hand: test_records.py.
    and (key, kind) not in ((ApiKey.FETCH, "Response"), (ApiKey.PRODUCE, "Request"))
]

TEXT = st.text(alphabet=st.characters(codec="utf-8"), max_size=8)
SMALL = {"int": st.integers(-1, 127), "str": TEXT, "bytes": st.binary(max_size=8), "bool": st.booleans()}


def model(api: str, kind: str) -> type:
    name = "".join(part.capitalize() for part in api.split("_"))
    return getattr(importlib.import_module(f"mockbroker.protocol.messages.{api}"), name + kind)  # type: ignore[no-any-return]


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
        return {f.name: plain(getattr(value, f.name)) for f in fields(value)}
    if isinstance(value, UUID) or value is None:
        return value
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    if isinstance(value, (bytes, bytearray, memoryview)):
        return bytes(value)
    return value


@pytest.mark.parametrize(
    ("key", "version", "kind"), CASES, ids=lambda value: str(getattr(value, "name", value))
)
@settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_what_is_written_is_read_back_by_kio(
    key: ApiKey, version: int, kind: str, data: st.DataObject
) -> None:
    api = key.name.lower()
    ours, theirs = model(api, kind), schema.load(api, version, kind)
    message = data.draw(values(ours, theirs))
    out = bytearray()
    schema.compile_writer(theirs, ours)(message, out)
    assert plain(schema.compile_reader(theirs, ours)(bytes(out), 0)) == plain(message)


@pytest.mark.parametrize("key", list(CODEC_VERSIONS), ids=lambda key: key.name)
def test_the_ranges_of_codecs_are_those_of_kio(key: ApiKey) -> None:
    import pkgutil

    package = importlib.import_module(f"kio.schema.{key.name.lower()}")
    versions = sorted(int(module.name[1:]) for module in pkgutil.iter_modules(package.__path__))
    low = 0 if key is ApiKey.OFFSET_FOR_LEADER_EPOCH else versions[0]
    assert CODEC_VERSIONS[key] == (low, versions[-1])
    for version in range(low, versions[-1] + 1):
        assert codec(key, version).version == version
