"""A small HTTP client."""

import json
import urllib.error
import urllib.request
from collections.abc import Mapping
from typing import Any

_OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))


def ask(
    method: str, url: str, body: object = None, headers: Mapping[str, str] | None = None
) -> tuple[int, Any]:
    """Status and answer."""
    data = json.dumps(body).encode() if body is not None else None
    request = urllib.request.Request(url, data, dict(headers or {}), method=method)
    try:
        with _OPENER.open(request, timeout=60) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as error:
        with error:
            return error.code, json.load(error)
