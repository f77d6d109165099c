"""Clients of listeners with TLS or SASL, until they have proved who they are."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, Generic, Protocol, TypeVar

from ..cluster.endpoint import Endpoint
from ..trace import Trace
from .connection import Connection
from .principals import NAME, NoRuleError, PrincipalRules
from .sasl_connection import SaslConnection
from .tls import Heard, TlsSocket

_NEVER: Final = "it has not logged in within {ms} ms (mockbroker.max.handshake.ms)"


class Peer(Protocol):
    """A client's socket, which may be a `TlsSocket`, and its connection."""

    sock: Any
    connection: Connection


P = TypeVar("P", bound=Peer)


class Proving(Generic[P]):
    """`rules`, by listener, make principals of the names in certificates; `read_on` is called with a socket
    of which more can be read although nothing comes."""

    def __init__(
        self, trace: Trace, rules: Mapping[str, PrincipalRules], most_ms: int, read_on: Callable[[P], None]
    ) -> None:
        self._trace = trace
        self._rules = rules
        self._most_ms = most_ms
        self._read_on = read_on
        self._ends_ms: dict[P, int] = {}

    def begin(self, peer: P, endpoint: Endpoint, now_ms: int) -> int:
        """A client came; by when it has to have proved who it is, in ms since the start."""
        self._ends_ms[peer] = ends_ms = now_ms + self._most_ms
        tls = peer.sock
        if isinstance(tls, TlsSocket):

            def shaken() -> None:
                try:
                    if tls.name == "":
                        raise NoRuleError("it is empty")
                    self._shaken(peer.connection, tls, endpoint)
                except NoRuleError as error:
                    why = f"the name in its certificate, {tls.name}, becomes no principal: {error} ({NAME})"
                    failed(why)
                    raise ConnectionAbortedError(why) from None

            def failed(why: str) -> None:
                peer.connection.refused(why)
                peer.connection.cluster.notes.came_in(None, endpoint.name, why)

            tls.heard = Heard(shaken, lambda: self._read_on(peer), failed)
        return ends_ms

    def _shaken(self, connection: Connection, tls: TlsSocket, endpoint: Endpoint) -> None:
        """The handshake is done: with SASL the client still has to log in."""
        connection.cluster.notes.came_in(None, endpoint.name, "")
        if isinstance(connection, SaslConnection):
            connection.tls = tls.cipher
            return
        client = connection.client
        if (name := tls.name) is not None:
            client.principal = f"User:{self._rules[endpoint.name].name(name)}"
        how = endpoint.name, endpoint.protocol, "", tls.cipher, client.principal, ""
        self._trace.login(connection.broker.id, connection.name, connection.client_id, *how)

    def late(self, now_ms: int) -> Iterator[P]:
        """Those that have not proved it in time."""
        for peer, ends_ms in list(self._ends_ms.items()):
            if _proved(peer):
                del self._ends_ms[peer]
            elif ends_ms <= now_ms:
                peer.connection.refused(_NEVER.format(ms=self._most_ms))
                yield peer

    def forget(self, peer: P) -> None:
        self._ends_ms.pop(peer, None)

    @property
    def next_ms(self) -> int | None:
        """When somebody may be late."""
        return min(self._ends_ms.values(), default=None)


def _proved(peer: Peer) -> bool:
    if isinstance(peer.sock, TlsSocket) and not peer.sock.ready:
        return False
    return not isinstance(peer.connection, SaslConnection) or peer.connection.login.logged_in
