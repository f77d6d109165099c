"""How clients reach a cluster and log in."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, NamedTuple, Protocol

from ..errors import ConflictError, NotThereError, OptionError
from ..nearest import nearest
from ..security import HOUR_S, TokenKind


@dataclass(frozen=True)
class Listener:
    """`servers` are the addresses that clients are told, comma separated."""

    name: str
    protocol: str
    servers: str


_NO_TLS: Final = "no listener has TLS: start the cluster with tls=True"


def named(access: "Access") -> "Iterator[tuple[str, Path]]":
    """The files that clients need."""
    for what, path in (
        ("certificate authority", access.ca),
        ("truststore for Java", access.truststore),
        ("a client's certificate", access.client),
        ("its key", access.client_key),
        ("both for Java", access.keystore),
    ):
        if path is not None:
            yield what, path


def _no_certificate(which: str, key: str | None) -> None:
    raise ConflictError(_NO_TLS)


class Issued(NamedTuple):
    """A token, and when it expires, in Unix time in seconds."""

    token: str
    expires_s: int


class Issue(Protocol):
    """Issues a token: for whom, what is the matter with it, for how long, and what it says besides."""

    def __call__(
        self, user: str, kind: TokenKind, expires_in_s: int, scope: str | None, claims: Mapping[str, Any], /
    ) -> Issued:
        """ConflictError, OptionError."""


def _no_tokens(
    user: str, kind: TokenKind, expires_in_s: int, scope: str | None, claims: Mapping[str, Any], /
) -> Issued:
    raise ConflictError("nobody logs in with tokens: start the cluster with sasl='oauthbearer'")


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
    """The listeners, first the one that is meant if none is named; by listener, the mechanisms of SASL,
    the best first; the passwords of users; and files. `ca` is None if clients trust the authority anyway."""

    listeners: tuple[Listener, ...]
    mechanisms: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
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
    signed: bool = False
    """Whether tokens of OAUTHBEARER are signed."""
    issue: Issue = _no_tokens
    token_expires_in: int = HOUR_S
    """For how many seconds tokens are valid that clients ask for."""
    token_url: str | None = None
    """Where clients may ask for tokens themselves, with this secret, if there is a control API."""
    token_secret: str = field(default="any", repr=False)

    def issue_to_client(self, user: str, scope: str | None = None) -> Issued:
        """A token for a client that asks for one. ConflictError, OptionError."""
        return self.issue(user, "valid", self.token_expires_in, scope, {})

    def listener(self, name: str | None) -> Listener:
        """NotThereError."""
        if name is None:
            return self.listeners[0]
        for each in self.listeners:
            if each.name == name:
                return each
        raise NotThereError(f"no listener {name!r}{nearest(name, [each.name for each in self.listeners])}")

    def mechanism(self, listener: str, name: str | None) -> str:
        """By default the best one of a listener. OptionError."""
        known = self.mechanisms[listener]
        if name is None:
            return known[0]
        if name.upper() not in known:
            raise OptionError(f"nobody logs in by {name}: there is {', '.join(known)}")
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
