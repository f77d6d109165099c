"""How clients reach a cluster and log in."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Protocol

from ..errors import ConflictError, NotThereError, OptionError
from ..nearest import nearest


@dataclass(frozen=True)
class Listener:
    """`servers` are the addresses that clients are told, comma separated."""

    name: str
    protocol: str
    servers: str


_NO_TLS: Final = "no listener has TLS: start the cluster with tls=True"


def _no_certificate(which: str, key: str | None) -> None:
    raise ConflictError(_NO_TLS)


class Breakable(Protocol):
    """Handshakes of TLS, which may go wrong: `how`, to which `broker`, how many times more, how many did."""

    how: str | None
    broker: int | None
    left: int | None
    hits: int

    def break_(self, how: str, broker: int | None, times: int | None) -> None:
        """OptionError, ConflictError."""

    def mend(self) -> None:
        """ConflictError."""


def _no_handshakes() -> Breakable:
    raise ConflictError(_NO_TLS)


@dataclass(frozen=True)
class Access:
    """The listeners, first the one that is meant if none is named; the mechanisms of SASL, the best first;
    the passwords of users; and files. `ca` is None if clients trust the authority anyway."""

    listeners: tuple[Listener, ...]
    mechanisms: tuple[str, ...] = ()
    users: Mapping[str, str] = field(default_factory=dict, repr=False)
    ca: Path | None = None
    truststore: Path | None = None
    client: Path | None = None
    client_key: Path | None = None
    keystore: Path | None = None
    password: str = ""
    """Of the files of PKCS #12."""
    show_certificate: Callable[[str, str | None], None] = _no_certificate
    """Has brokers show another certificate, with the file of its key."""
    handshakes: Callable[[], Breakable] = _no_handshakes
    """ConflictError without TLS."""

    def listener(self, name: str | None) -> Listener:
        """NotThereError."""
        if name is None:
            return self.listeners[0]
        for each in self.listeners:
            if each.name == name:
                return each
        raise NotThereError(f"no listener {name!r}{nearest(name, [each.name for each in self.listeners])}")

    def mechanism(self, name: str | None) -> str:
        """OptionError."""
        if name is None:
            return self.mechanisms[0]
        if name.upper() not in self.mechanisms:
            raise OptionError(f"nobody logs in by {name}: there is {', '.join(self.mechanisms)}")
        return name.upper()

    def user(self, name: str | None, mechanism: str) -> tuple[str, str]:
        """A user and the password. NotThereError for one that there is not."""
        if mechanism == "OAUTHBEARER":
            return name or next(iter(self.users), "client"), ""
        if not self.users:
            raise NotThereError("there are no users: give some in security")
        if name is None:
            name = next(iter(self.users))
        if name not in self.users:
            raise NotThereError(f"no user {name!r}{nearest(name, self.users)}")
        return name, self.users[name]
