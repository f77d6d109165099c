"""The codec that a connection has for an API version."""

from typing import Final

from .api_keys import ApiKey
from .codec import AnswerTooLargeError, Codec, Frame, UnsupportedVersionError, models_of, shared

_OWN: Final = (ApiKey.PRODUCE, ApiKey.FETCH)
"""Where each connection has a codec of its own."""


def codec(api_key: int, version: int) -> Codec:
    """UnsupportedVersionError if there is none."""
    found = shared(api_key, version)
    if found.api_key not in _OWN:
        return found
    # Imported once a client produces or fetches.
    from .own_codecs import OWN

    return OWN[found.api_key](version)


__all__ = ["AnswerTooLargeError", "Codec", "Frame", "UnsupportedVersionError", "codec", "models_of"]
