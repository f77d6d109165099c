"""Scenarios that are played while nothing runs: no process, and hours go by in no time."""

from collections.abc import Mapping
from pathlib import Path
from signal import Signals

import pytest
import trio
from trio.testing import MockClock

from mockbroker.scenario.playing import CHECKS_FAILED, Ended, Player
from mockbroker.scenario.scenario import load

SCENARIO = """\
[cluster]
brokers = 2

[[step]]
after = "1h"
do = "brokers stop"
broker = 2

[[step]]
after = "3h"
do = "brokers start"
broker = 2
optional = true

[[check]]
do = "brokers list"
expect = [{ id = 2, state = "stopped" }]
"""


class Sleeper:
    """Runs for so long, and does nothing."""

    def __init__(self, hours: float, ended: Ended) -> None:
        self._hours, self._ended = hours, ended
        self.environment: Mapping[str, str] = {}
        self.over = False

    async def start(self, environment: Mapping[str, str]) -> None:
        self.environment = environment

    async def wait(self) -> Ended:
        await trio.sleep(self._hours * 3600)
        return self._ended

    async def end(self) -> None:
        self.over = True


def play(folder: Path, text: str, sleeper: Sleeper) -> tuple[int, list[str]]:
    """The status, and what was said."""
    path = folder / "scenario.toml"
    path.write_text(text)
    said: list[str] = []
    player = Player(load(path), lambda line: said.append(line.partition(" s  ")[2]))
    clock = MockClock(autojump_threshold=0.01)
    status = trio.run(player.play, sleeper, clock=clock)
    assert sleeper.over
    return status, said


@pytest.mark.parametrize(
    ("hours", "status", "steps"), [(0.5, CHECKS_FAILED, 0), (2, 0, 1), (4, CHECKS_FAILED, 2)]
)
def test_steps_come_at_their_time_and_checks_at_the_end(
    tmp_path: Path, hours: float, status: int, steps: int
) -> None:
    done, said = play(tmp_path, SCENARIO, Sleeper(hours, Ended(0)))
    assert done == status, said
    both = ["brokers stop broker=2", "brokers start broker=2"]
    assert [line for line in said if line in both] == both[:steps]
    assert ("FAILED brokers stop broker=2: the command ended before this step was due" in said) == (hours < 1)


def test_what_runs_finds_the_cluster_by_its_environment(tmp_path: Path) -> None:
    sleeper = Sleeper(2, Ended(0))
    _, said = play(tmp_path, SCENARIO, sleeper)
    brokers = sleeper.environment["BOOTSTRAP_SERVERS"]
    assert brokers.count(":") == 2
    assert said[0].endswith(f" at {brokers}")
    assert sleeper.environment["MOCKBROKER_CONTROL"].startswith("http://127.0.0.1:")


def test_a_status_of_its_own_goes_before_checks_that_fail(tmp_path: Path) -> None:
    assert play(tmp_path, SCENARIO, Sleeper(4, Ended(7)))[0] == 7


def test_nothing_is_checked_after_a_signal(tmp_path: Path) -> None:
    status, said = play(tmp_path, SCENARIO, Sleeper(4, Ended(130, Signals.SIGINT)))
    assert status == 130
    assert said[-1] == "SIGINT came: nothing is checked"


def test_what_can_not_be_started_is_what_is_raised(tmp_path: Path) -> None:
    class Missing(Sleeper):
        async def start(self, environment: Mapping[str, str]) -> None:
            self.over = True
            raise FileNotFoundError("no such command")

    with pytest.raises(BaseException) as raised:  # noqa: PT011
        play(tmp_path, SCENARIO, Missing(0, Ended(0)))
    error: BaseException = raised.value
    while isinstance(error, BaseExceptionGroup):
        (error,) = error.exceptions
    assert isinstance(error, FileNotFoundError)


def test_steps_that_are_due_at_the_same_time_are_done_in_the_order_of_the_file(tmp_path: Path) -> None:
    names = [f"t{number}" for number in range(8)]
    steps = [f'[[step]]\nafter = "1h"\ndo = "topics create"\ntopic = "{name}"\n' for name in names]
    status, said = play(tmp_path, "\n".join(steps), Sleeper(2, Ended(0)))
    assert status == 0
    assert [line for line in said if line.startswith("topics")] == [f"topics create topic={n}" for n in names]


def test_a_step_that_fails_does_not_keep_the_next_from_being_done(tmp_path: Path) -> None:
    text = "\n".join(f'[[step]]\nafter = "1h"\ndo = "brokers stop"\nbroker = {broker}\n' for broker in (9, 2))
    status, said = play(tmp_path, text, Sleeper(2, Ended(0)))
    assert status == CHECKS_FAILED
    assert "brokers stop broker=2" in said


EARLY = """\
[cluster]
brokers = 2

[[step]]
after = "1h"
do = "brokers stop"
broker = 2

[[check]]
after = "1h"
do = "brokers list"
expect = [{ id = 2, state = "STATE" }]
within = "1s"
"""


@pytest.mark.parametrize(
    ("state", "status", "result"),
    [
        ("running", 0, "brokers list: as expected"),
        ("stopped", CHECKS_FAILED, "FAILED brokers list: expected "),
    ],
)
def test_a_check_sees_the_cluster_before_the_steps_of_its_moment(
    tmp_path: Path, state: str, status: int, result: str
) -> None:
    done, said = play(tmp_path, EARLY.replace("STATE", state), Sleeper(2, Ended(0)))
    assert done == status, said
    checked, stopped = said[1:3]
    assert checked.startswith(result)
    assert stopped == "brokers stop broker=2"


@pytest.mark.parametrize(("state", "hours"), [("running", 0.5), ("stopped", 1.0001)])
def test_a_check_that_was_not_finished_fails(tmp_path: Path, state: str, hours: float) -> None:
    done, said = play(tmp_path, EARLY.replace("STATE", state), Sleeper(hours, Ended(0)))
    assert done == CHECKS_FAILED
    assert "FAILED brokers list: the command ended before this was checked" in said


def test_a_fault_that_does_what_no_broker_does_is_told_once(tmp_path: Path) -> None:
    fault = '[[fault]]\nname = "odd"\ndo = "reorder"\noptional = true\n'
    _, said = play(tmp_path, fault, Sleeper(1, Ended(0)))
    told = "fault 'odd': a broker answers the requests of a connection in the order in which they came"
    assert said.count(told) == 1
