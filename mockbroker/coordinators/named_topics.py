"""The topics that a member of a group names: there may be very many."""

from collections.abc import Collection, Iterable
from typing import Final

from ..portions import MANY, Parts, at_once, portions
from ..protocol.record_fields import texts_in_parts


class NamedTopics(frozenset[str]):
    """Names, in no order. They never change; neither does what is made of them. Once they are written, it
    takes little time to compare them."""

    _ordered: tuple[str, ...] | None = None
    _written: bytes | None = None

    def __eq__(self, other: object) -> bool:
        if isinstance(other, NamedTopics) and self._written is not None and other._written is not None:
            return self._written == other._written
        return super().__eq__(other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = frozenset.__hash__

    @property
    def ordered(self) -> tuple[str, ...]:
        if self._ordered is None:
            self._ordered = tuple(sorted(self))
        return self._ordered

    @property
    def written(self) -> bytes:
        """As a record has them, in order."""
        if self._written is None:
            self._written = at_once(texts_in_parts(self.ordered))
        return self._written


NO_NAMES: Final = NamedTopics()


def named_topics(names: Iterable[str]) -> Parts[NamedTopics]:
    """Does all that takes long."""
    found = set[str]()
    for some in portions(names, MANY):
        found.update(some)
        if len(some) == MANY:
            yield
    yield
    topics = NamedTopics(found)
    hash(topics)
    topics._ordered = tuple((yield from _sorting(found)))
    topics._written = yield from texts_in_parts(topics._ordered)
    return topics


def together(sets: Collection[frozenset[str]]) -> frozenset[str]:
    """All names of these. Most members name the same topics; to copy very many would take long."""
    return next(iter(sets)) if len(sets) == 1 else frozenset[str]().union(*sets)


def _sorting(names: Iterable[str]) -> Parts[list[str]]:
    """Python takes little time to sort what are two sorted lists."""
    ordered = list[list[str]]()
    for some in portions(names, MANY):
        ordered.append(sorted(some))
        if len(some) == MANY:
            yield
    while len(ordered) > 1:
        pairs, ordered = ordered, []
        for at in range(0, len(pairs), 2):
            ordered.append(sorted(pairs[at] + pairs[at + 1]) if at + 1 < len(pairs) else pairs[at])
            yield
    return ordered[0] if ordered else []
