"""Answers over HTTP."""

import json
from typing import Any

from starlette.responses import JSONResponse


class Answer(JSONResponse):
    """JSON in ASCII, whatever text it contains."""

    def render(self, content: Any) -> bytes:
        return json.dumps(content, separators=(",", ":")).encode()


def error_answer(status: int, text: str, headers: Any = None, field: str = "") -> Answer:
    """An error, in one line; `field` is the argument that is wrong, if it is known."""
    return Answer({"error": text, "field": field} if field else {"error": text}, status, headers)
