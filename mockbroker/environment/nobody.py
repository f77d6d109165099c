"""Who owns what a cluster does in parts by itself."""

from .environment import Environment


class Nobody:
    """The owner of what is done in parts without a request that waits for it: an error is the cluster's."""

    gone = False

    def __init__(self, environment: Environment) -> None:
        self._environment = environment

    def answer(self, response: object) -> None:
        """Nobody waits for it."""

    def ended_by(self, error: Exception) -> None:
        self._environment.fail(error, None)
