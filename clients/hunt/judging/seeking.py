"""Where consumers read on after they were sent elsewhere, and what they say of offsets by time."""

from collections.abc import Iterator
from typing import Final

from ..journal import Called, Owns, Read, Sought
from ..stage import Outcome
from .consumers import by_partition, left_out, listed
from .violation import Violation

_NAME: Final = "sought-elsewhere"


def sought_elsewhere(outcome: Outcome) -> Iterator[Violation]:
    """`sought-elsewhere`: after a seek, the first record that is read is not the first one there."""
    for partition, entries in by_partition(outcome).items():
        if partition[0] in outcome.deleted:
            continue
        sought: dict[str, Sought] = {}
        for entry in entries:
            if isinstance(entry, Owns):
                sought.pop(entry.handle, None)
            elif isinstance(entry, Sought):
                sought[entry.handle] = entry
            elif isinstance(entry, Read) and (to := sought.pop(entry.handle, None)) is not None and to.to:
                # The end may be looked up when there are more records.
                left = [] if to.to == "end" else left_out(outcome, entry, partition, to.offset, entry.offset)
                if entry.offset < to.offset or left:
                    where = f"{partition[0]}-{partition[1]} at {entry.offset}"
                    without = f", without {listed(left)}" if left else ""
                    what = f"sought the {to.to} at {to.offset}, and reads {where}{without}"
                    yield Violation(_NAME, entry.user, what, (to.at, entry.at), to.to)


def offsets_by_time(outcome: Outcome) -> Iterator[Violation]:
    """`told-otherwise`: a client says that the records from some time on begin elsewhere than they do."""
    for called in outcome.journal.of(Called):
        if called.verb != "offsets-for-times" or called.error is not None:
            continue
        asked = {(topic, partition): at_ms for topic, partition, at_ms in called.fields["partitions"]}
        for topic, partition, offset in called.answer["offsets"]:
            if topic in outcome.deleted or outcome.log_starts.get((topic, partition)):
                continue
            at_ms, log = asked[topic, partition], outcome.logs[topic, partition]
            first = next((each.offset for each in log if each.timestamp_ms >= at_ms), None)
            if offset != first:
                what = f"says that {topic}-{partition} has the time {at_ms} from {offset} on, not {first}"
                yield Violation("told-otherwise", called.user, what, (called.at,))
