"""How long `mockbroker analyze` takes for large logs of brokers: `python -m benchmarks.broker_logs`.

The lines are those of real brokers, from healthy clusters in `tests/pipeline/recordings`, again and again,
each time some hours later and with other topics. Three brokers have several files each. Wall clock, CPU time
and memory are those of the whole process tree, with the wall clock of each phase.
"""

from __future__ import annotations

import json
import re
import shutil
import sys
import tarfile
import tomllib
from datetime import datetime, timedelta
from pathlib import Path
from typing import Annotated, Final

import typer

from benchmarks.pipeline import Folder, kept_in, measure, tell

RECORDINGS: Final = Path(__file__).parent.parent / "tests" / "pipeline" / "recordings"
BROKERS: Final = (1, 2, 3)
_FILES: Final = ("server.log", "state-change.log")
_FILE_BYTES: Final = 100_000_000
"""After which a broker begins a new file."""
_HOUR: Final = re.compile(rb"^\[(\d{4}-\d\d-\d\d \d\d)", re.MULTILINE)
_TOPIC: Final = re.compile(rb"\borders\b")
_FIRST: Final = datetime(2026, 1, 1)
TIMED: Final = """
import json, sys, time
from pathlib import Path
from mockbroker.pipeline.analysis import analyze
PHASES = {"read": "reading", "search": "searching", "link": "linking and drawing"}
PHASES |= {"look": "looking", "going": "ledgers", "went": "ledgers"}
seconds, current, since = {}, "reading", time.monotonic()
def tell(what):
    global current, since
    now = time.monotonic()
    seconds[current] = round(seconds.get(current, 0) + now - since, 1)
    current, since = next((phase for start, phase in PHASES.items() if what.startswith(start)), what), now
found = analyze([Path(sys.argv[1])], Path(sys.argv[2]), master=next(iter(sys.argv[3:]), None), tell=tell)
tell("")
print(json.dumps({"rows": found.kinds.total(), "findings": len(found.findings), "phases": seconds}))
"""


def write(folder: Path, size: int, recordings: str = "3.9.2-*") -> None:
    """Writes some `size` bytes of logs: `broker1/server.log.1` and so on."""
    logs = [found for path in sorted(RECORDINGS.glob(recordings)) if (found := _healthy(path))]
    written, hour, parts = 0, _FIRST, dict[tuple[int, str], int]()
    for broker in BROKERS:
        (folder / f"broker{broker}").mkdir(parents=True, exist_ok=True)
    while written < size:
        for each in logs:
            hours = sorted({found for text in each.values() for found in _HOUR.findall(text)})
            later = {
                was: f"[{hour + timedelta(hours=number):%Y-%m-%d %H}".encode()
                for number, was in enumerate(hours)
            }
            hour += timedelta(hours=len(hours))
            for place, text in each.items():
                broker, name = place
                path = folder / f"broker{broker}" / f"{name}.{parts.setdefault(place, 1)}"
                with path.open("ab") as file:
                    written += file.write(_moved(text, later, f"orders-of-{hour:%m%d%H}".encode()))
                    parts[place] += file.tell() >= _FILE_BYTES


def _moved(text: bytes, hours: dict[bytes, bytes], topic: bytes) -> bytes:
    return _TOPIC.sub(topic, _HOUR.sub(lambda found: hours[found[1]], text))


def _healthy(recording: Path) -> dict[tuple[int, str], bytes]:
    """The logs of a healthy cluster, by broker and name."""
    if not tomllib.loads((recording / "truth.toml").read_text())["healthy"]:
        return {}
    with tarfile.open(recording / "files.tar.xz") as archive:
        written = set(archive.getnames())
        return {
            (broker, name): file.read()
            for broker in BROKERS
            for name in _FILES
            if (path := f"broker{broker}/{name}") in written and (file := archive.extractfile(path))
        }


def main(megabytes: Annotated[int, typer.Option(help="Of logs.")] = 1_000, folder: Folder = None) -> None:
    """Print a line of JSON."""
    with kept_in(folder) as kept:
        logs, out = kept / f"logs-{megabytes}", kept / f"out-{megabytes}"
        if not logs.exists():
            write(logs, megabytes * 1_000_000)
        shutil.rmtree(out, ignore_errors=True)
        measured = measure(
            f"analyze {megabytes:,} MB of broker logs", [sys.executable, "-c", TIMED, str(logs), str(out)]
        )
        tell(measured, **json.loads(measured.said.strip().splitlines()[-1]))


if __name__ == "__main__":
    typer.run(main)
