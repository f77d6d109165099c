"""Whether records are in the logs, and with consumers, as they were sent."""

import re
from collections.abc import Iterator
from typing import Final

from ..journal import Headers, Read, Sent
from ..stage import Outcome
from ..users import BAD
from .violation import Violation

_NUMBER: Final = re.compile(rb"(\d{1,9}):")


def altered(outcome: Outcome) -> Iterator[Violation]:
    """`altered`: a record is in the log with another key or value, or with other headers, than it was sent
    with; or a consumer is given another one than the log has."""
    sent = outcome.journal.sent()
    for (topic, partition), records in outcome.logs.items():
        for each in records:
            found = _NUMBER.match(each.mark.removeprefix(BAD))
            one = sent.get(int(found[1])) if found is not None else None
            if one is not None and (what := _differences(one, each.key, each.value, each.headers)):
                where = f"record {one.number} is in {topic}-{partition} at {each.offset} with another {what}"
                yield Violation("altered", one.user, where, (one.at,), what)
    for read in outcome.journal.of(Read):
        if read.topic in outcome.deleted:
            continue
        log = outcome.logs.get((read.topic, read.partition), ())
        it = next((each for each in log if each.offset == read.offset), None)
        if it is not None and (what := _differences(read, it.key, it.value, it.headers)):
            where = f"{read.topic}-{read.partition} at {read.offset} is read with another {what}"
            yield Violation("altered", read.user, where, (read.at,), what)


def _differences(entry: Sent | Read, key: bytes | None, value: bytes | None, headers: Headers) -> str:
    differ = {
        "key": entry.key != key,
        "value": entry.value != value,
        "headers": entry.headers is not None and entry.headers != headers,
    }
    return " ".join(name for name, differs in differ.items() if differs)
