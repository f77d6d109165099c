"""One module per API, named after it: `HANDLERS[api_key](call, request)`."""

from .registry import HANDLERS, Handler, handles

__all__ = ["HANDLERS", "Handler", "handles"]
