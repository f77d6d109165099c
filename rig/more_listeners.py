"""The listeners that real brokers may have beside the plain one, with TLS, SASL or both."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from . import sasl_listener
from .certificates import Certificates

HOST = "127.0.0.1"


class MoreListeners:
    """`protocols` by their names; files are in `folder`. With `jwks` those with SASL take tokens that were
    signed by one of these keys."""

    def __init__(self, protocols: Mapping[str, str], folder: Path, jwks: str | None) -> None:
        self.protocols = protocols
        self.jwks = None if jwks is None else folder / "jwks.json"
        if self.jwks is not None and jwks is not None:
            self.jwks.write_text(jwks)
        self._ports: dict[str, dict[int, int]] = {}
        uses_tls = any(each.endswith("SSL") for each in protocols.values())
        self._certificates = Certificates(folder / "certificates") if uses_tls else None

    def take(self, ports: Sequence[int], brokers: int) -> None:
        """As many for each listener as there are brokers."""
        for place, name in enumerate(self.protocols):
            self._ports[name] = dict(enumerate(ports[brokers * place :][:brokers], start=1))

    @property
    def certificates(self) -> Certificates:
        """Those that brokers and clients may show."""
        assert self._certificates is not None, "no listener has TLS"
        return self._certificates

    @property
    def file_of_keys(self) -> Path:
        """From which brokers take the keys of signed tokens."""
        assert self.jwks is not None, "tokens are not signed"
        return self.jwks

    def addresses(self, listener: str) -> Mapping[int, tuple[str, int]]:
        """By broker."""
        return {node: (HOST, port) for node, port in self._ports[listener].items()}

    def of(self, node: int) -> dict[str, int]:
        """By name, the ports of a broker."""
        return {name: ports[node] for name, ports in self._ports.items()}

    def properties(self, release: str) -> dict[str, str]:
        """What a broker is configured with."""
        found: dict[str, str] = {}
        for name, protocol in self.protocols.items():
            if protocol.startswith("SASL"):
                found |= sasl_listener.properties(release, self.jwks, name)
            if protocol.endswith("SSL"):
                found |= self.certificates.properties(name)
        return found

    def options(self) -> list[str]:
        """Of the JVM."""
        return sasl_listener.options(self.jwks)
