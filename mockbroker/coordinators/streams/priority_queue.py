"""Java's `PriorityQueue`: which of several equal entries comes first follows from how its heap is kept."""

from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")


class PriorityQueue(Generic[T]):
    """`key` is what entries are compared by; the least comes first."""

    def __init__(self, key: Callable[[T], float]) -> None:
        self._key = key
        self._heap: list[T] = []

    def __len__(self) -> int:
        return len(self._heap)

    def add(self, entry: T) -> None:
        heap, key = self._heap, self._key(entry)
        heap.append(entry)
        at = len(heap) - 1
        while at > 0:
            parent = (at - 1) // 2
            if key >= self._key(heap[parent]):
                break
            heap[at] = heap[parent]
            at = parent
        heap[at] = entry

    def poll(self) -> T:
        """IndexError if it is empty."""
        heap = self._heap
        first, last = heap[0], heap.pop()
        if not heap:
            return first
        key, at = self._key(last), 0
        while at < len(heap) // 2:
            child = 2 * at + 1
            if child + 1 < len(heap) and self._key(heap[child]) > self._key(heap[child + 1]):
                child += 1
            if key <= self._key(heap[child]):
                break
            heap[at] = heap[child]
            at = child
        heap[at] = last
        return first
