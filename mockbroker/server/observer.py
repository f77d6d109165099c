"""What a shell wants to know about its connections."""

from typing import Protocol

from ..cluster.broker import Broker
from ..outcome import Client


class ClientConnection(Protocol):
    """What is known about a client's connection. `name` is the client's address."""

    name: str
    broker: Broker
    client: Client
    client_id: str | None


class Observer(Protocol):
    """Called from the pump; must not block."""

    def identified(self, connection: ClientConnection) -> None:
        """A client sent its client id, in its first request."""

    def malformed(self, connection: ClientConnection, reason: str) -> None:
        """A client sent a request that no broker would answer: the connection is being closed."""

    def mismatched(self, connection: ClientConnection, why: str) -> None:
        """A client is configured for another kind of listener; it is answered as by a broker."""

    def failed(self, connection: ClientConnection | None, error: Exception) -> None:
        """A RequestFailedError, whose connection is being closed; or a ClusterError, without connection."""

    def policy_failed(self, error: Exception) -> None:
        """A user's own policy or callback raised; if it did so for a request, that was answered
        UNKNOWN_SERVER_ERROR."""

    def full(self, reason: str) -> None:
        """New clients have to wait because the process can't open more files. Called once until all have been
        accepted."""

    def disconnected(self, connection: ClientConnection) -> None:
        """A connection that was identified has ended, from either side."""

    def sum_up(self) -> None:
        """Called every `repeats.SECONDS`, and at the end: what was only counted since may be told."""


class SilentObserver:
    """Ignores everything."""

    def identified(self, connection: ClientConnection) -> None: ...
    def malformed(self, connection: ClientConnection, reason: str) -> None: ...
    def mismatched(self, connection: ClientConnection, why: str) -> None: ...
    def failed(self, connection: ClientConnection | None, error: Exception) -> None: ...
    def policy_failed(self, error: Exception) -> None: ...
    def full(self, reason: str) -> None: ...
    def disconnected(self, connection: ClientConnection) -> None: ...
    def sum_up(self) -> None: ...
