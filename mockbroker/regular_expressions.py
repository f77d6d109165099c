"""Regular expressions from outside, which RE2 matches in time that grows with the text only.

Brokers read them with RE2/J or with `java.util.regex`. What RE2 would read otherwise than they do is refused.
"""

import enum
import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, Final, NamedTuple

from .errors import MockBrokerError
from .extras import how_to_install

_IN_JAVA: Final = {
    "missing )": "missing closing )",
    "missing ]": "missing closing ]",
    "no argument for repetition operator": "missing argument to repetition operator",
    "bad repetition operator": "invalid nested repetition operator",
    "invalid repetition size": "invalid repeat count",
    "invalid perl operator": "invalid or unsupported Perl syntax",
    "invalid named capture group": "invalid named capture",
    "trailing \\": "trailing backslash at end of expression",
}
"""What RE2/J says in place of RE2."""
_MEMORY: Final = 1 << 21
_KEPT: Final = 64
_MOST_WORK: Final = 30_000_000
"""In instructions tried for a byte; a tenth of a second or so at worst."""
_DEEPEST: Final = 1_000
_MOST_REPEATS: Final = 1_000
_REFUSED: Final = {
    r"\C": "invalid escape sequence",
    "(?<": "invalid named capture",
    "(?P<": "invalid named capture",
}
_TOKEN: Final = re.compile(
    r"\\Q.*?(?:\\E|\Z)|\\[pPx]\{[^}]*\}?|\\.|\(\?P?<\w+>|\(\?\w*<?|\[\^?\]?|\{(?:0|[1-9]\d*)(?:,\d*)?\}|.",
    re.DOTALL | re.ASCII,
)
_TOKEN_OF_CLASS: Final = re.compile(r"\[:\^?\w*:\]|\\[pPx]\{[^}]*\}?|\\.|&&|.", re.DOTALL | re.ASCII)
_OTHERWISE_IN_JAVA: Final = re.compile(r"\\[0-7v]|\(\?P.*|\(\?\w*U\w*|\{", re.DOTALL | re.ASCII)
_OTHERWISE_IN_CLASSES: Final = re.compile(r"\\[0-7v]|\[.*|&&", re.DOTALL)


class Syntax(enum.Enum):
    """Who reads a regular expression in a real broker."""

    RE2J = "RE2/J"
    JAVA = "java.util.regex"


class ExpressionError(MockBrokerError, ValueError):
    """A regular expression is not valid, or can't be matched here; the message says why."""


class TooDeepError(ExpressionError):
    """Its brackets are nested so deep that a real broker runs out of stack."""


class MissingRE2Error(ExpressionError):
    """google-re2 is not installed."""


class Found(NamedTuple):
    """Where a match is in the text; `groups` begin with the whole of it, and are empty if they are no part
    of it."""

    start: int
    end: int
    groups: tuple[str, ...]


class Expression:
    """A regular expression that was read. ExpressionError."""

    def __init__(self, pattern: str, syntax: Syntax) -> None:
        try:
            import re2
        except ImportError:
            raise MissingRE2Error(f"mockbroker can't read it: {how_to_install('regex')}") from None
        _check(pattern, syntax)
        options = re2.Options()
        options.log_errors = False
        options.max_mem = _MEMORY
        try:
            self._compiled: Any = re2.compile(pattern.encode(), options)
        except UnicodeEncodeError:
            raise ExpressionError("invalid UTF-8") from None
        except re2.error as error:
            reason = error.args[0].decode(errors="replace").partition(": ")[0]
            raise ExpressionError(_IN_JAVA.get(reason, reason)) from None

    def work(self, text: str) -> int:
        """What it may take to match the text, in instructions tried for a byte: some ns each at worst."""
        return int(self._compiled.programsize) * (len(text) + 1)

    def matches(self, text: str) -> bool:
        """Whether the whole text matches. ExpressionError if that would take too long."""
        return self._compiled.fullmatch(self._encoded(text)) is not None

    def find_all(self, text: str) -> Iterator[Found]:
        """All matches that do not overlap, as `Matcher.find` finds them: an empty one may follow another.
        ExpressionError if that would take too long."""
        encoded, at = self._encoded(text), 0
        while at <= len(encoded) and (found := self._compiled.search(encoded, at)) is not None:
            start, end = found.span()
            groups = tuple((each or b"").decode() for each in (found[0], *found.groups()))
            yield Found(len(encoded[:start].decode()), len(encoded[:end].decode()), groups)
            at = end + (start == end)

    def _encoded(self, text: str) -> bytes:
        encoded = text.encode(errors="replace")
        if self._compiled.programsize * len(encoded) > _MOST_WORK:
            raise ExpressionError(f"mockbroker can't match it with a text of {len(encoded)} bytes")
        return encoded


@lru_cache(maxsize=_KEPT)
def expression(pattern: str, syntax: Syntax = Syntax.RE2J) -> Expression:
    """The regular expression, which is kept for a while. ExpressionError."""
    return Expression(pattern, syntax)


def _check(pattern: str, syntax: Syntax) -> None:
    """ExpressionError for what RE2 accepts, and reads otherwise than a broker does."""
    depth = 0
    names = set[str]()
    for token, in_class in _tokens(pattern):
        otherwise = _OTHERWISE_IN_CLASSES if in_class else _OTHERWISE_IN_JAVA
        if token in _REFUSED:
            raise ExpressionError(_REFUSED[token])
        if syntax is Syntax.JAVA and otherwise.fullmatch(token):
            raise ExpressionError(f"mockbroker can't read {token}")
        if in_class:
            continue
        depth += token.startswith("(") - (token == ")")
        if depth > _DEEPEST:
            raise TooDeepError("expression nests too deeply")
        if token.startswith("{") and any(_too_many(each) for each in token[1:-1].split(",")):
            raise ExpressionError("invalid repeat count")
        if token.endswith(">") and token != ">":
            name = token.partition("<")[2]
            if name in names:
                raise ExpressionError("duplicate capture group name")
            names.add(name)


def _tokens(pattern: str) -> Iterator[tuple[str, bool]]:
    """The parts of a pattern, and whether each is within a character class."""
    at, in_class = 0, False
    while at < len(pattern):
        found = (_TOKEN_OF_CLASS if in_class else _TOKEN).match(pattern, at)
        # A backslash at the end.
        token = found[0] if found else pattern[at:]
        yield token, in_class
        at += len(token)
        in_class = token != "]" if in_class else token.startswith("[")


def _too_many(digits: str) -> bool:
    return len(digits) > len(str(_MOST_REPEATS)) or int(digits or 0) > _MOST_REPEATS
