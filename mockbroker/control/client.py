"""Operations on a cluster in another process."""

import http.client
import json
import re
import urllib.error
import urllib.request
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import quote, urlencode, urlsplit

from ..errors import MockBrokerError
from ..tokens import check_token
from .registry import Operation

PATIENCE_S: Final = 30.0
"""How long an answer may take, on top of the `timeout` that the operation was given."""


class UnreachableError(MockBrokerError, OSError):
    """There is no control API at that address."""


class OperationError(MockBrokerError, RuntimeError):
    """The cluster refused the operation; the message says why."""


class ControlClient:
    """Asks the control API at `url`, with a token if it requires one. ValueError if `url` is no address."""

    def __init__(self, url: str, token: str | None = None) -> None:
        check_token(token)
        self._token = token
        parts = urlsplit(url if "//" in url else f"http://{url}")
        if parts.scheme != "http" or not parts.netloc:
            raise ValueError(f"{url!r} is not a control address: write it as http://127.0.0.1:PORT")
        self._url = f"http://{parts.netloc}{parts.path.rstrip('/')}"
        # Loopback addresses are not reached through a proxy.
        self._opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))

    def do(self, operation: Operation, given: Mapping[str, Any]) -> Any:
        """Its answer. OperationError, UnreachableError; ValueError for arguments that it does not have."""
        operation.arguments(given)
        rest = {name: value for name, value in given.items() if name not in operation.in_path}
        path = re.sub(r"{(\w+)}", lambda found: quote(str(given[found[1]]), safe=""), operation.path)
        data = None
        if operation.method in ("POST", "PUT"):
            data = json.dumps(rest).encode()
        elif rest:
            path += f"?{urlencode(rest, doseq=True)}"
        headers = {"Content-Type": "application/json"} if data is not None else {}
        if self._token is not None:
            headers["Authorization"] = f"Bearer {self._token}"
        request = urllib.request.Request(self._url + path, data, headers, method=operation.method)
        try:
            with self._opener.open(request, timeout=PATIENCE_S + float(given.get("timeout", 0))) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as error:
            with error:
                raise OperationError(_reason(error)) from None
        except (OSError, http.client.HTTPException) as error:
            reason = getattr(error, "reason", error)
            text = getattr(reason, "strerror", None) or str(reason) or type(reason).__name__
            raise UnreachableError(f"no control API at {self._url}: {text}") from None
        except ValueError:
            raise UnreachableError(f"no control API at {self._url}: its answer is not JSON") from None


def _reason(error: urllib.error.HTTPError) -> str:
    try:
        return str(json.load(error)["error"])
    except (ValueError, LookupError, TypeError):
        return f"{error.url} answers {error.code} {error.reason}"
