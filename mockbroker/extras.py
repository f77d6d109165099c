"""What the package needs for some of what it does, and how to install that."""

import json
from pathlib import Path
from urllib.parse import unquote, urlsplit

from .errors import MockBrokerError

_PACKAGE = "mockbroker"


class MissingExtraError(MockBrokerError, ImportError):
    """Something needs an extra of the package: says how to install it."""

    def __init__(self, why: str, extra: str) -> None:
        super().__init__(f"{why}: {how_to_install(extra)}")
        self.extra = extra


def how_to_install(extra: str) -> str:
    """A command for the shell, with the package from where it came (PEP 610), or from its checkout."""
    url, editable = _origin()
    if url is None:
        return f"pip install '{_PACKAGE}[{extra}]'"
    parts = urlsplit(url)
    if parts.scheme == "file":
        return f"pip install {'-e ' * editable}'{unquote(parts.path)}[{extra}]'"
    return f"pip install '{_PACKAGE}[{extra}] @ {url}'"


def _origin() -> tuple[str | None, bool]:
    """The URL it was installed from, None for an index; and whether it is edited there."""
    # Rarely needed, and not for a command to start.
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
