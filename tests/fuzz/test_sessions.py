"""A part of `make fuzz`: the sessions of a few seeds, in a process with little memory."""

import gc
import itertools
import struct
import subprocess
import sys
from pathlib import Path

import pytest

from mockbroker.conformance.fuzz import largest
from mockbroker.conformance.fuzz.dialogue import Finding
from mockbroker.conformance.fuzz.good import PATIENCE_SECONDS, Longest
from mockbroker.conformance.fuzz.modes import Maker
from mockbroker.conformance.fuzz.playing import explore
from mockbroker.conformance.fuzz.served import Limits, Result, judge
from mockbroker.conformance.fuzz.values import Known
from mockbroker.protocol.codecs import codec

MEMORY = 2_000_000 * 1024
"""As `ulimit -v 2000000` has it."""


@pytest.mark.long
def test_a_broker_goes_on_whatever_comes(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "mockbroker.conformance.fuzz", "run", "--jobs", "1", "--inputs", "3000"]
    command += ["--memory", str(MEMORY), "--write", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=250, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "3000 inputs" in done.stdout


@pytest.fixture
def own_garbage() -> None:
    """What other tests have left takes the collector seconds, which would count here. All stays frozen."""
    gc.collect()
    gc.freeze()


@pytest.mark.usefixtures("own_garbage")
@pytest.mark.parametrize("seed", [0, 1, 7])
def test_the_largest_requests_are_answered_in_parts(seed: int) -> None:
    """Names in them occur again and again."""
    session, finding = explore("largest", seed, most_entries=1000)
    assert finding is None, finding
    assert len(session.steps) > 50


def test_the_largest_requests_are_readable() -> None:
    """One that is refused would test nothing."""
    maker = Maker("largest", 0, Known(), 0)
    maker.kafka = "4.4"
    for frame in itertools.islice(largest.frames(maker, 500), 300):
        key, version, _, client_id = struct.unpack_from(">hhih", frame)
        codec(key, version).decode(frame, 10 + max(0, client_id))


def test_a_server_goes_on_and_a_good_client_hardly_waits() -> None:
    command = [sys.executable, "-m", "mockbroker.conformance.fuzz", "served", "--inputs", "700"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=250, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "700 inputs" in done.stdout


@pytest.mark.parametrize(
    ("result", "kind"),
    [
        (Result(beside=Longest(1.5, 1.2)), "stall"),
        (Result(beside=Longest(PATIENCE_SECONDS + 1, 0.1)), "stall"),
        (Result(beside=Longest(0.5, 0.1, p99=0.3)), "stall"),
        (Result(grew_bytes=51 << 20), "growth"),
    ],
)
def test_a_server_that_is_not_as_it_should_be(result: Result, kind: str) -> None:
    limits = Limits(MEMORY, 1.0, 0.25)
    judge(Result(beside=Longest(1.5, 0.9, p99=0.2), grew_bytes=49 << 20), limits)
    with pytest.raises(Finding, match=kind):
        judge(result, limits)


def test_a_client_that_gets_no_processor_does_not_wait_for_the_server() -> None:
    waited = Longest()
    waited.add(6.0, 1.5, late=5.8)
    assert waited.wall == 6.0
    assert waited.processor == pytest.approx(0.2)
