"""The listener with SASL that real brokers may have beside the plain one: its mechanisms and its users."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

NAME: Final = "LOGIN"
"""Of the listener, whose protocol is SASL_PLAINTEXT."""
USERS: Final = MappingProxyType({"alice": "secret", "bob": "other"})
"""Names and passwords for PLAIN."""
MECHANISMS: Final = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "OAUTHBEARER")
SESSIONS_MS: Final = MappingProxyType({"PLAIN": 3000, "SCRAM-SHA-512": 60_000})
"""How long sessions last (`connections.max.reauth.ms`), by mechanism; those of others don't end."""
_MODULES: Final = {
    "PLAIN": "plain.PlainLoginModule",
    "SCRAM-SHA-256": "scram.ScramLoginModule",
    "SCRAM-SHA-512": "scram.ScramLoginModule",
    "OAUTHBEARER": "oauthbearer.OAuthBearerLoginModule",
}


def properties() -> Mapping[str, str]:
    """What a broker is configured with."""
    found = {"sasl.enabled.mechanisms": ",".join(MECHANISMS)}
    options = {
        "PLAIN": " ".join(f'user_{name}="{password}"' for name, password in USERS.items()),
        "OAUTHBEARER": 'unsecuredLoginStringClaim_sub="admin"',
    }
    for mechanism in MECHANISMS:
        module = f"org.apache.kafka.common.security.{_MODULES[mechanism]}"
        setting = f"listener.name.{NAME.lower()}.{mechanism.lower()}"
        found[f"{setting}.sasl.jaas.config"] = f"{module} required {options.get(mechanism, '')};"
        if mechanism in SESSIONS_MS:
            found[f"{setting}.connections.max.reauth.ms"] = str(SESSIONS_MS[mechanism])
    return found
