"""What a proxy is started with."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

from ..addresses import given
from ..errors import OptionError
from ..protocol.releases import Release
from ..security import Security
from ..tokens import check_token

if TYPE_CHECKING:
    from ..scenario.scenario import Scenario

Address = tuple[str, int]
_KNOWN: Final = frozenset({"tls", "certificate", "key", "ca", "client_auth", "folder"})


def mapped(pairs: Sequence[str], what: str = "--upstream-map") -> dict[Address, Address]:
    """HOST:PORT=HOST:PORT. ValueError."""
    found = {}
    for each in pairs:
        theirs, equals, ours = each.partition("=")
        if not equals:
            raise ValueError(f"{what} {each!r}: write it as HOST:PORT=HOST:PORT")
        found[given(theirs, what)] = given(ours, what)
    return found


def played(path: str | Path | None) -> "Scenario | None":
    """The scenario in a file, if there is one. ScenarioError, also for what a proxy can't play."""
    if path is None:
        return None
    # Most proxies play none.
    from .playing import load

    return load(Path(path))


class UpstreamTls(NamedTuple):
    """Files in PEM: the authorities that brokers' certificates are checked with, by default those of this
    machine, and a certificate that is shown to brokers, whose key may be in the same file."""

    ca: Path | None = None
    certificate: Path | None = None
    key: Path | None = None

    @classmethod
    def of(
        cls,
        tls: bool,
        ca: str | Path | None = None,
        certificate: str | Path | None = None,
        key: str | Path | None = None,
    ) -> "UpstreamTls | None":
        """From what a user wrote: a file implies TLS. OptionError."""
        if key is not None and certificate is None:
            raise OptionError("upstream_key is the key of a certificate: give upstream_certificate, too")
        files = [None if each is None else Path(each) for each in (ca, certificate, key)]
        return cls(*files) if tls or any(files) else None


@dataclass(frozen=True)
class ProxyOptions:
    """`upstream` are addresses of the cluster's brokers. The first broker's listener is at `host` and `port`,
    the others get the next ports; with port 0 all get any. `map` has the addresses at which brokers are
    reached from here, by those that the cluster tells. `faults` are fields of faults; the `scenario` is one
    that was read for a proxy. `kafka` is the release
    whose versions clients may use; None: those of the cluster. `policies` are answers of behaviours, by
    name. With `trace` the trace begins at once, with "requests" without bodies. `control` is the port of the
    control API on loopback, None for no API; with a `control_token`, only requests that send it are
    answered.

    With `upstream_tls` the proxy speaks TLS to brokers. `security` is about TLS of the proxy's own listeners:
    None for none. OptionError."""

    upstream: Sequence[Address]
    host: str = "127.0.0.1"
    port: int = 0
    map: Mapping[Address, Address] = field(default_factory=dict)
    faults: Sequence[Mapping[str, Any]] = ()
    scenario: "Scenario | None" = None
    kafka: Release | None = None
    policies: Mapping[str, Any] = field(default_factory=dict)
    trace: bool | Literal["requests"] = False
    control: int | None = None
    control_token: str | None = None
    upstream_tls: UpstreamTls | None = None
    security: Security | None = None

    def __post_init__(self) -> None:
        check_token(self.control_token)
        if self.security is not None:
            _check(self.security)

    def reached_at(self, address: Address) -> Address:
        """Where the broker is reached from here of which the cluster tells this address."""
        return self.map.get(address, address)

    def told_as(self, address: Address) -> Address:
        """What the cluster tells of the broker that is reached from here at this address."""
        return next((theirs for theirs, ours in self.map.items() if ours == address), address)


def _check(security: Security) -> None:
    """OptionError for what is not the proxy's business."""
    usual = Security()
    for each in fields(Security):
        if each.name not in _KNOWN and getattr(security, each.name) != getattr(usual, each.name):
            raise OptionError(
                f"security of a proxy has {each.name}: leave it out, because logins are passed on to the "
                f"cluster, which decides; it can have {', '.join(sorted(_KNOWN))}"
            )
    if not security.tls:
        raise OptionError("security of a proxy is about TLS only: add tls=True, or leave it out")
