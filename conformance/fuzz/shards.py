"""Sessions in separate processes, so that one that ends its process is known, and the others continue."""

import json
import os
import queue
import resource
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from ...errors import MockBrokerError
from .dialogue import Finding
from .modes import INPUTS
from .playing import explore, play
from .shrinking import shrink, signature
from .steps import Session, read

PATIENCE_SECONDS: Final = 120.0
"""A process that prints nothing for this long is considered to hang."""
KEPT_BYTES: Final = 50 * 1024 * 1024
"""The memory of a process must not grow by more than this over its sessions."""
_WARM: Final = 20
"""After this many sessions a process has loaded everything that it ever loads."""
_MODULE: Final = "mockbroker.conformance.fuzz"


@dataclass(frozen=True)
class Report:
    """The result of one session; `text` is the finding, `file` has the session, shrunk as far as possible."""

    number: int
    inputs: int
    signature: str = ""
    text: str = ""
    file: Path | None = None


def mode_of(number: int, modes: Sequence[str]) -> str:
    """Modes take turns."""
    return modes[number % len(modes)]


def run(first: int, end: int, step: int, modes: Sequence[str], memory: int | None, out: Path) -> None:
    """Plays sessions in a separate process, and prints a JSON line before and after each. `memory` is in
    bytes."""
    if memory is not None:
        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    seen: set[str] = set()
    start_bytes = 0
    for count, number in enumerate(range(first, end, step)):
        _say(began=number)
        session, finding = explore(mode_of(number, modes), number)
        told: dict[str, Any] = {}
        if finding is not None:
            told = _tell(number, session, finding, seen, out)
        _say(number=number, inputs=INPUTS, **told)
        if count == _WARM:
            start_bytes = _resident_bytes()
    if start_bytes and (grew := _resident_bytes() - start_bytes) > KEPT_BYTES:
        finding = Finding("growth", f"sessions {first} to {end} keep {grew // 2**20} MB")
        _say(number=end, inputs=0, signature=signature(finding), text=str(finding))


def _tell(number: int, session: Session, finding: Finding, seen: set[str], out: Path) -> dict[str, Any]:
    mark, file = signature(finding), None
    if mark not in seen:
        seen.add(mark)
        file = out / f"{session.mode}-{number}.txt"
        session.write(file)
        short = shrink(session, lambda each: (found := play(each)) is not None and signature(found) == mark)
        write(short, file, str(finding))
    return {"signature": mark, "text": str(finding), "file": str(file) if file else None}


def write(session: Session, file: Path, text: str) -> None:
    """Writes the session, what goes wrong in it, and how to replay it."""
    session.write(file, [f"python -m {_MODULE} replay {file}", *text.splitlines()])


def _say(**values: Any) -> None:
    print(json.dumps(values), flush=True)  # noqa: T201


def _resident_bytes() -> int:
    import gc

    gc.collect()
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


class ShardError(MockBrokerError, RuntimeError):
    """The fuzzer itself failed."""


class Shard:
    """A process that plays every `step`-th session; if it dies, another one takes over."""

    def __init__(
        self, first: int, end: int, step: int, modes: Sequence[str], memory: int | None, out: Path
    ) -> None:
        self._next, self._end, self._step = first, end, step
        self._modes, self._memory, self._out = modes, memory, out
        self._status = 0
        self._last = ""

    def reports(self) -> Iterator[Report]:
        while self._next < self._end:
            begun = None
            for line in self._lines():
                if "began" in line:
                    begun = line["began"]
                else:
                    begun = None
                    self._next = line["number"] + self._step
                    yield Report(**{**line, "file": Path(line["file"]) if line.get("file") else None})
            if begun is None or self._status == 1:
                if self._status:
                    raise ShardError(self._last)
                return
            self._next = begun + self._step
            yield self._death(begun)

    def _lines(self) -> Iterator[dict[str, Any]]:
        """What the process prints until it ends."""
        given = [
            str(self._next),
            str(self._end),
            str(self._step),
            ",".join(self._modes),
            str(self._memory or 0),
        ]
        with tempfile.TemporaryFile() as errors:
            command = [sys.executable, "-m", _MODULE, "shard", *given, str(self._out)]
            process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, text=True)
            said: queue.Queue[str | None] = queue.Queue()
            listener = threading.Thread(target=_listen, args=(process, said))
            listener.start()
            try:
                while (line := said.get(timeout=PATIENCE_SECONDS)) is not None:
                    yield json.loads(line)
            except queue.Empty:
                pass
            finally:
                process.kill()
                self._status = process.wait()
                listener.join()
                errors.seek(0)
                self._last = f"status {self._status}\n" + errors.read().decode(errors="replace")[-4000:]

    def _death(self, number: int) -> Report:
        mode = mode_of(number, self._modes)
        file = self._out / f"{mode}-{number}.txt"
        journal(mode, number, self._memory, file)
        finding = Finding("death", self._last.splitlines()[0])
        if file.exists():
            short = shrink(read(file), lambda each: _dies(each, self._memory), 60)
            write(short, file, f"{finding}\n{self._last}")
        return Report(number, INPUTS, signature(finding) + " " + mode, self._last, file)


def _listen(process: "subprocess.Popen[str]", said: "queue.Queue[str | None]") -> None:
    assert process.stdout
    with process.stdout:
        for line in process.stdout:
            said.put(line)
    said.put(None)


def journal(mode: str, number: int, memory: int | None, file: Path) -> None:
    """Plays a session in a separate process, and writes it down before each step."""
    given = [mode, str(number), str(memory or 0), str(file)]
    _patiently([sys.executable, "-m", _MODULE, "journal", *given])


def keep_journal(mode: str, number: int, memory: int, file: Path) -> None:
    """The work of `journal`, in the process."""
    if memory:
        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    explore(mode, number, lambda session: session.write(file))


def _dies(session: Session, memory: int | None) -> bool:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "session.txt"
        session.write(file)
        status = _patiently(
            [sys.executable, "-m", _MODULE, "replay", str(file), "--memory", str(memory or 0)]
        )
    return status not in (0, 1)


def _patiently(command: Sequence[str]) -> int:
    """Returns the exit status; that of a kill if the process hangs."""
    quiet = subprocess.DEVNULL
    try:
        done = subprocess.run(command, stdout=quiet, stderr=quiet, timeout=PATIENCE_SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return -signal.SIGKILL
    return done.returncode
