"""Answers over HTTP."""

import json
from typing import Any

from starlette.responses import JSONResponse


class Answer(JSONResponse):
    """JSON in ASCII, whatever text it contains."""

    def render(self, content: Any) -> bytes:
        return json.dumps(content, separators=(",", ":")).encode()


def error_answer(status: int, text: str, headers: Any = None) -> Answer:
    """An error, in one line."""
    return Answer({"error": text}, status, headers)
