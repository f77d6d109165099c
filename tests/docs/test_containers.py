"""What tests with Testcontainers do, as `docs/migrating.md` says it here: each row is run."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from mockbroker import MockCluster
from mockbroker.cluster.cluster import Cluster
from mockbroker.cluster.liveness import Liveness

from ..driving.asking import Asking
from ..driving.clients import raw_client
from ..driving.tables import rows, run_row

ROOT = Path(__file__).parents[2]
ROWS = rows("migrating.md", "test runs each line:")
OTHERS = re.findall(
    r"^\| \[?(Java|Go|Node\.js)(?:\]\(.*?\))? \| .+ \| `(.+)` \|$",
    (ROOT / "docs" / "migrating.md").read_text(),
    re.MULTILINE,
)
TESTS = {"Java": "java/**/src/test/**/*.java", "Go": "go/**/*_test.go", "Node.js": "node/**/*.test.js"}


@pytest.fixture
def cluster() -> Iterator[MockCluster]:
    with MockCluster(topics={"orders": 3}) as running:
        running.produce("orders", "order 1", partition=0)
        yield running


def made(found: Callable[[Cluster], bool]) -> Callable[[MockCluster, Any], bool]:
    def check(_: MockCluster, another: MockCluster) -> bool:
        with another:
            return another.run(found)

    return check


def held(cluster: MockCluster, fault: Any) -> bool:
    with raw_client(cluster) as client:
        pending = client.send("heartbeat", 3, {"group_id": "billing"})
        fault.wait()
        count = fault.held
        fault.release()
        client.receive(pending)
    return bool(count == 1)


def broker_is(liveness: Liveness) -> Callable[[MockCluster, Any], bool]:
    return lambda cluster, _: cluster.run(lambda core: core.brokers[1].liveness is liveness)


CHECKS: list[Callable[[MockCluster, Any], object]] = [
    made(lambda core: str(core.release) == "3.9"),
    made(lambda core: core.configs.broker_int("num.partitions") == 6),
    lambda _, servers: len(servers.split(",")) == 3,
    lambda _, topic: len(topic.partitions) == 6,
    lambda _, values: values == [b"order 1"],
    lambda _, committed: committed["orders", 0].offset == 1,
    held,
    broker_is(Liveness.KILLED),
    lambda cluster, _: Asking(cluster).is_up(1),
    lambda cluster, _: cluster.clock.now_ms >= time.time() * 1000 + 290_000,
]


def test_every_row_has_a_check() -> None:
    assert len(ROWS) == len(CHECKS)
    assert {language for language, _ in OTHERS} == set(TESTS)


@pytest.mark.parametrize(("row", "check"), list(zip(ROWS, CHECKS, strict=False)))
def test_a_row(cluster: MockCluster, row: str, check: Callable[[MockCluster, Any], object]) -> None:
    assert check(cluster, run_row(ROWS[row], cluster=cluster, MockCluster=MockCluster))


@pytest.mark.parametrize(("language", "code"), OTHERS)
def test_a_row_of_another_language_stands_in_the_tests_of_its_companion(language: str, code: str) -> None:
    tests = [path.read_text() for path in (ROOT / "companions").glob(TESTS[language])]
    assert any(code in each for each in tests)
