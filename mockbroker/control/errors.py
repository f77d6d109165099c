"""Why an operation can't be done. What is wrong in itself is a ValueError."""


class NotThereError(KeyError):
    """No broker, topic, partition or fault of that name: says which names come near."""

    def __str__(self) -> str:
        return str(self.args[0])


class TooLargeError(ValueError):
    """More than is read."""


class ConflictError(RuntimeError):
    """Right in itself, but not as the cluster is now."""
