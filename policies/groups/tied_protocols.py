"""`tied-protocols`: the same number of members prefer one protocol as another.

This decides which assignor the group uses. Kafka takes the first protocol of a map that is ordered by hashes:
up to 3.9 Scala's `immutable.HashMap`, since 4.0 Java's `HashMap`. With `first-member` it is the protocol that
the member who joined first prefers.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Final

from ...java_hash import java_hash, spread_hash
from ..behaviour import Behaviour

Answer = Callable[[Mapping[str, int]], str]
"""Votes by protocol, those of the first member first -> the protocol that is chosen."""

_WORD: Final = 0xFFFFFFFF


def scala_order(votes: Mapping[str, int]) -> str:
    return max(_trie_order([(_scala_hash(name), name) for name in votes]), key=votes.__getitem__)


def java_order(votes: Mapping[str, int]) -> str:
    """The order in a table of 16 buckets, which is enough for 12 protocols."""
    return max(sorted(votes, key=lambda name: spread_hash(name) & 15), key=votes.__getitem__)


def first_member(votes: Mapping[str, int]) -> str:
    return max(votes, key=votes.__getitem__)


def _scala_hash(text: str) -> int:
    """`scala.collection.Hashing.improve`."""
    value = java_hash(text)
    value = (value + ~(value << 9)) & _WORD
    value ^= value >> 14
    value = (value + (value << 4)) & _WORD
    return value ^ value >> 10


def _trie_order(entries: Iterable[tuple[int, str]], shift: int = 0) -> list[str]:
    """The order of a trie that branches by 5 bits: in each node first its own entries, then those of its
    children."""
    branches: dict[int, list[tuple[int, str]]] = {}
    for entry in entries:
        branches.setdefault(entry[0] >> shift & 31, []).append(entry)
    own = [branches[bits][0][1] for bits in sorted(branches) if len(branches[bits]) == 1]
    for bits in sorted(branches):
        below = branches[bits]
        if len(below) > 1:
            own += _trie_order(below, shift + 5) if shift < 30 else [name for _, name in below]
    return own


tied_protocols: Final = Behaviour[Answer](
    name="tied-protocols",
    summary="which protocol a group chooses of those that equally many members prefer",
    answers={"scala-order": scala_order, "java-order": java_order, "first-member": first_member},
    history=(("0.11", "scala-order"), ("4.0", "java-order")),
    ids=("KIP-848",),
)
