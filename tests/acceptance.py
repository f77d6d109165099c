"""`make acceptance`: campaigns that take long, for a machine that has Java, Maven and nothing else to do.

Runs one after the other, or those that are named, goes on after a failure, and ends with a table: what came
of each, and how long it took. `--list` says what there is. Exit status 1 when one failed.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from rich.console import Console
from rich.table import Table

from mockbroker.conformance import ask
from mockbroker.rig.real_broker import RealCluster
from mockbroker.rig.setup import CLUSTER_SIZES, RELEASES

CORES: Final = os.cpu_count() or 1
ROOT: Final = Path(__file__).parent.parent
Command = tuple[str, ...]
out: Final = Console(highlight=False, markup=False, soft_wrap=True)


def python(module: str, *arguments: str) -> Command:
    return (sys.executable, "-m", module, *arguments)


_LARGEST: Final = ("--mode", "largest", "--memory", "1000000000", "--p99", "0.25", "--kept", "300")
"""Members and fetch sessions keep what they named for as long as they live."""
_THOROUGH: Final = ("--hypothesis-profile", "thorough")
_THROUGH: Final = (
    *_THOROUGH,
    "-q",
    "-n0",
    "--timeout=900",
    "tests/clients/test_group.py",
    "tests/clients/test_transactions.py",
)
_SEEDED: Final = ("tests/simulation", "tests/replication/test_histories.py", "tests/trace/test_reasons.py")
"""Properties that are tried by seeds, or by a state machine."""
_COMBINED: Final = tuple(f"tests/clients/test_{name}.py" for name in ("console", "group", "releases"))
_LEFT_OUT: Final = ("in_turn(", "one_in(", "BUILT_FOR_MINUTES")
_RECORDINGS: Final = ("tests/pipeline/test_recordings.py", "tests/pipeline/test_left_out.py")


def tests(*arguments: str) -> Command:
    return python("pytest", "-q", "-n", str(CORES), *arguments)


def differential(release: str, *arguments: str) -> Command:
    return python("mockbroker.conformance.differential", "--kafka", release, *arguments)


def that_have(*words: str) -> list[str]:
    """The files of tests that have one of these words."""
    files = [str(each.relative_to(ROOT)) for each in sorted((ROOT / "tests").rglob("test_*.py"))]
    return [each for each in files if any(word in (ROOT / each).read_text() for word in words)]


@dataclass(frozen=True)
class Campaign:
    """Commands that have to end with status 0."""

    what: str
    commands: tuple[Command, ...]


CAMPAIGNS: Final = {
    "clone": Campaign(
        "a fresh clone: set-up, `make test`, the examples of README and docs",
        (python("tests.acceptance", "--clone"),),
    ),
    "tutorials": Campaign(
        "each tutorial as it is written, installed from a fresh clone, with an empty home; one at a broker",
        (python("tests.docs.walking"), python("tests.docs.walking", "--real")),
    ),
    "orders": Campaign(
        "every test in two random orders, two workers a core",
        tuple(
            tests("-n", str(2 * CORES), "--dist", "loadgroup", f"--randomly-seed={seed}") for seed in (1, 2)
        ),
    ),
    "properties": Campaign(
        "every property with twenty times the examples of CI, and new ones each time",
        (
            tests("-m", "hypothesis", *_THOROUGH, "--timeout", "3600"),
            tests("-m", "not hypothesis", *_SEEDED, *_THOROUGH, "--timeout", "3600"),
        ),
    ),
    "incidents": Campaign(
        "every recorded incident is named; without some of its files nothing gets surer, or else is blamed",
        (tests(*_RECORDINGS, *_THOROUGH, "--dist", "loadgroup", "--timeout", "1800"),),
    ),
    "spark": Campaign(
        "Spark finds what DuckDB finds, with every search",
        (tests("tests/pipeline/test_engines.py", "--hypothesis-profile", "thorough", "--timeout", "1800"),),
    ),
    "rewinds": Campaign(
        "LinkedIn's two offset rewinds, and the right behaviours, with each release of Java's client",
        (tests("tests/studies/test_offset_rewinds.py", "--hypothesis-profile", "thorough"),),
    ),
    "traffic": Campaign(
        "what each client says to real brokers is recorded, and played to it, to a mock and to a real 3.9.2",
        (python("tests.recordings.traffic"),),
    ),
    "proxy": Campaign(
        "tests of four clients with real brokers behind the proxy, plain and TLS; 10,000 clients at once",
        (
            *(python("tests.proxy.through", *how, *_THROUGH) for how in ((), ("--tls",))),
            python("benchmarks.proxied"),
        ),
    ),
    "companions": Campaign(
        "200 tests with a cluster each in Go, Java and Node.js, and nothing left of them after a kill",
        (python("benchmarks.companions"),),
    ),
    "bundle": Campaign(
        "the larger standalone folder analyzes an incident where there is no Python",
        (python("tests.standalone.analyzing"),),
    ),
    "real": Campaign(
        "real brokers of every recorded release are asked all recorded questions, one broker and three",
        (python("tests.acceptance", "--real"),),
    ),
    "differential": Campaign(
        "2000 random sequences and 2000 malformed ones for each recorded release, a real broker beside",
        tuple(differential(release, *how) for release in RELEASES for how in ((), ("--malformed",))),
    ),
    "combinations": Campaign(
        "three clients with ten releases; three of Java, KafkaJS and the console's with every codec",
        (tests(*_COMBINED, *_THOROUGH, "--timeout", "1800"),),
    ),
    "drivers": Campaign(
        "a walk through all verbs with each driver that comes with mockbroker",
        (tests("tests/clients/drivers", "--timeout", "1800"),),
    ),
    "left-out": Campaign(
        "tests that commits try in turn in CI, and those of clients that are built from source for minutes",
        (tests(*that_have(*_LEFT_OUT), *_THOROUGH, "--dist", "loadgroup", "--timeout", "3600"),),
    ),
    "hunt": Campaign(
        "1,000 random workloads with the Java client: nothing is violated",
        (python("mockbroker", "hunt", "--client", "java", "--seeds", "1000"),),
    ),
    "right-client": Campaign(
        "500 random workloads with the client of the hunt's own tests that is right: nothing is violated",
        (python("tests.clients.hunt.right_client", "1-500"),),
    ),
    "soak": Campaign(
        "four clients move records exactly once through 50 seeds of faults each",
        (python("studies.exactly_once", "--fixed", "yes", "--seeds", "50"),),
    ),
    "churn": Campaign(
        "50 members of three clients join and leave for a minute while their coordinator moves; 3.9 and 4.4",
        (python("tests.clients.churn"),),
    ),
    "matrix": Campaign(
        "14 releases of Java and librdkafka with the consumer protocol: mocks of six releases, real brokers",
        (python("tests.clients.matrix"),),
    ),
    "kafka-19902": Campaign(
        "the mechanisms of KAFKA-19902 with real clients, also with every other answer of the broker",
        (python("studies.kafka_19902", "--thorough"),),
    ),
    "fuzz": Campaign(
        "500,000 requests that nobody should send, and 20,000 to a process that serves",
        (
            python("mockbroker.conformance.fuzz", "run", "--inputs", "500000"),
            python("mockbroker.conformance.fuzz", "served"),
        ),
    ),
    "largest": Campaign(
        "100,000 of the largest requests to a process of 1 GB, 10,000 of them traced and captured",
        (
            python("mockbroker.conformance.fuzz", "served", *_LARGEST, "--inputs", "90000"),
            python("mockbroker.conformance.fuzz", "served", *_LARGEST, "--inputs", "10000", "--recording"),
        ),
    ),
    "week": Campaign(
        "a week of traffic in virtual time: what is kept must not grow; nothing is told of a quiet week",
        (
            python("benchmarks.week"),
            tests("tests/pipeline/test_quiet_week.py", *_THOROUGH),
        ),
    ),
    "explore": Campaign(
        "100,000 seeded histories of 4.4 with every fix: no violation",
        (python("mockbroker", "explore", "--kafka", "4.4", "--fixed", "yes", "--seeds", "100000"),),
    ),
}


def run(names: Sequence[str]) -> int:
    """Runs campaigns. How many failed."""
    table = Table("campaign", "outcome", "took", "what")
    failed = 0
    for name in names:
        campaign = CAMPAIGNS[name]
        out.rule(f"{name}: {campaign.what}")
        began = time.monotonic()
        statuses = [
            subprocess.run(command, cwd=ROOT, check=False).returncode for command in campaign.commands
        ]
        good = not any(statuses)
        failed += not good
        table.add_row(name, "good" if good else f"FAILED: {statuses}", took(began), campaign.what)
    out.print(table)
    return failed


def took(began: float) -> str:
    minutes, seconds = divmod(round(time.monotonic() - began), 60)
    return f"{minutes} min {seconds:02} s"


def walk_a_clone() -> int:
    """What a newcomer does first, with the time of each step. How many steps failed."""
    failed = 0
    with tempfile.TemporaryDirectory(prefix="mockbroker-clone-") as folder:
        steps = (
            ("git", "clone", "--quiet", str(ROOT), folder),
            ("make", "-C", folder, "setup-dev"),
            ("make", "-C", folder, "test"),
            ("make", "-C", folder, "test", "ARGS=-n0 tests/docs"),
        )
        for step in steps:
            began = time.monotonic()
            failed += subprocess.run(step, check=False).returncode != 0
            out.print(f"{' '.join(step)}: {took(began)}")
    return failed


def ask_real_brokers() -> int:
    """Whether the recordings are what real brokers answer. How many answers differ."""
    different = 0
    for release in RELEASES:
        for brokers in CLUSTER_SIZES:
            with RealCluster(release, brokers) as cluster:
                results = ask(cluster.bootstrap_servers, release)
            wrong = [f"{each.question} v{each.version}" for each in results if not each.equal]
            out.print(
                f"{release}, {brokers} brokers: {len(results)} answers, not as recorded: {wrong or 'none'}"
            )
            different += len(wrong)
    return different


def main() -> int:
    parser = argparse.ArgumentParser(prog="make acceptance", description=__doc__)
    parser.add_argument("campaign", nargs="*", help=f"of {', '.join(CAMPAIGNS)}; all by default")
    parser.add_argument("--list", action="store_true", help="say what there is")
    parser.add_argument("--clone", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--real", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if unknown := [name for name in given.campaign if name not in CAMPAIGNS]:
        parser.error(f"no campaign {unknown[0]!r}: choose of {', '.join(CAMPAIGNS)}")
    if given.list:
        for name, campaign in CAMPAIGNS.items():
            out.print(f"{name:13} {campaign.what}")
        return 0
    failed = (
        walk_a_clone()
        if given.clone
        else ask_real_brokers()
        if given.real
        else run(given.campaign or [*CAMPAIGNS])
    )
    return min(failed, 1)


if __name__ == "__main__":
    sys.exit(main())
