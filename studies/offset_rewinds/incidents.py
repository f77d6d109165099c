"""Plays the scenarios with a client, and collects what it told."""

import json
import subprocess
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from mockbroker.errors import MockBrokerError
from mockbroker.scenario.playing import CHECKS_FAILED

FOLDER: Final = Path(__file__).parent
MIRROR: Final = (sys.executable, str(FOLDER / "mirror.py"))
"""The mirror as a command, with confluent-kafka; another client and its version may follow."""
_LIMIT_S: Final = 300.0


class PlayError(MockBrokerError):
    """The client failed; the message has what was written to standard error."""


class Incident(NamedTuple):
    """`reset` is the mirror's `auto.offset.reset`; with the behaviours `right` nothing goes wrong."""

    scenario: Path
    reset: str
    right: Mapping[str, str]


FIRST: Final = Incident(FOLDER / "first.toml", "latest", {"offsets-load": "skips"})
SECOND: Final = Incident(FOLDER / "second.toml", "earliest", {"offsets-cleanup": "after-load"})


class Run(NamedTuple):
    """One run of the mirror, of one topic: where the log started and ended, what was committed (-1: none),
    and which offsets were read."""

    run: int
    topic: str
    log_start: int
    log_end: int
    committed: int
    read: list[int]


class Played(NamedTuple):
    """`as_checked` is whether the scenario's checks hold."""

    runs: list[Run]
    as_checked: bool

    def of(self, topic: str) -> list[Run]:
        return [each for each in self.runs if each.topic == topic]

    def lost(self, topic: str) -> list[int]:
        """The offsets that were never read."""
        runs = self.of(topic)
        return sorted(set(range(runs[-1].log_end)) - {offset for each in runs for offset in each.read})

    def read_again(self, topic: str) -> list[int]:
        counts = Counter(offset for each in self.of(topic) for offset in each.read)
        return sorted(offset for offset, count in counts.items() if count > 1)


def play(incident: Incident, policies: Mapping[str, str], client: Sequence[str] = MIRROR) -> Played:
    """PlayError."""
    given = [word for name, answer in policies.items() for word in ("--policy", f"{name}={answer}")]
    run = [sys.executable, "-m", "mockbroker", "run", *given, str(incident.scenario), "--"]
    done = subprocess.run(
        [*run, *client, incident.reset], capture_output=True, text=True, timeout=_LIMIT_S, check=False
    )
    if done.returncode not in (0, CHECKS_FAILED):
        raise PlayError(done.stderr)
    return Played([Run(**json.loads(line)) for line in done.stdout.splitlines()], not done.returncode)
