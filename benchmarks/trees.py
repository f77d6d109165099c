"""Checkouts of mockbroker: this one, and another one that it is compared with."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parent.parent
_SAY: Final = "import mockbroker; print(mockbroker.__file__)"


class NotATreeError(Exception):
    """A folder from which mockbroker can't be run; the message says why."""


@dataclass(frozen=True)
class Tree:
    """A checkout; programs run there import its mockbroker, whatever is installed."""

    folder: Path = ROOT

    @property
    def python(self) -> str:
        """That of its `.venv`; the present one where it has none."""
        own = self.folder / ".venv" / "bin" / "python"
        return str(own) if self.folder != ROOT and own.exists() else sys.executable

    @property
    def environment(self) -> dict[str, str]:
        return {**os.environ, "PYTHONPATH": str(self.folder)}

    def check(self) -> None:
        """NotATreeError."""
        if not (self.folder / "mockbroker").is_dir():
            raise NotATreeError(f"{self.folder} is no checkout of mockbroker: it has no folder mockbroker/")
        said = self.run([self.python, "-P", "-c", _SAY]).strip()
        if not Path(said).is_relative_to(self.folder):
            raise NotATreeError(f"{self.folder}: its Python imports mockbroker from {said}")

    def run(self, command: list[str]) -> str:
        """What a program prints. NotATreeError when it fails."""
        done = subprocess.run(
            command, cwd=self.folder, env=self.environment, capture_output=True, text=True, check=False
        )
        if done.returncode:
            last = (done.stderr.strip().splitlines() or [f"exit status {done.returncode}"])[-1]
            raise NotATreeError(f"{' '.join(command[1:4])} in {self.folder}: {last}")
        return done.stdout
