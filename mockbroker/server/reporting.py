"""Logs under `mockbroker` what observers are told, and keeps failures until the cluster stops."""

import contextlib
import logging
from collections.abc import Callable, Iterator
from typing import Final

from .. import repeats
from ..shown import shown
from .failures import ClusterError
from .observer import ClientConnection, Observer

KEPT: Final = 100
"""How many failures are kept; all are logged."""

_log = logging.getLogger(__name__)
# A program without logging is told about failures when the cluster stops, and about nothing else.
logging.getLogger("mockbroker").addHandler(logging.NullHandler())


class Reporting:
    """Tells `observer`. Errors of the observer are failures too, like those of requests.

    `failures` are the first KEPT failures. Lines of the log that are alike are counted: see `Repeats`.
    """

    def __init__(self, observer: Observer) -> None:
        self._observer = observer
        self.failures: list[Exception] = []
        self._more = 0
        self._repeats = repeats.Repeats(_log_repeats)

    def sum_up(self) -> None:
        """Tells of lines that were only counted; to be called every `repeats.SECONDS`."""
        self._repeats.sum_up()
        self._tell(self._observer.sum_up)

    def identified(self, connection: ClientConnection) -> None:
        _log.debug("%s: %s", _who(connection), _client(connection))
        self._tell(lambda: self._observer.identified(connection))

    def malformed(self, connection: ClientConnection, reason: str) -> None:
        self._warn(f"{_who(connection)}: closed, {shown(reason)}")
        self._tell(lambda: self._observer.malformed(connection, reason))

    def mismatched(self, connection: ClientConnection, why: str) -> None:
        self._warn(f"{_who(connection)}: {why}")
        self._tell(lambda: self._observer.mismatched(connection, why))

    def failed(self, connection: ClientConnection | None, error: Exception) -> None:
        self._keep(error, shown(str(error)))
        try:
            self._observer.failed(connection, error)
        except Exception as other:
            self._keep(other, "the observer failed")

    def policy_failed(self, error: Exception) -> None:
        self._keep(error, shown(str(error)))
        try:
            self._observer.policy_failed(error)
        except Exception as other:
            self._keep(other, "the observer failed")

    def full(self, reason: str) -> None:
        self._warn(reason)
        self._tell(lambda: self._observer.full(reason))

    def disconnected(self, connection: ClientConnection) -> None:
        _log.debug("%s: %s disconnected", _who(connection), _client(connection))
        self._tell(lambda: self._observer.disconnected(connection))

    def raise_failures(self) -> None:
        """Raises what failed, but only once: the error itself, or an ExceptionGroup if there are several."""
        failures, more = list(self.failures), self._more
        self.failures.clear()
        if len(failures) == 1:
            raise failures[0]
        if failures:
            rest = f", and {more} times more, which are logged" if more else ""
            raise ExceptionGroup(f"the cluster failed {len(failures)} times{rest}", failures)

    def _tell(self, tell: Callable[[], None]) -> None:
        """Calls the observer, and reports its own failures to it."""
        try:
            tell()
        except Exception as error:
            self._keep(error, "the observer failed")
            with contextlib.suppress(Exception):
                self._observer.failed(None, ClusterError.of(error))

    def _warn(self, line: str) -> None:
        if self._repeats.is_new("warning", line):
            _log.warning("%s", line)

    def _keep(self, error: Exception, text: str) -> None:
        if self._repeats.is_new("error", text):
            _log.error("%s", text, exc_info=error, extra={"reporting": self})
        if len(self.failures) < KEPT:
            self.failures.append(error)
        else:
            self._more += 1


@contextlib.contextmanager
def noted_on(error: BaseException | None) -> Iterator[None]:
    """Whatever fails in the block becomes a note on `error`, if there is one, because that came first."""
    try:
        yield
    except Exception as failure:
        if error is None:
            raise
        error.add_note(f"In the mock cluster: {failure}")
        for each in failure.exceptions if isinstance(failure, ExceptionGroup) else ():
            error.add_note(f"In the mock cluster: {each}")


def _log_repeats(subject: str, line: str, count: int, seconds: float) -> None:
    level = logging.ERROR if subject == "error" else logging.WARNING
    _log.log(level, "%s", repeats.counted(line, count, seconds))


def _who(connection: ClientConnection) -> str:
    return f"{connection.name} -> broker {connection.broker.id}"


def _client(connection: ClientConnection) -> str:
    return "no client id" if connection.client_id is None else repr(connection.client_id)
