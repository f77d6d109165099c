"""The base of every error that mockbroker raises for its users, and the errors that several parts raise.

Each is also a subclass of the builtin error that fits, so `except ValueError` works as usual.
"""


class MockBrokerError(Exception):
    """Raised when mockbroker can't do what it was asked to do; the message says what to do instead."""


class OptionError(MockBrokerError, ValueError):
    """An option of a cluster or an argument of a call that is not valid."""


class UnknownOptionError(OptionError, TypeError):
    """An option that does not exist; the message names the nearest one that does."""


class NotRunningError(MockBrokerError, RuntimeError):
    """The cluster is not running: not yet, or not any more."""


class BlockingCallError(MockBrokerError, RuntimeError):
    """A call that would block where nothing may: in the cluster's own thread, or in a running event loop."""


class WrongEventLoopError(MockBrokerError, RuntimeError):
    """A call that needs trio where trio does not run: `mockbroker.serve` under asyncio, or a call to its
    cluster from another thread."""


class WaitTimeoutError(MockBrokerError, TimeoutError):
    """Something that was waited for did not happen in time."""


class NotThereError(MockBrokerError, KeyError):
    """There is no broker, topic, partition, group or fault of that name; the message names the nearest."""

    def __str__(self) -> str:
        return str(self.args[0])


class ConflictError(MockBrokerError, RuntimeError):
    """A valid call that is not possible in the cluster's present state; the message says why, or what to do
    first."""


class UpstreamError(MockBrokerError, ConnectionError):
    """The cluster behind a proxy can't be reached, or does not answer as Kafka does."""


class ScenarioFailedError(MockBrokerError, AssertionError):
    """A scenario was played to its end, but not as it says; each line of the message tells what failed."""


def first_of(error: BaseException) -> BaseException:
    """The error itself, or the first one in the groups that are around it."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error
