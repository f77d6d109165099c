"""Copies of companions whose tests can be run, with the clients that their examples use."""

import shutil
from pathlib import Path

from mockbroker.clients.drivers.shipped import command_for

from .generate import FOLDER


def copied(language: str, to: Path) -> Path:
    """The companion's folder, below `to`."""
    there = shutil.copytree(FOLDER / language, to / language, ignore=shutil.ignore_patterns("target"))
    if language == "node":
        _, program = command_for("kafkajs")
        (there / "example/node_modules").symlink_to(Path(program).parent / "node_modules")
    return there
