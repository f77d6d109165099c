"""Which error codes Kafka gives in which answers, as handlers declare (`apis.registry.handles`)."""

import functools
import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from ..apis.registry import declared
from ..protocol.api_keys import CODEC_VERSIONS, ApiKey
from ..protocol.errors import ErrorCode
from .match import api_name
from .places import level_in, levels

_ENTRY: Final = re.compile(r"(\w+)(?:\s+v(\d+)(?:(\+)|-(\d+))?)?")
_RETRY: Final = "_retry"


class LegalCode(NamedTuple):
    """A code that Kafka gives in answers of these versions at this level (`places.LEVELS`); `retry` is
    whether the client should try again."""

    level: str
    code: ErrorCode
    oldest: int
    newest: int
    retry: bool


@functools.cache
def legal_codes(api: ApiKey) -> tuple[LegalCode, ...]:
    """As they are declared, without UNKNOWN_SERVER_ERROR, which may be anywhere. ValueError for an entry that
    can't be read."""
    return tuple(_codes(api))


def _codes(api: ApiKey) -> Iterator[LegalCode]:
    for place, entries in declared(api).codes.items():
        for entry in entries.split(","):
            found = _ENTRY.fullmatch(entry.strip())
            if found is None:
                raise ValueError(f"{api_name(api)} {place}: {entry!r}")
            name, first, open_, last = found.groups()
            oldest, newest = CODEC_VERSIONS[api]
            if first:
                oldest, newest = int(first), newest if open_ else int(last or first)
            level, retry = place.removesuffix(_RETRY), place.endswith(_RETRY)
            yield LegalCode(level, ErrorCode[name], oldest, newest, retry)


@functools.cache
def usual_level(api: ApiKey, version: int) -> str:
    """Where a broker puts most errors: if that place has none in this version, in the innermost."""
    usual = declared(api).usual_level
    if usual is not None and any(
        each.level == level_in(api, version, usual) and each.oldest <= version <= each.newest
        for each in legal_codes(api)
    ):
        return usual
    return levels(api)[-1]


def is_legal(api: ApiKey, version: int, level: str, code: int) -> bool:
    """Whether some broker may give that code there."""
    level = level_in(api, version, level)
    return code in (ErrorCode.NONE, ErrorCode.UNKNOWN_SERVER_ERROR) or any(
        each.code == code and each.level == level and each.oldest <= version <= each.newest
        for each in legal_codes(api)
    )


def why_illegal(api: ApiKey, version: int, level: str, code: int) -> str:
    """Why no broker gives that code there; empty if some do."""
    if is_legal(api, version, level, code):
        return ""
    level = level_in(api, version, level)
    place = f"in {api_name(api)} v{version} at {level} level"
    if code not in map(int, ErrorCode):
        return f"no broker answers the error code {code}: Kafka has none such"
    found = [each for each in legal_codes(api) if each.code == code]
    if not found:
        return f"no broker answers {ErrorCode(code).name} {place}, nor anywhere in {api_name(api)}"
    others = " or ".join(f"at {each.level} level in {shown_versions(each)}" for each in found)
    return f"no broker answers {ErrorCode(code).name} {place}, only {others}"


def shown_versions(code: LegalCode) -> str:
    """`v3`, or `v3 to v5`."""
    return f"v{code.oldest}" if code.oldest == code.newest else f"v{code.oldest} to v{code.newest}"


def source(api: ApiKey) -> str:
    """Where in Kafka the codes of an API are from."""
    return declared(api).source
