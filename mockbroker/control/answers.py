"""Answers over HTTP."""

import json
from typing import Any, Final

from starlette.responses import JSONResponse

from ..errors import ConflictError, NotThereError
from .errors import TooLargeError, TooSlowError

_STATUSES: Final[tuple[tuple[type[Exception], int], ...]] = (
    (NotThereError, 404),
    (ConflictError, 409),
    (TooLargeError, 413),
    (TooSlowError, 408),
    (ValueError, 400),
)
REFUSALS: Final = tuple(kind for kind, _ in _STATUSES)
"""Why an operation is not done."""


class Answer(JSONResponse):
    """JSON in ASCII, whatever text it contains."""

    def render(self, content: Any) -> bytes:
        return json.dumps(content, separators=(",", ":")).encode()


def error_answer(status: int, text: str, headers: Any = None, field: str = "") -> Answer:
    """An error, in one line; `field` is the argument that is wrong, if it is known."""
    return Answer({"error": text, "field": field} if field else {"error": text}, status, headers)


def refusal(error: Exception) -> Answer:
    """The answer to a request that got one of the REFUSALS."""
    status = next(status for kind, status in _STATUSES if isinstance(error, kind))
    return error_answer(status, str(error), field=getattr(error, "field", ""))
