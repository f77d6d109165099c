"""How clients reach a proxy."""

from typing import TYPE_CHECKING, Final

from ..control.access import Access, Listener
from ..errors import OptionError
from ..server.certificates import PASSWORD

if TYPE_CHECKING:
    from .listening import ListenerTls

_TOKENS: Final = "OAUTHBEARER"


def access(
    servers: str, tls: "ListenerTls | None", mechanism: str | None, user: str | None, password: str | None
) -> Access:
    """With a login, if there is a mechanism of SASL. OptionError."""
    if (mechanism or "").upper() == _TOKENS:
        raise OptionError(f"{_TOKENS}: the proxy has no tokens; give the client its own settings for them")
    if (mechanism is None) != (user is None or password is None):
        raise OptionError("give mechanism, user and password of a login, or none of them")
    protocol = "SASL_" * (mechanism is not None) + ("PLAINTEXT" if tls is None else "SSL")
    listener = Listener(protocol, protocol, servers)
    mechanisms = {} if mechanism is None else {protocol: (mechanism.upper(),)}
    users = {} if user is None or password is None else {user: password}
    if tls is None:
        return Access((listener,), mechanisms, users)
    files = tls.files
    return Access(
        (listener,),
        mechanisms,
        users,
        ca=files.ca,
        truststore=files.truststore,
        client=files.client if tls.shows_client else None,
        client_key=files.client_key if tls.shows_client else None,
        keystore=files.keystore if tls.shows_client else None,
        password=PASSWORD,
    )
