"""What stories do to brokers, whether these are real or in memory."""

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from .certificates import Certificates
from .client import Client


class Brokers(Protocol):
    """Brokers of one release by their node ids, and the time that they see."""

    @property
    def release(self) -> str: ...

    @property
    def zookeeper(self) -> bool: ...

    @property
    def nodes(self) -> Sequence[int]:
        """The ids of those that run at first, which begin at 1."""

    def client(self, broker: int, client_id: str = "conformance", *, sasl: bool = False) -> Client:
        """A connection of its own, to the plain listener or to the one with SASL."""

    def stop_broker(self, broker: int) -> None:
        """Shuts it down in order, and returns once it is gone."""

    def kill_broker(self, broker: int) -> None:
        """Ends it without a word to anybody."""

    def start_broker(self, broker: int) -> None:
        """Starts one that was stopped or killed, and returns once it serves."""

    def hold(self, broker: int) -> None:
        """It fetches from nobody and serves nobody. Whether the controller takes it for dead is up to the
        configuration of sessions."""

    def let_go(self, broker: int) -> None: ...

    def settle(self, look: Callable[[int], Any], online: Sequence[int]) -> Any:
        """What `look` sees through each broker of `online`, once all see the same and nothing moves."""

    def checkpoint(self, broker: int) -> None:
        """Returns once the broker has written whatever it writes at regular times."""

    def until(self, done: Callable[[], bool], what: str) -> None:
        """TimeoutError if it takes longer than some minutes."""

    def sleep(self, seconds: float) -> None: ...

    def now_ms(self) -> int: ...


class SecureBrokers(Brokers, Protocol):
    """Brokers that have listeners with TLS."""

    @property
    def certificates(self) -> Certificates: ...

    def address(self, listener: str) -> tuple[str, int]:
        """Of one of them, at the first broker."""
