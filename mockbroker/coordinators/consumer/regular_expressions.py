"""Subscriptions by regular expression, in the syntax of RE2 (`TopicRegexResolver.java`)."""

from collections.abc import Iterable
from typing import Final

from ...protocol.api_error import ApiError
from ...protocol.errors import ErrorCode
from ...regular_expressions import ExpressionError, TooDeepError, expression

REFRESH_MS: Final = 10_000
"""How often topics are matched again at most."""


def check(pattern: str) -> None:
    """ApiError INVALID_REGULAR_EXPRESSION, also where google-re2 is not installed; UNKNOWN_SERVER_ERROR
    where a real broker runs out of stack."""
    try:
        expression(pattern)
    except TooDeepError:
        raise ApiError(ErrorCode.UNKNOWN_SERVER_ERROR) from None
    except ExpressionError as error:
        message = f"SubscribedTopicRegex `{pattern}` is not a valid regular expression: {error}."
        raise ApiError(ErrorCode.INVALID_REGULAR_EXPRESSION, message) from None


def matching(pattern: str, topics: Iterable[str]) -> frozenset[str]:
    """The topics whose whole names match: none, if the pattern came from a record and is not valid."""
    try:
        matches = expression(pattern).matches
        return frozenset(each for each in topics if matches(each))
    except ExpressionError:
        return frozenset()
