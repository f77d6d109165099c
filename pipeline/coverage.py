"""Which kinds of files were read, and which would tell more."""

from collections import Counter
from collections.abc import Iterator
from pathlib import PurePath
from typing import Final

from .collecting import Collected
from .readers.log_spans import BROKER, CONTROLLER, JAVA
from .readers.trace import TAKEN_FOR

_OFFSETS: Final = "__consumer_offsets"
_RECORDS: Final = ("Kafka log segment", "output of kafka-dump-log")
_CLIENTS: Final = ("log of a client", "log of librdkafka")
_ALL: Final = (TAKEN_FOR,)


def read(collected: Collected) -> str:
    """How many files of each kind were read."""
    counts = Counter(collected.files.values())
    return ", ".join(f"{what} ({count})" if count > 1 else what for what, count in sorted(counts.items()))


def not_read(collected: Collected) -> list[str]:
    """What is not among the files. A trace has all but the offsets topic, and a capture what clients ask."""
    kinds = set(collected.files.values())
    of = {each for span in collected.spans.values() for each in span.of}
    if not kinds.isdisjoint(_ALL):
        return []
    return list(_missing(collected, kinds, of))


def _missing(collected: Collected, kinds: set[str], of: set[str]) -> Iterator[str]:
    if CONTROLLER not in of:
        yield "the log of a controller"
    if BROKER not in of:
        yield "the logs of brokers"
    if JAVA not in of and kinds.isdisjoint(_CLIENTS):
        yield "the logs of clients"
    records = [file for file, what in collected.files.items() if what in _RECORDS]
    offsets = [file for file in records if _OFFSETS in file or _dump(file, collected)]
    if not offsets and "console consumer's dump of an internal topic" not in kinds:
        yield "the offsets topic"
    if len(offsets) == len(records):
        yield "segments of the partitions"


def _dump(file: str, collected: Collected) -> bool:
    return collected.files[file] != _RECORDS[0] and "offsets" in PurePath(file).name
