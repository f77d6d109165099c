"""Tokens with which clients log in by OAUTHBEARER."""

from typing import Annotated, Any, TypedDict

from ..security import HOUR_S, TokenKind
from .registry import operation
from .target import Target


class TokenIssued(TypedDict):
    """`expires` is in Unix time, in seconds."""

    token: str
    expires: int


@operation("tokens issue", "POST", "/tokens")
def issue(
    target: Target,
    /,
    user: Annotated[str, "For whom."],
    kind: Annotated[
        TokenKind,
        "valid, or what is the matter with it: expired, not-yet-valid, another-key, unknown-key, "
        "another-issuer, another-audience or unsigned.",
    ] = "valid",
    expires_in: Annotated[int, "For how many seconds it is valid."] = HOUR_S,
    scope: Annotated[str | None, "Its scope; none if left out."] = None,
    **claims: Annotated[Any, "Other claims, in place of what it would have; null takes one away."],
) -> TokenIssued:
    """Issues a token with which a client logs in by OAUTHBEARER, or on purpose one with which it can't."""
    issued = target.access.issue(user, kind, expires_in, scope, claims)
    return {"token": issued.token, "expires": issued.expires_s}
