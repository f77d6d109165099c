"""Subscriptions by regular expression, in the syntax of RE2 (`TopicRegexResolver.java`)."""

from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Final

from ...extras import how_to_install
from ...protocol.api_error import ApiError
from ...protocol.errors import ErrorCode

_IN_JAVA: Final = {
    "missing )": "missing closing )",
    "missing ]": "missing closing ]",
    "no argument for repetition operator": "missing argument to repetition operator",
    "bad repetition operator": "invalid nested repetition operator",
    "invalid repetition size": "invalid repeat count",
    "invalid perl operator": "invalid or unsupported Perl syntax",
    "trailing \\": "trailing backslash at end of expression",
}
"""What RE2/J, which brokers use, says in place of RE2."""
REFRESH_MS: Final = 10_000
"""How often topics are matched again at most."""


def check(pattern: str) -> None:
    """ApiError INVALID_REGULAR_EXPRESSION, also where google-re2 is not installed."""
    _compiled(pattern)


def matching(pattern: str, topics: Iterable[str]) -> frozenset[str]:
    """The topics whose whole names match."""
    matches = _compiled(pattern)
    return frozenset(each for each in topics if matches(each))


@lru_cache(maxsize=256)
def _compiled(pattern: str) -> Callable[[str], object]:
    try:
        import re2
    except ImportError:
        raise _invalid(pattern, f"mockbroker can't read it: {how_to_install('regex')}") from None
    options = re2.Options()
    options.log_errors = False
    try:
        found: Callable[[str], object] = re2.compile(pattern, options).fullmatch
    except re2.error as error:
        text = error.args[0].decode() if isinstance(error.args[0], bytes) else str(error.args[0])
        reason = text.partition(": ")[0]
        raise _invalid(pattern, _IN_JAVA.get(reason, reason)) from None
    return found


def _invalid(pattern: str, why: str) -> ApiError:
    return ApiError(
        ErrorCode.INVALID_REGULAR_EXPRESSION,
        f"SubscribedTopicRegex `{pattern}` is not a valid regular expression: {why}.",
    )
