"""Reports as JSON."""

import json
from collections.abc import Iterable
from pathlib import Path

from ..report import Report


def write(path: Path, reports: Iterable[Report]) -> None:
    """OSError."""
    read = [each.as_json() for each in reports]
    path.write_text(json.dumps(read, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
