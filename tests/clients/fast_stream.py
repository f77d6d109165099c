"""FastStream, as an application that copies records. `python -m tests.clients.fast_stream` prints its
command."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from mockbroker.clients.drivers import building

VERSION: Final = "0.7.8"
_PROJECT: Final = Path(__file__).parent / "faststream-copies"


def command(version: str = VERSION) -> Sequence[str]:
    """It copies at least once. BuildError."""

    def install(folder: Path) -> None:
        building.step([sys.executable, "-m", "venv", "venv"], folder)
        pip = ("venv/bin/python", "-m", "pip", "--quiet", "--disable-pip-version-check")
        building.step([*pip, "install", f"faststream[kafka]=={version}"], folder)

    home = building.cached(_PROJECT, version, install)
    return (str(home / "venv/bin/python"), str(home / "copies.py"))


if __name__ == "__main__":
    sys.stdout.write(" ".join(command(*sys.argv[1:])) + "\n")
