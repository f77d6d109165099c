"""What went wrong in the cluster itself, and whom it hit."""

from pathlib import Path

from ..errors import MockBrokerError
from ..faults.match import api_name
from ..protocol.api_keys import ApiKey
from ..shown import shown
from .observer import ClientConnection


class ClusterError(MockBrokerError, RuntimeError):
    """The cluster failed at something that it does by itself, for no request. Its cause says at what."""

    @classmethod
    def of(cls, error: Exception) -> "ClusterError":
        """As the cause of one, unless it is one."""
        if isinstance(error, cls):
            return error
        found = cls(f"the cluster failed, and goes on: {type(error).__name__}: {shown(str(error))}")
        found.__cause__ = error
        return found


class OutputLostError(ClusterError):
    """A file can't be written any more; the cluster goes on without it."""

    def __init__(self, path: Path, error: OSError) -> None:
        why = error.strerror or str(error)
        super().__init__(f"can't write {shown(str(path))} any more: {why}; the cluster goes on without it")
        self.path = path
        self.__cause__ = error


class RequestFailedError(ClusterError):
    """A request met a bug, not an error that Kafka has, and its connection was closed. Its cause says which.

    `api` is the API's name, None if that isn't known; `client_id`, `address` and `broker` say whose it was.
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
