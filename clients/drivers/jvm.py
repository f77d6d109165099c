"""Flags of JVMs, and Java programs that are no drivers (of Kafka Streams), driven over pipes."""

import json
import subprocess
import threading
from collections.abc import Callable, Sequence
from typing import Any, Final

from . import building

FLAGS: Final = ("-Xmx256m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")
LOG_LEVEL: Final = "-Dorg.slf4j.simpleLogger.defaultLogLevel"
_TO_STDOUT: Final = "-Dorg.slf4j.simpleLogger.logFile=System.out"
_STOP_LIMIT_S: Final = 30.0


def with_flags(command: Sequence[str], *flags: str) -> list[str]:
    """The command of a driver in Java, with more flags."""
    at = command.index("-cp")
    return [*command[:at], *flags, *command[at:]]


class JavaProgram:
    """One JVM. A line to it is a command; its lines are events, `event` and JSON, and the client's log."""

    def __init__(
        self,
        classes: str,
        main: str,
        flags: Sequence[str],
        event: Callable[[dict[str, Any]], None],
        logged: Callable[[str], None],
    ) -> None:
        """`event` and `logged` are called in a thread of their own. building.BuildError."""
        self._event, self._logged = event, logged
        self._telling = threading.Lock()
        command = [building.need("java"), *FLAGS, *flags, _TO_STDOUT, "-cp", classes, main]
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
            else:
                self._logged(line)
