"""Plays a plan by the wall clock."""

import queue
import re
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from typing import Final, TypeVar

from mockbroker.server.mock_cluster import MockCluster
from mockbroker.simulation import invariants
from mockbroker.simulation.consumer import State
from mockbroker.simulation.history import HAND_OVER_MS, calm_down
from mockbroker.simulation.ledger import Violation
from mockbroker.simulation.plan import Plan, Step
from mockbroker.simulation.scene import settings
from mockbroker.simulation.steps import STEPS
from mockbroker.simulation.timeline import STEP

from ...cluster_options import ClusterOptions, unchecked
from ..drivers.in_thread import Client
from .consumer import Consumer
from .missing import missing
from .producer import Producer
from .stage import Stage, Told
from .watching import Watch

T = TypeVar("T")
_SETTLE_MS: Final = 20_000
"""How long clients may take to reach the end once all is well again."""
_LOOK_S: Final = 0.05
_LIBRDKAFKA: Final = re.compile(r"%\d\|[\d.]+\|(\w+)\|[^|]*\| (\[thrd:[^]]*\]: )?")
"""What is before the text in a line that librdkafka logs; its first group is the facility."""
_OF_CONNECTIONS: Final = ("FAIL ", "ERROR ", "REQTMOUT ")


@dataclass(frozen=True, slots=True)
class Replayed:
    """The result with `client`; `missing` says what differed from the plan."""

    client: str
    violations: tuple[Violation, ...]
    missing: tuple[str, ...]


def play(plan: Plan, client: Client, told: Told = lambda *_: None) -> Replayed:
    """Takes as long as the history; `told` hears of it meanwhile, in this thread. ValueError if the client
    can't stand in the model's place."""
    lacks = tuple(missing(plan, client))
    options: ClusterOptions = {
        "kafka": unchecked(plan.kafka),
        "trace": True,
        "config": settings(plan),
        "policies": unchecked(plan.policies),
        "seed": plan.seed,
    }
    with MockCluster(**options) as cluster, ExitStack() as clients:
        play = _Play(plan, cluster, client, told, clients)
        play.to_the_end()
        return Replayed(client.name, tuple(play.stage.violations), lacks)


class _Play:
    def __init__(
        self, plan: Plan, cluster: MockCluster, client: Client, told: Told, clients: ExitStack
    ) -> None:
        self._plan, self._cluster, self._told = plan, cluster, told
        self._lines: queue.SimpleQueue[tuple[int, str, str]] = queue.SimpleQueue()
        faults = cluster.run_with_faults(lambda faults: faults)
        self.stage = stage = cluster.run(lambda core: Stage(plan, core, faults, self._line))
        cluster.trace.listen(Watch(stage))
        names = [each.name for each in (*stage.consumers, *stage.producers)]
        client.driver.printed = lambda line: self._printed(names, line)
        consumers = [
            clients.enter_context(closing(Consumer(client, cluster, stage, each.name, each.setting)))
            for each in stage.consumers
        ]
        self._producers = {
            each.name: clients.enter_context(
                closing(Producer(client, cluster, stage, each.name, each.setting))
            )
            for each in stage.producers
            if not each.setting.transactional
        }
        stage.consumers = [*consumers]
        stage.producers = [self._producers.get(each.name, each) for each in stage.producers]
        self._begun = time.monotonic()

    def to_the_end(self) -> None:
        for step in self._plan.steps:
            self._until(step.at_ms)
            self._do(step)
        end_ms = self._plan.steps[-1].at_ms if self._plan.steps else 0
        self._in_cluster(calm_down)
        self._until(end_ms + HAND_OVER_MS)
        self._in_cluster(lambda stage: stage.hand_over(commit=True) if stage.owner is None else None)
        self._until(end_ms + self._plan.quiet_ms)
        self._until(end_ms + self._plan.quiet_ms + _SETTLE_MS, lambda: self._in_cluster(self._settled))
        self._in_cluster(invariants.check_end)
        self._until(0)

    def _do(self, step: Step) -> None:
        def do(stage: Stage) -> None:
            stage.tell(STEP, step.in_words)
            STEPS[step.do].do(stage, step.args)

        self._in_cluster(do)

    def _settled(self, stage: Stage) -> bool:
        """Whether all is delivered and read."""
        owner = stage.owner
        read = owner is None or owner.state is State.FAILED
        if owner is not None and owner.position is not None:
            partition = stage.partition(owner.place)
            read |= partition.leader < 0 or owner.position.offset >= partition.log.high_watermark
        return read and not any(each.waiting and not each.failed for each in self._producers.values())

    def _in_cluster(self, action: Callable[[Stage], T]) -> T:
        return self._cluster.run(lambda _: action(self.stage))

    # -- time, and words

    def _printed(self, names: Sequence[str], line: str) -> None:
        """In the client's thread. Lines that don't name a client, or are about connections, are left out."""
        text = _LIBRDKAFKA.sub(r"\1 ", line)
        who = next((each for each in names if each in line), None)
        if who is not None and not text.startswith(_OF_CONNECTIONS):
            self._in_cluster(lambda stage: stage.tell(who, f"logs: {text}"))

    def _line(self, at_ms: int, who: str, what: str) -> None:
        self._lines.put((at_ms, who, what))

    def _until(self, at_ms: int, over: Callable[[], bool] = lambda: False) -> None:
        """Passes on what is said until then, or until it is `over`."""
        end = self._begun + at_ms / 1000
        while not over():
            left = end - time.monotonic()
            try:
                self._told(*self._lines.get(timeout=max(0, min(left, _LOOK_S))))
            except queue.Empty:
                if left <= 0:
                    return
