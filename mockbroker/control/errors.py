"""Why an operation can't be done, besides what is in `mockbroker.errors`."""

from ..errors import ConflictError, MockBrokerError


class TooLargeError(MockBrokerError, ValueError):
    """A body that is larger than the API accepts."""


class TooSlowError(MockBrokerError, ValueError):
    """A body that did not come in time."""


class RefusedError(ConflictError):
    """A broker refused it: `error` is Kafka's name for the error (`INVALID_REPLICATION_FACTOR`), `why` the
    text."""

    def __init__(self, error: str, why: str) -> None:
        super().__init__(f"{error}: {why}")
        self.error = error
        self.why = why
