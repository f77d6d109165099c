"""`POST /oauth/token`: the address at which clients ask for tokens themselves, as at an issuer of real ones
(RFC 6749, 4.4: client credentials; KIP-768)."""

import base64
import binascii
import hmac
from collections.abc import Awaitable, Callable
from typing import Final
from urllib.parse import parse_qs, unquote_plus

from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from ..errors import ConflictError, OptionError
from .answers import Answer
from .bodies import body
from .errors import TooLargeError, TooSlowError
from .target import target_of

PATH: Final = "/oauth/token"
MOST_BYTES: Final = 16_384
_MOST_FIELDS: Final = 100
_FRESH: Final = {"Cache-Control": "no-store"}


def endpoint(token: str | None) -> Callable[[Request], Awaitable[Response]]:
    """A client is given tokens for the user that is its id, valid for as long as `Security` says. Its secret
    is the control `token`; without one it may be any."""

    async def issue(request: Request) -> Response:
        try:
            form = await _form(request)
        except TooLargeError as error:
            return _refused(413, "invalid_request", str(error))
        except TooSlowError as error:
            return _refused(408, "invalid_request", str(error))
        except ValueError:
            return _refused(400, "invalid_request", "the body is no form")
        except ClientDisconnect:
            return Response(status_code=400)
        if form.get("grant_type") != "client_credentials":
            return _refused(400, "unsupported_grant_type", "grant_type is client_credentials here")
        user, secret = _client(request, form)
        if not user or (token is not None and not hmac.compare_digest(secret.encode(), token.encode())):
            return _refused(401, "invalid_client", "the client id is the user, its secret the control token")
        target = target_of(request)
        try:
            issued = target.do(lambda found: found.access.issue_to_client(user, form.get("scope") or None))
        except (ConflictError, OptionError) as error:
            return _refused(400, "invalid_request", str(error))
        answer = {
            "access_token": issued.token,
            "token_type": "Bearer",
            "expires_in": target.access.token_expires_in,
        }
        return Answer(answer, headers=_FRESH)

    return issue


async def _form(request: Request) -> dict[str, str]:
    """ValueError, TooLargeError, TooSlowError, ClientDisconnect."""
    text = await body(request, MOST_BYTES)
    found = parse_qs(text.decode("ascii"), max_num_fields=_MOST_FIELDS)
    return {name: values[0] for name, values in found.items()}


def _client(request: Request, form: dict[str, str]) -> tuple[str, str]:
    """The id and the secret of a client; empty if it sends none."""
    scheme, _, given = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() != "basic":
        return form.get("client_id", ""), form.get("client_secret", "")
    try:
        user, _, secret = base64.b64decode(given.strip(), validate=True).decode().partition(":")
    except (binascii.Error, ValueError):
        return "", ""
    return unquote_plus(user), unquote_plus(secret)


def _refused(status: int, error: str, why: str) -> Answer:
    """RFC 6749, 5.2."""
    return Answer({"error": error, "error_description": why}, status, _FRESH)
