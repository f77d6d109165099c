"""Which error codes Kafka gives in which answers: the table `error_codes.toml`."""

import functools
import re
import tomllib
from collections.abc import Iterator, Mapping
from importlib import resources
from typing import Any, Final, NamedTuple

from ..protocol.api_keys import CODEC_VERSIONS, ApiKey
from ..protocol.errors import ErrorCode
from .match import api_name, parse_api

_WITHIN: Final[Mapping[tuple[ApiKey, str], tuple[int, str]]] = {
    (ApiKey.FIND_COORDINATOR, "coordinator"): (4, "top"),
    (ApiKey.LEAVE_GROUP, "member"): (3, "top"),
    (ApiKey.OFFSET_FETCH, "group"): (8, "top"),
}
"""Levels that answers have from some version on, and where older ones have the same errors."""
_ENTRY: Final = re.compile(r"(\w+)(?: v(\d+)(?:(\+)|-(\d+))?)?")


class LegalCode(NamedTuple):
    """A code that Kafka gives in answers of these versions at this level (`answers.LEVELS`); `retry` is
    whether the client should try again."""

    level: str
    code: ErrorCode
    oldest: int
    newest: int
    retry: bool


@functools.cache
def legal_codes(api: ApiKey) -> tuple[LegalCode, ...]:
    """In the order of the table, without UNKNOWN_SERVER_ERROR, which may be anywhere."""
    return _table()[api]


def is_legal(api: ApiKey, version: int, level: str, code: int) -> bool:
    """Whether some broker may give that code there."""
    level = _level(api, version, level)
    return code in (ErrorCode.NONE, ErrorCode.UNKNOWN_SERVER_ERROR) or any(
        each.code == code and each.level == level and each.oldest <= version <= each.newest
        for each in legal_codes(api)
    )


def why_illegal(api: ApiKey, version: int, level: str, code: int) -> str:
    """Why no broker gives that code there; empty if some do."""
    if is_legal(api, version, level, code):
        return ""
    level = _level(api, version, level)
    place = f"in {api_name(api)} v{version} at {level} level"
    if code not in map(int, ErrorCode):
        return f"no broker answers the error code {code}: Kafka has none such"
    found = [each for each in legal_codes(api) if each.code == code]
    if not found:
        return f"no broker answers {ErrorCode(code).name} {place}, nor anywhere in {api_name(api)}"
    others = " or ".join(f"at {each.level} level in {shown_versions(each)}" for each in found)
    return f"no broker answers {ErrorCode(code).name} {place}, only {others}"


def _level(api: ApiKey, version: int, level: str) -> str:
    since, older = _WITHIN.get((api, level), (0, level))
    return older if version < since else level


def shown_versions(code: LegalCode) -> str:
    """`v3`, or `v3 to v5`."""
    return f"v{code.oldest}" if code.oldest == code.newest else f"v{code.oldest} to v{code.newest}"


def sources() -> Mapping[ApiKey, str]:
    """Where in Kafka the codes of each API are from."""
    return {parse_api(name): levels["source"] for name, levels in _file().items()}


@functools.cache
def _table() -> Mapping[ApiKey, tuple[LegalCode, ...]]:
    return {parse_api(name): tuple(_codes(parse_api(name), levels)) for name, levels in _file().items()}


def _file() -> Mapping[str, Mapping[str, Any]]:
    return tomllib.loads(resources.files(__package__).joinpath("error_codes.toml").read_text("utf-8"))


def _codes(api: ApiKey, levels: Mapping[str, Any]) -> Iterator[LegalCode]:
    """ValueError for an entry that can't be read."""
    for level, lists in levels.items():
        if level == "source":
            continue
        for kind in ("retry", "other"):
            for entry in lists.get(kind, ()):
                found = _ENTRY.fullmatch(entry)
                if found is None:
                    raise ValueError(f"{api_name(api)} {level}: {entry!r}")
                name, first, open_, last = found.groups()
                oldest, newest = CODEC_VERSIONS[api]
                if first:
                    oldest, newest = int(first), newest if open_ else int(last or first)
                yield LegalCode(level, ErrorCode[name], oldest, newest, kind == "retry")
