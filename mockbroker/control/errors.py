"""Why an operation can't be done, besides what is in `mockbroker.errors`."""

from ..errors import ConflictError, MockBrokerError


class TooLargeError(MockBrokerError, ValueError):
    """More than is read."""


class RefusedError(ConflictError):
    """What a broker refused: `error` is Kafka's name of it (`INVALID_REPLICATION_FACTOR`), `why` its text."""

    def __init__(self, error: str, why: str) -> None:
        super().__init__(f"{error}: {why}")
        self.error = error
        self.why = why
