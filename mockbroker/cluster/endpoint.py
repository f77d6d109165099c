"""Where a broker listens, and what it tells the clients that came there."""

from typing import Final

PLAINTEXT: Final = "PLAINTEXT"


class Endpoint:
    """One listener of a broker. `host` and `port` are what clients are told who came by it; `bound` is where
    it listens, if that differs. `protocol` is that of Kafka's `listener.security.protocol.map`. While it is
    not `open`, nobody can connect there, although clients are told of it."""

    __slots__ = ("bound", "host", "name", "open", "port", "protocol")

    def __init__(self, name: str, protocol: str, host: str, port: int) -> None:
        self.name = name
        self.protocol = protocol
        self.host = host
        self.port = port
        self.open = True
        self.bound: tuple[str, int] | None = None

    @property
    def listens_on(self) -> tuple[str, int]:
        """Host and port."""
        return self.bound or (self.host, self.port)

    @property
    def tls(self) -> bool:
        return self.protocol.endswith("SSL")

    @property
    def sasl(self) -> bool:
        return self.protocol.startswith("SASL")
