"""The base of every error that mockbroker raises at its users, and those that belong to no one part.

Each has the builtin error that fits as a base too: `except ValueError` works as ever.
"""


class MockBrokerError(Exception):
    """What mockbroker raises when it can't do what it was asked to; the message says what to do next."""


class OptionError(MockBrokerError, ValueError):
    """An option of a cluster or an argument of a call that is not valid."""


class UnknownOptionError(OptionError, TypeError):
    """An option that does not exist; the message names the nearest one that does."""


class NotRunningError(MockBrokerError, RuntimeError):
    """The cluster does not run: not yet, or not any more."""


class BlockingCallError(MockBrokerError, RuntimeError):
    """A call that would block where nothing may: in the cluster's own thread, or in a running event loop."""


class WrongEventLoopError(MockBrokerError, RuntimeError):
    """What needs trio where that does not run: `mockbroker.serve` under asyncio, calls to its cluster in
    another thread."""


class WaitTimeoutError(MockBrokerError, TimeoutError):
    """What was waited for did not happen in time."""


class NotThereError(MockBrokerError, KeyError):
    """No broker, topic, partition, group or fault of that name: says which names come near."""

    def __str__(self) -> str:
        return str(self.args[0])


class ConflictError(MockBrokerError, RuntimeError):
    """Right in itself, but not as the cluster is now: says why, or what to do first."""
