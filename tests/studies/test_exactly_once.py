"""Exactly-once applications with four clients, through seeded faults and through two that are set up."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from mockbroker import MockCluster
from mockbroker.clients.drivers.building import BuildError
from studies import exactly_once
from studies.exactly_once import APPLICATIONS, Application, Case, run
from studies.exactly_once.experiment import LIMIT_S

from .. import needs

SEEDS = range(3)
"""For each of the four clients; `make soak` has more."""
HANG_S = 15.0
SLOW_S = 3 * LIMIT_S
"""All seeds run at once, beside other tests."""


@pytest.fixture(scope="module")
def make() -> Iterator[Callable[[str], Application]]:
    """The application in a client; one of each for all tests here."""
    made: dict[str, Application] = {}

    def get(name: str) -> Application:
        if name not in made:
            try:
                made[name] = exactly_once.make(name)
            except BuildError as error:
                needs.missing(str(error))
        return made[name]

    yield get
    for each in made.values():
        each.stop()


@pytest.mark.parametrize("client", APPLICATIONS)
def test_with_every_known_bug_off(make: Callable[[str], Application], client: str) -> None:
    application = make(client)
    cases = [
        Case("4.4", seed, fixed=True).for_client(bumps_epochs=application.bumps_epochs) for seed in SEEDS
    ]
    with ThreadPoolExecutor(len(SEEDS)) as pool:  # they wait for timeouts, most of the time
        ended = pool.map(lambda case: str(run(application, case, limit_s=SLOW_S)), cases)
        outcomes = dict(zip(SEEDS, ended, strict=True))
    assert outcomes == dict.fromkeys(SEEDS, "exactly once")


@pytest.fixture
def then() -> Iterator[Callable[[Callable[[], None]], None]]:
    """Starts what is to happen beside the application, and waits for it at the end."""
    threads: list[threading.Thread] = []

    def start(play: Callable[[], None]) -> None:
        threads.append(threading.Thread(target=play))
        threads[-1].start()

    yield start
    for each in threads:
        each.join()


Then = Callable[[Callable[[], None]], None]


@pytest.mark.parametrize(
    ("client", "verification", "expected"),
    [
        ("java-4.4", "none", "stuck"),
        ("java-4.4", "added", "exactly once"),
        ("java-3.9", "none", "stuck"),
        ("java-3.9", "added", "exactly once"),
    ],
)
def test_a_late_offset_commit(
    make: Callable[[str], Application], then: Then, client: str, verification: str, expected: str
) -> None:
    """KIP-890, part 1: carried out after its transaction it is part of the next one, the offset goes back."""

    def arrange(cluster: MockCluster) -> None:
        late = cluster.faults.add("hold", api="TxnOffsetCommit", nth=3)
        end = cluster.faults.add("hold", api="EndTxn", nth=6, when="after")

        def play() -> None:
            end.wait()
            late.release()
            end.release()

        then(play)

    case = Case("3.5", 0, {"transaction-verification": verification})
    limit_s = HANG_S if expected == "stuck" else LIMIT_S
    outcome = run(make(client), case, arrange=arrange, limit_s=limit_s)
    assert outcome.kind == expected, outcome


@pytest.mark.parametrize(
    ("client", "expected"),
    [("java-3.9", "duplicated"), ("java-4.4", "exactly once"), ("confluent-kafka", "duplicated")],
)
def test_a_late_end(make: Callable[[str], Application], then: Then, client: str, expected: str) -> None:
    """KIP-890, part 2: it commits half of the next transaction, unless each has an epoch of its own."""

    def arrange(cluster: MockCluster) -> None:
        late = cluster.faults.add("hold", api="EndTxn", nth=3)
        half = cluster.faults.add("hold", api="TxnOffsetCommit", nth=4)

        def play() -> None:
            half.wait()
            late.release()
            half.release()

        then(play)

    outcome = run(make(client), Case("4.4", 0), arrange=arrange)
    assert outcome.kind == expected, outcome
