"""What failed in the cluster itself, and which client it affected."""

from pathlib import Path

from ..errors import MockBrokerError
from ..faults.match import api_name
from ..protocol.api_keys import ApiKey
from ..shown import shown
from .observer import ClientConnection


class ClusterError(MockBrokerError, RuntimeError):
    """Something that the cluster does by itself, not for a request, failed. Its cause says what."""

    @classmethod
    def of(cls, error: Exception) -> "ClusterError":
        """A ClusterError with `error` as its cause, or `error` if it is one."""
        if isinstance(error, cls):
            return error
        found = cls(f"the cluster failed, and goes on: {type(error).__name__}: {shown(str(error))}")
        found.__cause__ = error
        return found


class OutputLostError(ClusterError):
    """A file can no longer be written; the cluster goes on without it."""

    def __init__(self, path: Path, error: OSError) -> None:
        why = error.strerror or str(error)
        super().__init__(f"can't write {shown(str(path))} any more: {why}; the cluster goes on without it")
        self.path = path
        self.__cause__ = error


class RequestFailedError(ClusterError):
    """A request ran into a bug, not into an error of Kafka's, and its connection was closed. Its cause says
    which.

    `api` is the API's name, None if that is unknown; `client_id`, `address` and `broker` say whose request it
    was.
    """

    def __init__(
        self, connection: ClientConnection, key: int | None, version: int | None, error: Exception
    ) -> None:
        self.api = None if key is None else api_name(ApiKey(key)) if key in _KEYS else f"API {key}"
        self.version = version
        self.client_id = connection.client_id
        self.address = connection.name
        self.broker = connection.broker.id
        client = "a client without id" if self.client_id is None else f"client {self.client_id!r}"
        what = "a request" if self.api is None else f"{self.api} v{version}"
        super().__init__(
            f"broker {self.broker} failed at {what} of {client} ({self.address}), and closed the "
            f"connection: {type(error).__name__}: {shown(str(error))}"
        )
        self.__cause__ = error


_KEYS = frozenset(key.value for key in ApiKey)
