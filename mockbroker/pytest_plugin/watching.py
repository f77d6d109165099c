"""What runs for a test, and what its faults did."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from ..faults import Fault
    from ..trace import Trace

__tracebackhide__ = True
_SHOWN: Final = 40
"""How many events are in the report of a test that failed."""


class Watch(ABC):
    """Something with faults. It can be read after it has stopped, too."""

    def __init__(self) -> None:
        self._reported: set[object] = set()

    @property
    @abstractmethod
    def _faults(self) -> "list[Fault]":
        """All that were added."""

    def is_news(self, what: object) -> bool:
        """Whether it is asked for the first time."""
        if what in self._reported:
            return False
        self._reported.add(what)
        return True

    def never_fired(self, *, over: bool) -> Iterator[str]:
        """What the test should fail of, each only once; faults that may still fire only if it is `over`."""
        for fault in self._unfired():
            if (over or fault.removed) and self.is_news(fault):
                yield f"{_never_fired(fault)}; say optional=True if it need not"

    def not_said(self, failure: str) -> list[str]:
        """The faults that did not fire, except those that `failure` has told of."""
        return [
            _never_fired(fault)
            for fault in self._unfired()
            if str(fault) not in failure or fault.why not in failure
        ]

    def hits(self) -> list[str]:
        """What the other faults did."""
        unfired = self._unfired()
        return [f"fault {fault.hits_in_words}" for fault in list(self._faults) if fault not in unfired]

    def _unfired(self) -> "list[Fault]":
        return [fault for fault in list(self._faults) if not fault.hits and not fault.optional]


def last(trace: "Trace") -> list[str]:
    """The end of a trace, for the report of a test that failed."""
    # Imported only for tests that fail.
    from ..trace import decisions

    lines = decisions.last(list(trace.events), _SHOWN)
    return ["the last that happened:", *lines] if lines else []


def _never_fired(fault: "Fault") -> str:
    return f"the fault {str(fault)!r} never fired: {fault.why}"
