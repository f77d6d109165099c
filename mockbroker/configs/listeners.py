"""Configurations of one listener, and of one mechanism of SASL there (KIP-103, `ListenerName.configPrefix`):
`listener.name.public.ssl.client.auth`, `listener.name.public.plain.connections.max.reauth.ms`."""

from collections.abc import Iterable, Iterator
from typing import Final

from ..errors import OptionError
from ..nearest import nearest
from .values import OF_LISTENER, ConfigError

_STORES: Final = ("keystore", "truststore")
BY_MECHANISM: Final = frozenset(
    {
        "connections.max.reauth.ms",
        "sasl.oauthbearer.clock.skew.seconds",
        "sasl.oauthbearer.expected.audience",
        "sasl.oauthbearer.expected.issuer",
        "sasl.oauthbearer.scope.claim.name",
        "sasl.oauthbearer.sub.claim.name",
    }
)
"""What can be set for one mechanism of a listener."""
STORES: Final = frozenset(
    {
        "ssl.key.password",
        *(f"ssl.{store}.{part}" for store in _STORES for part in ("location", "password", "type")),
    }
)
"""The files of certificates and authorities of a listener."""
NAMES: Final = (
    BY_MECHANISM
    | STORES
    | {
        "sasl.enabled.mechanisms",
        "sasl.server.max.receive.size",
        "ssl.client.auth",
        "ssl.enabled.protocols",
        "ssl.principal.mapping.rules",
    }
)
"""What can be set for one listener."""
_MECHANISMS: Final = ("plain.", "scram-sha-256.", "scram-sha-512.", "oauthbearer.")


def prefixed(name: str, listener: str, mechanism: str = "") -> Iterator[str]:
    """The names by which it may be set for a listener, the one with the highest precedence first."""
    if mechanism:
        yield f"{OF_LISTENER}{listener.lower()}.{mechanism.lower()}.{name}"
    yield f"{OF_LISTENER}{listener.lower()}.{name}"
    yield name


def check_names(config: Iterable[str], known: Iterable[str]) -> None:
    """OptionError for a configuration of a listener that there is not."""
    there = {each.lower() for each in known}
    for name in config:
        listener = name.removeprefix(OF_LISTENER).partition(".")[0]
        if name.startswith(OF_LISTENER) and listener not in there:
            raise OptionError(f"config has {name}, but there is no such listener{nearest(listener, there)}")


def unprefixed(name: str) -> str:
    """The configuration that is set for one listener. ConfigError."""
    rest = name.removeprefix(OF_LISTENER).partition(".")[2]
    for each in _MECHANISMS:
        if rest.startswith(each) and (own := rest.removeprefix(each)) in BY_MECHANISM:
            return own
    if rest not in NAMES:
        known = ", ".join(sorted(NAMES))
        raise ConfigError(f"{name}: only these can be set for one listener: {known}")
    return rest
