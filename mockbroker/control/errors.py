"""Why an operation can't be done. What is wrong in itself is a ValueError."""

from ..errors import MockBrokerError


class NotThereError(MockBrokerError, KeyError):
    """No broker, topic, partition or fault of that name: says which names come near."""

    def __str__(self) -> str:
        return str(self.args[0])


class TooLargeError(MockBrokerError, ValueError):
    """More than is read."""


class ConflictError(MockBrokerError, RuntimeError):
    """Right in itself, but not as the cluster is now."""


class RefusedError(ConflictError):
    """What a broker refused: `error` is Kafka's name of it (`INVALID_REPLICATION_FACTOR`), `why` its text."""

    def __init__(self, error: str, why: str) -> None:
        super().__init__(f"{error}: {why}")
        self.error = error
        self.why = why
