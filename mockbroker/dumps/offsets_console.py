"""The offsets topic from what a console consumer printed. That names neither partitions nor offsets: a group
decides its partition, and records stay in their order."""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from ..errors import OptionError
from ..protocol.group_metadata import GroupMetadata
from ..protocol.offsets_log import Commit, CommitKey, GroupKey
from ..protocol.record_batch import Record
from .console import TornError, json_objects, of_line
from .decoded import Entry, is_transaction, of_json
from .files import DamagedError, Line, lines
from .offsets_topic import OFFSETS, OffsetsTopic
from .rebuilding import Bounds, key_and_value, rebuilt

_MALFORMED: Final = (KeyError, TypeError, ValueError, AttributeError)


def read(path: Path, topic: OffsetsTopic, progress: Callable[[int], None]) -> None:
    """Adds what a file shows. OptionError, OSError."""
    done = number = found = 0
    try:
        for line in lines(path):
            number = line.number
            for entry in _entries(line):
                found += 1
                _add(entry, topic)
            done += len(line.text) + 1
            progress(done)
    except DamagedError as error:
        raise OptionError(f"{path}: {error}") from None
    except OptionError as error:
        raise OptionError(f"{path}, line {number}: {error}") from None
    if not found:
        raise OptionError(f"{path} has no record of {OFFSETS}")


def _entries(line: Line) -> Iterator[Entry]:
    try:
        if not line.text.lstrip().startswith("{"):
            entry = of_line(line.text)
            if entry is not None:
                yield entry
            return
        for found, _ in json_objects(line):
            entry = _of_object(found)
            if entry is not None:
                yield entry
    except OptionError:
        raise
    except TornError as error:
        raise OptionError(f"{error}: dump again, or remove what is incomplete") from None
    except _MALFORMED as error:
        reason = f"it can't be read: {error}" if line.ended else "it is cut short: dump again, or remove it"
        raise OptionError(reason) from None


def _of_object(found: Mapping[str, Any]) -> Entry | None:
    key = found["key"]
    if key and is_transaction(key):
        raise OptionError(f"this is a record of __transaction_state, not of {OFFSETS}")
    return of_json(key, found["value"]) if key else None


def _add(entry: Entry, topic: OffsetsTopic) -> None:
    time_ms = topic.last_ms
    match entry.value:
        case Commit(commit_ms=when_ms) | GroupMetadata(since_ms=when_ms) if when_ms >= 0:
            time_ms = when_ms
    made = key_and_value(entry, time_ms)
    if made is None or not isinstance(entry.key, CommitKey | GroupKey):
        topic.left_out += 1
        return
    record = Record(0, time_ms, *made)
    topic.saw(*made, None)
    topic.last_ms = max(topic.last_ms, time_ms)
    topic.loose.append((entry.key.group, rebuilt(Bounds(0, 0, leader_epoch=0), [record])))
