"""Logs under `mockbroker` what observers are told, and keeps failures until the cluster stops."""

import contextlib
import logging
from collections.abc import Callable, Iterator
from typing import Final

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

    `failures` are the first KEPT failures.
    """

    def __init__(self, observer: Observer) -> None:
        self._observer = observer
        self.failures: list[Exception] = []
        self._more = 0

    def identified(self, connection: ClientConnection) -> None:
        _log.debug("%s: %s", _who(connection), _client(connection))
        self._tell(lambda: self._observer.identified(connection))

    def malformed(self, connection: ClientConnection, reason: str) -> None:
        _log.warning("%s: closed, %s", _who(connection), shown(reason))
        self._tell(lambda: self._observer.malformed(connection, reason))

    def mismatched(self, connection: ClientConnection, why: str) -> None:
        _log.warning("%s: %s", _who(connection), why)
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
        _log.warning("%s", reason)
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

    def _keep(self, error: Exception, text: str) -> None:
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


def _who(connection: ClientConnection) -> str:
    return f"{connection.name} -> broker {connection.broker.id}"


def _client(connection: ClientConnection) -> str:
    return "no client id" if connection.client_id is None else repr(connection.client_id)
