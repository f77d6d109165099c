"""JVMs of programs that are no drivers (Kafka Streams, Connect, tools), and class paths from Maven."""

from __future__ import annotations

import json
import subprocess
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

import pytest

from mockbroker.clients.drivers import building
from mockbroker.clients.drivers.shipped import LOG_LEVEL
from mockbroker.rig.downloads import SHORT_LIVED

from .. import needs

FLAGS: Final = ("-Xmx256m", *SHORT_LIVED)
_STOP_LIMIT_S: Final = 30.0


def class_path(version: str, project: Path) -> str:
    """The jars that a project's pom names, and its classes."""
    for tool in ("java", "javac", "mvn"):
        needs.need(tool)
    try:
        return building.class_path(project, version)
    except building.BuildError as error:
        pytest.fail(str(error), pytrace=False)


def command(classes: str, main: str, *args: str) -> list[str]:
    return [needs.need("java"), *FLAGS, f"{LOG_LEVEL}=warn", "-cp", classes, main, *args]


class JavaProgram:
    """One JVM. A line to it is a command; some of its lines are events: `event` and JSON."""

    def __init__(
        self,
        classes: str,
        main: str,
        flags: Sequence[str],
        event: Callable[[dict[str, Any]], None],
        words: Sequence[str] = (),
    ) -> None:
        """`event` is called in a thread of its own; `words` are what the program is started with."""
        self._event = event
        self._telling = threading.Lock()
        command = [needs.need("java"), *FLAGS, *flags, "-cp", classes, main, *words]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._listener.start()

    def tell(self, *words: str) -> None:
        with self._telling:
            assert self._process.stdin
            self._process.stdin.write("\t".join(words) + "\n")
            self._process.stdin.flush()

    def signal(self, number: int) -> None:
        """Stops it, continues it or kills it."""
        self._process.send_signal(number)

    def stop(self) -> None:
        """Lets it end."""
        assert self._process.stdin
        self._process.stdin.close()
        try:
            self._process.wait(_STOP_LIMIT_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._listener.join()
        assert self._process.stdout
        self._process.stdout.close()

    def _listen(self) -> None:
        assert self._process.stdout
        for line in self._process.stdout:
            if line.startswith("event {"):
                self._event(json.loads(line.removeprefix("event ")))
