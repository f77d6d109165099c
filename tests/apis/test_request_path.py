"""No request becomes dearer unnoticed: what it costs between two looks at the sockets is kept, counted.

`request_path.toml` has the numbers by version of Python. Growth of 5 % or more has to be worth it, and gets a
line in the changelog; what was saved is kept too, so that it isn't lost again.
"""

import os
import sys
from pathlib import Path

import pytest

from benchmarks import request_path
from benchmarks.counting import Cost
from benchmarks.request_path import COMMAND, PYTHON, ROWS, TABLE, changes, kept, measure, write
from mockbroker.server.sockets import ClientSocket, ClientSockets

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="counts calls of epoll")


@pytest.fixture
def numbers() -> dict[str, Cost]:
    """What is kept for this Python."""
    found = kept()
    if found is None:
        say = f"{TABLE.name} has no numbers for Python {PYTHON}: `{COMMAND}` measures them"
        if os.environ.get("CI"):
            pytest.fail(say, pytrace=False)
        pytest.skip(say)
    return found


@pytest.mark.parametrize("name", ROWS)
def test_a_request_costs_what_it_did(name: str, numbers: dict[str, Cost]) -> None:
    assert name in numbers, f"not in {TABLE.name}: `{COMMAND}`"
    if found := changes(numbers[name], measure(name)):
        pytest.fail(
            f"{name} costs something else than before:\n  "
            + "\n  ".join(found)
            + "\nIf more is worth it, say in a line of CHANGELOG.md what it buys. Then, as where it is less, "
            f"keep the numbers: `{COMMAND}`, with each Python that {TABLE.name} has.",
            pytrace=False,
        )


def test_what_is_kept_are_the_requests_that_are_measured(numbers: dict[str, Cost]) -> None:
    assert list(numbers) == list(ROWS)


def test_it_is_counted_the_same_each_time() -> None:
    assert measure("produce") == measure("produce")


@pytest.fixture
def settling(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What the broker does once more whenever it settles a socket."""
    more: list[str] = []
    settle = ClientSockets.settle

    def dearer(self: ClientSockets, peer: ClientSocket) -> None:
        settle(self, peer)
        if "system call" in more:
            peer.sock.getsockname()  # type: ignore[union-attr]
        if "C calls" in more:
            _ = len(more), len(more), len(more)
        if "Python" in more:
            sum(each for each in range(20))

    monkeypatch.setattr(ClientSockets, "settle", dearer)
    return more


@pytest.mark.parametrize(
    ("more", "seen"),
    [("system call", "system_calls"), ("C calls", "c_calls"), ("Python", "opcodes")],
)
def test_one_more_is_seen(more: str, seen: str, settling: list[str]) -> None:
    before = measure("offset-for-leader-epoch")
    settling.append(more)
    found = changes(before, measure("offset-for-leader-epoch"))
    assert seen.replace("_", " ") in [each.partition(":")[0] for each in found]


@pytest.mark.parametrize(
    ("now", "count"),
    [
        (Cost(1000, 40, 2), 0),
        (Cost(1049, 41, 2), 0),
        (Cost(1050, 40, 2), 1),
        (Cost(1000, 42, 3), 2),
        (Cost(940, 40, 2), 1),
    ],
)
def test_five_percent_is_too_much(now: Cost, count: int) -> None:
    assert len(changes(Cost(1000, 40, 2), now)) == count


def test_the_numbers_of_another_python_stay(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(request_path, "TABLE", tmp_path / "table.toml")
    assert kept() is None
    one, other = {"produce": Cost(3, 2, 1)}, {"produce": Cost(6, 5, 4)}
    monkeypatch.setattr(request_path, "PYTHON", "3.9")
    write(one)
    monkeypatch.setattr(request_path, "PYTHON", "3.14")
    write(other)
    assert kept() == other
    monkeypatch.setattr(request_path, "PYTHON", "3.9")
    assert kept() == one
