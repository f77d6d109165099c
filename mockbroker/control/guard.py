"""Lets programs of this machine use the control API, but not web pages in its browsers. If there is a token,
only requests that send it are accepted."""

import hmac
import re
from typing import Final

from starlette.types import ASGIApp, Receive, Scope, Send

from ..tokens import VARIABLE
from .answers import Answer, error_answer
from .oauth import PATH

_LOOPBACK: Final = frozenset({"127.0.0.1", "localhost", "[::1]"})
_PORT: Final = re.compile(r":\d*$")
_CONSOLE: Final = "/console/"
_TOKENS: Final = re.compile(rf"(/clusters/\d+)?{PATH}")
"""Where clients ask for tokens of OAuth."""
_OUR_SITES: Final = ("same-origin", "none")
"""What a browser sends with requests of our own pages, and for addresses that its user typed."""


def guarded(inner: ASGIApp, token: str | None) -> ASGIApp:
    """Refuses requests that a web page may have sent: those that reach this address by another host name,
    from another origin, or, if they name no origin, from another site. With a `token`, refuses requests
    without it, but for the console's files, which tell nothing of the cluster, and those for tokens of
    OAuth, which send it otherwise."""

    async def guard(scope: Scope, receive: Receive, send: Send) -> None:
        refusal = None
        if scope["type"] == "http":
            free = scope["path"].startswith(_CONSOLE) or _TOKENS.fullmatch(scope["path"])
            needed = None if free else token
            refusal = _refusal(dict(scope["headers"]), needed)
        await (refusal or inner)(scope, receive, send)

    return guard


def _refusal(headers: dict[bytes, bytes], token: str | None) -> Answer | None:
    host = headers.get(b"host", b"").decode("latin-1")
    origin = headers.get(b"origin")
    site = headers.get(b"sec-fetch-site", b"none").decode("latin-1")
    if _PORT.sub("", host).lower() not in _LOOPBACK:
        return error_answer(403, f"host {host!r} is not this machine")
    if origin is not None and origin != f"http://{host}".encode("latin-1"):
        return error_answer(403, f"requests from {origin.decode('latin-1')} are not answered")
    if site not in _OUR_SITES:
        return error_answer(403, f"requests from pages of other sites ({site}) are not answered")
    if token is not None:
        given = headers.get(b"authorization", b"")
        if not hmac.compare_digest(given, f"Bearer {token}".encode()):
            text = f"a control token is required: send it as 'Authorization: Bearer ...', or set {VARIABLE}"
            return error_answer(401, text, {"WWW-Authenticate": "Bearer"})
    return None
