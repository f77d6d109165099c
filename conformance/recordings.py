"""Recorded answers: `answers/RELEASE/API.json`, one line for each question and version.

A line that says `"same as v3"` stands for the answers of that version.
"""

import json
import re
from pathlib import Path
from typing import Any

from ..rig.setup import BROKER_CONFIG, CLUSTER_SIZES, RELEASES

ANSWERS = Path(__file__).parent / "answers"
Steps = list[list[Any]]
Recorded = dict[str, dict[int, Steps]]
_SAME = re.compile(r"same as v(\d+)")


def nearest_release(wanted: str) -> str:
    """The recorded release that stands for `wanted` ("4.4", "4.1", "3.9.2"), of the same major version if
    there is one."""

    def number(release: str) -> list[int]:
        parts = [int(part) for part in release.split(".")]
        return parts + [0] * (3 - len(parts))

    try:
        asked = number(wanted)
    except ValueError as error:
        raise ValueError(f"{wanted!r} is not a Kafka release: choose one of {', '.join(RELEASES)}") from error
    return min(RELEASES, key=lambda each: [abs(a - b) for a, b in zip(number(each), asked, strict=False)])


def load(release: str, api: str, folder: Path | None = None) -> Recorded:
    """Answers by question name and version; empty when nothing was recorded."""
    file = (folder or ANSWERS) / release / f"{api}.json"
    if not file.exists():
        return {}
    found: Recorded = {}
    for key, value in json.loads(file.read_text())["answers"].items():
        name, _, version = key.rpartition(" v")
        same = _SAME.fullmatch(value) if isinstance(value, str) else None
        found.setdefault(name, {})[int(version)] = found[name][int(same[1])] if same else value
    return found


def save(release: str, api: str, answers: Recorded, folder: Path | None = None) -> Path:
    """Write the answers of one API, replacing what was recorded before."""
    head = {
        "kafka": release,
        "api": api,
        "cluster": {"sizes": list(CLUSTER_SIZES), "config": dict(BROKER_CONFIG)},
    }
    lines = [f"{json.dumps(key)}: {json.dumps(value)}," for key, value in head.items()]
    body = [f"{json.dumps(key)}: {json.dumps(value)}" for key, value in _entries(answers)]
    file = (folder or ANSWERS) / release / f"{api}.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("\n".join(["{", *lines, '"answers": {', ",\n".join(body), "}}", ""]))
    return file


def _entries(answers: Recorded) -> list[tuple[str, Any]]:
    entries: list[tuple[str, Any]] = []
    for name, versions in answers.items():
        first: dict[str, int] = {}
        for version, steps in sorted(versions.items()):
            text = json.dumps(steps)
            entries.append((f"{name} v{version}", f"same as v{first[text]}" if text in first else steps))
            first.setdefault(text, version)
    return entries
