"""`mockbroker run`: runs a command while a scenario is played."""

import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import trio

from ..scenario import command as commands
from ..scenario.scenario import load
from ..shown import shown
from .trace_file import written_to


def run(path: Path, policies: Mapping[str, str], command: Sequence[str], trace: Path | None = None) -> int:
    """Returns the exit status. `policies` take precedence over the scenario's. `trace` gets what happens.
    ValueError for an invalid scenario or a command that does not exist, OSError for a port in use and for a
    file, ImportError without pyarrow."""
    command = command[1:] if command[0] == "--" else command
    scenario = load(path)
    both = {**scenario.cluster.get("policies", {}), **policies}
    scenario = replace(scenario, cluster={**scenario.cluster, "policies": both})
    if not command or shutil.which(command[0]) is None:
        raise ValueError(f"no command {command[0]!r}" if command else "which command? Give it after --")
    with written_to(trace) as listener:
        return trio.run(commands.run, scenario, command, _tell, listener)


def _tell(text: str) -> None:
    # stdout is for the output of the command.
    sys.stderr.write(f"mockbroker: {shown(text)}\n")
    sys.stderr.flush()
