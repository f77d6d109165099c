"""What a shell wants to hear of its connections."""

from typing import Protocol

from ..cluster.broker import Broker
from ..outcome import Client


class ClientConnection(Protocol):
    """A client's connection, as far as it tells who is there. `name` is the client's address."""

    name: str
    broker: Broker
    client: Client
    client_id: str | None


class Observer(Protocol):
    """Called from the pump; must not block."""

    def identified(self, connection: ClientConnection) -> None:
        """A client gave its client id, at its first request."""

    def malformed(self, connection: ClientConnection, reason: str) -> None:
        """A request that no broker would answer: the connection is being closed."""

    def mismatched(self, connection: ClientConnection, why: str) -> None:
        """A client is set up for another kind of listener; it is answered as a broker answers that."""

    def failed(self, connection: ClientConnection | None, error: Exception) -> None:
        """A RequestFailedError: the connection is being closed; a ClusterError, for no connection."""

    def policy_failed(self, error: Exception) -> None:
        """A policy or a callback of the user's own raised; a request that met it was answered
        UNKNOWN_SERVER_ERROR."""

    def full(self, reason: str) -> None:
        """New clients have to wait: the process may open no more files. Told once until one is accepted."""

    def disconnected(self, connection: ClientConnection) -> None:
        """A connection that was identified is gone, from either side."""


class SilentObserver:
    """Hears nothing."""

    def identified(self, connection: ClientConnection) -> None: ...
    def malformed(self, connection: ClientConnection, reason: str) -> None: ...
    def mismatched(self, connection: ClientConnection, why: str) -> None: ...
    def failed(self, connection: ClientConnection | None, error: Exception) -> None: ...
    def policy_failed(self, error: Exception) -> None: ...
    def full(self, reason: str) -> None: ...
    def disconnected(self, connection: ClientConnection) -> None: ...
