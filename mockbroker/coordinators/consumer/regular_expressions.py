"""Subscriptions by regular expression, in the syntax of RE2 (`TopicRegexResolver.java`)."""

from collections.abc import Generator, Sequence
from typing import Final

from ...portions import Pace
from ...protocol.api_error import ApiError
from ...protocol.errors import ErrorCode
from ...regular_expressions import ExpressionError, TooDeepError, expression

REFRESH_MS: Final = 10_000
"""How often topics are matched again at most."""
WORK_PER_PART: Final = 100_000
"""In instructions of RE2: less than a millisecond, most of the time."""


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


def matching(pattern: str, topics: Sequence[str], pace: Pace) -> Generator[None, None, frozenset[str]]:
    """The topics whose whole names match: none, if the pattern came from a record and is not valid. `pace`
    counts instructions of RE2."""
    found = []
    try:
        compiled = expression(pattern)
        for topic in topics:
            if compiled.matches(topic):
                found.append(topic)
            if pace.enough(compiled.work(topic)):
                yield
    except ExpressionError:
        return frozenset()
    return frozenset(found)
