"""Requests that are as large as they may be, with names in them that occur again and again.

They are written from kio's schemas, as all others; a list is made of few entries, which are repeated. What
they name exists, and is large itself: a topic of many partitions, groups with many offsets.
"""

from collections.abc import Iterator, Sequence
from random import Random
from typing import Any, Final, Protocol

from ...rig.client import encode, flexible
from .requests import Field, Values, Written, fields_of, schema, write_one
from .values import GROUPS, TOPICS, Drawn

MOST_ENTRIES: Final = 95_000
"""A little less than what is read of a request."""
_MOST_BYTES: Final = 5_000_000
_MOST_RECORDS_BYTES: Final = 200_000
_PARTITIONS: Final = 500
_IDS: Final = 30
_PREPARES: Final = 0.1


class Makes(Protocol):
    """Makes the requests of a session."""

    random: Random
    values: Drawn

    @property
    def apis(self) -> Sequence[tuple[str, int, int]]: ...

    def header(self, key: int, version: int, flexible: bool, *, odd: float = ...) -> bytes: ...


def frames(make: Makes, most: int = MOST_ENTRIES) -> Iterator[bytes]:
    """Header and body of each; some prepare what others name."""
    random = make.random
    for head, body in _prepared(make):
        yield head + body
    prepared = _prepared(make, endless=True)
    while True:
        if random.random() < _PREPARES:
            head, body = next(prepared)
        else:
            name, key, version = random.choice(make.apis)
            entity = schema(name, version, "request")
            make.values.begin(0.0)
            entries = int(most ** random.choice((0.5, 0.75, 0.9, 1.0)))
            head = make.header(key, version, entity.__header_schema__.__version__ == 2)
            body = bytes(_Large(make, name).entity(entity, entries))
        yield head + body


class _Large:
    """Writes one request; a field that is a list becomes long, as does a list within its entries."""

    def __init__(self, make: Makes, api: str) -> None:
        self._random = make.random
        self._values: Values = _Named(make)
        self._left = _MOST_RECORDS_BYTES if api == "produce" else _MOST_BYTES
        self._written = 0
        """Entries so far."""

    def entity(self, entity: Any, entries: int) -> bytearray:
        """At most that many entries in its lists, taken together."""
        random = self._random
        lists = [each.name for each in fields_of(entity) if each.array and each.tag is None]
        longest = random.choice(lists) if lists else None
        flexible: bool = entity.__flexible__
        out = Written()
        for each in fields_of(entity):
            if each.tag is not None:
                continue
            if not each.array:
                write_one(entity.__name__, each, self._values, out, flexible)
                continue
            if each.nullable and random.random() < 0.1:
                out.length(None, "v" if flexible else "i")
                continue
            if each.name != longest and entries < 1:
                out.length(0, "v" if flexible else "i")
                continue
            self._list(entity.__name__, each, out, flexible, entries if each.name == longest else 1)
        if flexible:
            out.data.append(0)
        return out.data

    def _list(self, entity: str, each: Field, out: Written, flexible: bool, entries: int) -> None:
        random = self._random
        entries = max(0, entries)
        count = entries
        if each.entity is not None and any(inner.array for inner in fields_of(each.entity)):
            count = random.choice((1, 2, int(entries**0.5), entries // 4, entries // 2))
        count = max(1, count)
        before, kinds = self._written, []
        for _ in range(min(count, random.choice((1, 1, 3, 20)))):
            kinds.append(bytes(self._entry(entity, each, flexible, entries // count - 1)))
            self._written += 1
        size = max(1, sum(map(len, kinds)) // len(kinds))
        inner = -(-(self._written - before) // len(kinds))
        count = max(len(kinds), min(count, self._left // size, entries // inner))
        self._left -= count * size
        self._written = before + count * inner
        times, rest = divmod(count, len(kinds))
        out.length(count, "v" if flexible else "i")
        out.data += b"".join(kinds) * times + b"".join(kinds[:rest])

    def _entry(self, entity: str, each: Field, flexible: bool, entries: int) -> bytearray:
        if each.entity is not None:
            return self.entity(each.entity, entries)
        inner = Written()
        write_one(entity, each, self._values, inner, flexible)
        return inner.data


class _Named:
    """The values of usual requests, but more names that exist, and some that are long."""

    def __init__(self, make: Makes) -> None:
        self._make = make
        drawn = make.values
        self.data, self.uuid, self.records = drawn.data, drawn.uuid, drawn.records
        self.size, self.tagged = drawn.size, drawn.tagged

    def number(self, entity: str, name: str, form: str) -> int | float:
        if name.startswith("partition") and form == "i" and not name.endswith("bytes"):
            return self._make.random.randrange(_PARTITIONS)
        return self._make.values.number(entity, name, form)

    def null(self, name: str) -> bool:
        return self._make.random.random() < 0.1

    def text(self, entity: str, name: str) -> bytes:
        random = self._make.random
        found = self._make.values.text(entity, name)
        if name.startswith("transactional_id") or name == "coordinator_keys":
            return random.choice((found, b"x-%d" % random.randrange(_IDS)))
        if random.random() < 0.1:
            return found + b"x" * random.choice((30, 200, 3000))
        return found


def _prepared(make: Makes, endless: bool = False) -> Iterator[tuple[bytes, bytes]]:
    """Requests after which there is much to name."""
    given: list[tuple[str, dict[str, Any]]] = [
        *(("find_coordinator", {"key": key, "key_type": 0, "coordinator_keys": [key]}) for key in GROUPS),
        ("find_coordinator", {"key": "x-0", "key_type": 1, "coordinator_keys": ["x-0"]}),
        ("create_partitions", {"topics": [{"name": TOPICS[0], "count": _PARTITIONS}], "timeout": 30_000}),
        *(("offset_commit", _commit(group)) for group in GROUPS),
        *(("init_producer_id", _producer(number)) for number in range(_IDS)),
    ]
    while True:
        for api, fields in given:
            versions = [(key, version) for name, key, version in make.apis if name == api and version < 10]
            if versions:
                key, version = versions[-1]
                head = make.header(key, version, flexible(api, version), odd=0.0)
                yield head, encode(api, version, fields)
        if not endless:
            return


def _commit(group: str) -> dict[str, Any]:
    offset = {"committed_offset": 1, "committed_leader_epoch": -1, "committed_metadata": "m" * 1000}
    partitions = [{**offset, "partition_index": index} for index in range(_PARTITIONS)]
    return {
        "group_id": group,
        "generation_id_or_member_epoch": -1,
        "retention_time": -1,
        "topics": [{"name": TOPICS[0], "partitions": partitions}],
    }


def _producer(number: int) -> dict[str, Any]:
    return {
        "transactional_id": f"x-{number}",
        "transaction_timeout": 60_000,
        "producer_id": -1,
        "producer_epoch": -1,
    }
