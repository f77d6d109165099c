"""The token that a control API may require."""

from typing import Final

from .errors import OptionError

VARIABLE: Final = "MOCKBROKER_CONTROL_TOKEN"
"""The environment variable in which `serve`, `run` and `ctl` look for it."""


def check_token(token: str | None) -> None:
    """ValueError for a token that can't be sent in a header."""
    if token is not None and (not token or not token.isascii() or not token.isprintable() or " " in token):
        raise OptionError("a control token has to be ASCII text without spaces: choose another")
