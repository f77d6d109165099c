"""Spring Kafka, as an application that copies records. `python -m tests.clients.spring` prints its
command."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from mockbroker.clients.drivers import building
from mockbroker.clients.drivers.shipped import JVM

VERSION: Final = "4.1.0"
_PROJECT: Final = Path(__file__).parent / "java-spring"


def command(mode: str, version: str = VERSION) -> Sequence[str]:
    """In mode `transactions` it copies exactly once, otherwise at least once. BuildError."""
    jars = building.class_path(_PROJECT, version, program="none")  # java compiles it, which is 17 or newer
    return (building.need("java"), *JVM, "-cp", jars, str(_PROJECT / "Copies.java"), mode)


if __name__ == "__main__":
    sys.stdout.write(" ".join(command(*sys.argv[1:])) + "\n")
