"""The page's own files, as they are sent to browsers."""

from pathlib import Path
from typing import Final

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

FOLDER: Final = Path(__file__).with_name("page")
PATH: Final = "/console/"
_TYPES: Final = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
    ".json": "application/json",
    ".jsonl": "application/x-ndjson",
}
_HEADERS: Final = {
    "content-security-policy": "default-src 'self'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'",
    "cache-control": "no-cache",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
}


def routes() -> list[Route]:
    """The page at `/console/`, and what it consists of below."""
    return [Route(PATH.rstrip("/"), _redirect), Route(PATH + "{path:path}", _file)]


async def _redirect(_: Request) -> Response:
    return RedirectResponse(PATH)


async def _file(request: Request) -> Response:
    path = FOLDER / (request.path_params["path"] or "index.html")
    kind = _TYPES.get(path.suffix)
    if kind is None or FOLDER not in path.resolve().parents or not path.is_file():
        raise HTTPException(404)
    return Response(path.read_bytes(), headers={"content-type": kind, **_HEADERS})
