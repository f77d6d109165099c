"""What groups have committed, and what has changed of it since the last look.

As with partitions (`Watching`), the core reports nothing: the offsets of a group get a class that notes which
of them are set. So a look costs what has changed, however many partitions groups have.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from . import events
from .group_looks import groups_of
from .looks import Change

if TYPE_CHECKING:
    from ..cluster.cluster import Cluster
    from ..coordinators.offsets import CommittedOffset, Key, Offsets

    Marks = dict[Offsets, dict[Key, None] | None]
    """By what was set since the last look: its partitions, None for all."""


class Commits:
    """The committed offsets of all groups when they were last looked at."""

    def __init__(self, cluster: "Cluster") -> None:
        self._cluster = cluster
        self._marks: Marks = {}
        self._classes: dict[type[Offsets], type[Offsets]] = {}
        """By the class that offsets have, the one that they get: somebody else may watch them too."""
        self._seen: dict[str, Offsets] = {}
        self._known: dict[str, dict[Key, CommittedOffset]] = {}
        for _ in self.changes():
            pass

    def __len__(self) -> int:
        """How many groups there are, or were."""
        return len(self._known)

    def whole(self) -> Iterator[Change]:
        """As they were at the last look."""
        for group, offsets in self._known.items():
            for where, one in offsets.items():
                yield _committed(group, where, one)

    def changes(self) -> Iterator[Change]:
        """What has changed since the last look."""
        # A coordinator that was has groups that another one has now.
        brokers = self._cluster.brokers.values()
        there = {group.id: group.offsets for broker in brokers for group in groups_of(broker)}
        before, self._seen = self._seen, there
        marks = dict(self._marks)
        self._marks.clear()
        for group, offsets in there.items():
            if before.get(group) is not offsets:
                self._watch(offsets)
                yield from self._changed(group, offsets, None)
            elif offsets in marks:
                yield from self._changed(group, offsets, marks[offsets])

    def _changed(self, group: str, offsets: "Offsets", keys: "Iterable[Key] | None") -> Iterator[Change]:
        now = offsets.committed
        # A group that is nowhere may be on its way to another coordinator, so its offsets are remembered.
        known = self._known.setdefault(group, {})
        for where in list(dict.fromkeys((*now, *known))) if keys is None else keys:
            one = now.get(where)
            if one is None:
                if known.pop(where, None) is not None:
                    yield Change(events.Committed, (*where, group, -1, -1))
            elif known.get(where) != one:
                known[where] = one
                yield _committed(group, where, one)

    def _watch(self, offsets: "Offsets") -> None:
        kind = type(offsets)
        if kind in self._classes.values():
            return
        if kind not in self._classes:
            self._classes[kind] = _noting(kind, self._marks)
        offsets.__class__ = self._classes[kind]


def _committed(group: str, where: "Key", one: "CommittedOffset") -> Change:
    return Change(events.Committed, (*where, group, one.offset, one.leader_epoch))


def _noting(kind: Any, marks: "Marks") -> Any:
    """A kind of offsets that are in `marks` once some of them were set, or are gone."""

    class Noting(kind):  # type: ignore[misc]
        __slots__ = ()

        def commit(self, offsets: "Mapping[Key, CommittedOffset]") -> None:
            self._note(offsets)
            super().commit(offsets)

        def complete(self, producer_id: int, *given: Any, **named: Any) -> None:
            self._note(self.open.get(producer_id, ()))
            super().complete(producer_id, *given, **named)

        def remove(self, keys: "Iterable[Key]", **named: Any) -> "list[Key]":
            asked = list(keys)
            self._note(asked)
            return super().remove(asked, **named)  # type: ignore[no-any-return]

        def expire(self, *given: Any, **named: Any) -> "list[Key]":
            gone: list[Key] = super().expire(*given, **named)
            self._note(gone)
            return gone

        def __setattr__(self, name: str, value: object) -> None:
            super().__setattr__(name, value)
            if name == "committed":
                marks[self] = None

        def _note(self, keys: "Iterable[Key]") -> None:
            noted = marks.setdefault(self, {})
            if noted is not None:
                noted.update(dict.fromkeys(keys))

    return Noting
