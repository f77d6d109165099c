"""The extras that some parts of the package need, and how to install them."""

import json
import sys
from pathlib import Path
from urllib.parse import unquote, urlsplit

from .errors import MockBrokerError

_PACKAGE = "mockbroker"


class MissingExtraError(MockBrokerError, ImportError):
    """An extra of the package is missing; the message says how to install it."""

    def __init__(self, why: str, extra: str) -> None:
        super().__init__(f"{why}: {how_to_install(extra)}")
        self.extra = extra


def how_to_install(extra: str) -> str:
    """The shell command that installs the extra, from where the package came (PEP 610) or its checkout."""
    url, editable = _origin()
    if url is None:
        return f"pip install '{_PACKAGE}[{extra}]'"
    parts = urlsplit(url)
    if parts.scheme == "file":
        return f"pip install {'-e ' * editable}'{unquote(parts.path)}[{extra}]'"
    return f"pip install '{_PACKAGE}[{extra}] @ {url}'"


def _origin() -> tuple[str | None, bool]:
    """The URL the package was installed from, None for an index; and whether it is an editable install."""
    if getattr(sys, "frozen", False):
        # The standalone program: it does not say where it came from.
        return None, False
    # Importing it takes time, and it is rarely needed.
    import importlib.metadata

    try:
        told = importlib.metadata.distribution(_PACKAGE).read_text("direct_url.json")
    except importlib.metadata.PackageNotFoundError:
        return Path(__file__).resolve().parent.parent.as_uri(), True
    if told is None:
        return None, False
    found = json.loads(told)
    url = str(found["url"])
    if "vcs_info" in found:
        url = f"{found['vcs_info']['vcs']}+{url}@{found['vcs_info']['commit_id']}"
    return url, bool(found.get("dir_info", {}).get("editable"))
