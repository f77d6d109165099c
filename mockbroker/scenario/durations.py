"""Durations as people write them."""

import re
from typing import Final

_SECONDS: Final = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}


def seconds(text: object) -> float:
    """`500ms`, `2s`, `1.5m`, `1h`, in seconds. ValueError."""
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*(ms|s|m|h)\s*", text) if isinstance(text, str) else None
    if found is None:
        raise ValueError(f"{text!r} is not a duration: write it as '500ms', '2s' or '1m'")
    return float(found[1]) * _SECONDS[found[2]]
