"""An error of one topic, partition or resource in an answer."""

from .errors import ErrorCode


class ApiError(Exception):
    """An error code and Kafka's message, which is null in some answers."""

    def __init__(self, code: ErrorCode, message: str | None = None) -> None:
        super().__init__(message or code.name)
        self.code = code
        self.message = message

    @property
    def told(self) -> str:
        """The error's name, and Kafka's words for it."""
        return f"{self.code.name}: {self.message}" if self.message else self.code.name
