"""What clusters that are asked the same at the same time know of each other: which requests were answered."""

from collections.abc import Callable
from threading import Lock
from typing import Final, TypeVar

T = TypeVar("T")
Key = tuple[int, bool]
"""The number of a step, and whether its answer is a late one."""
ALONE: Final = 1


class Together:
    """A request counts as not answered once no cluster has answered it for as long as it is given: how fast
    each of them is does not matter then."""

    def __init__(self, clusters: int = ALONE) -> None:
        self._lock = Lock()
        self._answered: list[dict[Key, bool]] = [{} for _ in range(clusters)]
        self._over = [False] * clusters

    def awaited(self, cluster: int, key: Key, read: Callable[[], T], wait_on: Callable[[], T]) -> T:
        """What `read` gives, which is tried until the others have come as far; or `wait_on`, if one of them
        has got an answer. TimeoutError if none has."""
        try:
            while True:
                try:
                    return self._tell(cluster, key, read())
                except TimeoutError:
                    others = self._others(cluster, key)
                    if others is None:
                        continue
                    if not others:
                        raise
                    return wait_on()
        except ConnectionError:
            self._tell(cluster, key, None)
            raise

    def over(self, cluster: int) -> None:
        """It is asked no more."""
        with self._lock:
            self._over[cluster] = True

    def _tell(self, cluster: int, key: Key, found: T) -> T:
        with self._lock:
            self._answered[cluster][key] = True
        return found

    def _others(self, cluster: int, key: Key) -> bool | None:
        """Whether one of them was answered; None if one has not come so far."""
        with self._lock:
            self._answered[cluster].setdefault(key, False)
            others = [
                self._answered[each].get(key, False if self._over[each] else None)
                for each in range(len(self._over))
                if each != cluster
            ]
        if True in others:
            return True
        return None if None in others else False
