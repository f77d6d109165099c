"""A scenario that is played for as long as a proxy runs."""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

import trio

from ..control.target import Target
from ..scenario import elsewhere
from ..scenario.playing import Ended, Player, Tell
from ..scenario.scenario import Scenario
from .controlling import OFFERED
from .faults import check

_STAGE: Final = elsewhere.Stage(
    OFFERED,
    "needs the cluster itself, which a proxy does not control: leave it out and use the cluster's own tools, "
    f"or play the scenario on a mock (mockbroker run); a proxy can do: {', '.join(sorted(OFFERED))}",
    "the cluster decides for itself: leave them out, and give the proxy those that it can decide (--policy)",
    check,
)


def load(path: Path) -> Scenario:
    """Reads a scenario for a proxy. ScenarioError."""
    return elsewhere.load(path, _STAGE)


class Playing:
    """One scenario, from when it is started until it is told that the proxy ends."""

    def __init__(self, scenario: Scenario, target: Target, tell: Tell) -> None:
        self._player = Player(scenario, tell, beside="the proxy")
        self._target = target
        self._over, self._checked = trio.Event(), trio.Event()
        self._status: trio.TaskStatus[None]
        if any(scenario.cluster.values()):
            tell("[cluster] is left aside: the cluster is there already, and so have to be its topics")

    @property
    def failures(self) -> list[str]:
        """What has failed so far."""
        return self._player.failures

    async def run(self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Is started once the faults are there. FaultError, ConflictError before."""
        self._status = task_status
        await self._player.perform(self._target, self, {})
        await self._player.check(self._target)
        self._checked.set()

    async def finish(self) -> None:
        """Ends it, and returns when everything is checked."""
        self._over.set()
        await self._checked.wait()

    # -- what the player plays beside

    async def start(self, _environment: Mapping[str, str]) -> None:
        """Nothing: the proxy runs already."""
        self._status.started()

    async def wait(self) -> Ended:
        """For the proxy's end."""
        await self._over.wait()
        return Ended(0)

    async def end(self) -> None:
        """Nothing: clients are not the proxy's business."""
