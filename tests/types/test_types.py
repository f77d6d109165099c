"""What type checkers say of a user's file: an error at each name that is misspelt, and of no other."""

import re
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
from mypy import api

import mockbroker
from docs import names
from mockbroker import ClusterOptions
from mockbroker.server.options import Options

ROOT = Path(mockbroker.__file__).parent.parent

RIGHT = """
import mockbroker
import pytest
from mockbroker import Behaviours, ClusterFactory, ClusterOptions, Fault, FaultHandle, InstalledAnswer
from mockbroker import MockBrokerError, MockCluster, MockProxy, ReleaseName, mark, mark_matrix, mark_proxy
from mockbroker import unchecked

OLD: ReleaseName = "0.11"
COMMON: ClusterOptions = {"kafka": OLD, "brokers": 2, "topics": {"orders": 3}}
LOST: Fault = {"name": "lost", "do": "disconnect", "api": "Produce", "when": "after", "optional": True}
FAULTS: list[Fault] = [
    LOST,
    {"do": "error", "error": "NOT_LEADER_OR_FOLLOWER", "api": ["Produce", 1], "level": "partition"},
    {"do": "error", "error": ["NOT_COORDINATOR", "NONE", 9999], "api": "Heartbeat", "group": "billing"},
    {"do": "delay", "ms": 10, "topic": "orders-*", "broker": 1, "probability": 0.5, "seed": 7},
    {"do": "replace", "api": "Fetch", "field": "preferred_read_replica", "value": 2, "version": [11, 12]},
]
for fault in FAULTS:
    fault["optional"] = True


class Halfway:
    def __call__(self, latest_epoch: int, log_end_offset: int) -> tuple[int, int]:
        return latest_epoch, log_end_offset // 2


OWN: Behaviours = {"undefined-epoch": Halfway(), "session-use": True, "duplicate-window": "1"}


def all_of_it(handle: FaultHandle | None = None) -> None:
    with MockCluster(
        kafka="3.9", host="127.0.0.1", port=0, config={"num.partitions": "3"}, policies=OWN, seed=7,
        racks={1: "a"},
        fixed=True, trace=False, clock="manual", control=True, control_token="secret", faults=FAULTS,
        capture=None, topics={"orders": 3},
    ) as cluster:
        handle = cluster.faults.add("hold", api="Fetch", topic="orders")
        handle.release()
        cluster.on(["Fetch", 0], lambda request: request.error("NOT_LEADER_OR_FOLLOWER"), optional=True)
        assert cluster.trace.events("request", api="Fetch") == []
        assert cluster.records("orders", isolation_level="read_committed") == []
        cluster.policies.set("undefined-epoch", "log-end-offset", topic="orders", broker=1)
        cluster.policies.set("undefined-epoch", Halfway())
        cluster.policies.reset("undefined-epoch")
        assert cluster.policies.answer("undefined-epoch", topic="orders") == "log-end-offset"
    with MockCluster(**COMMON) as cluster:
        pass
    with MockCluster(policies=unchecked({"undefined-epoch@topic:orders": "log-end-offset"})):
        pass
    try:
        MockCluster(policies={"undefined-epoch": InstalledAnswer("halfway")}).start()
    except MockBrokerError as error:
        assert "halfway" in str(error)


@mark(kafka="2.3", faults=[LOST])
@mark_matrix(kafka=["2.3", "4.4"], fixed="both")
def test_marked(mock_cluster: MockCluster, mock_cluster_factory: ClusterFactory) -> None:
    mock_cluster_factory(kafka="2.3", clock="manual").faults.add("disconnect", api="Produce", optional=True)


@mark_proxy(upstream="staging:9092", kafka="2.8", faults=[LOST], policies=OWN, scenario="lost.toml")
def test_proxied(mock_proxy: MockProxy) -> None:
    mock_proxy.add_fault("disconnect", api="Produce")


async def in_trio() -> None:
    async with mockbroker.serve(kafka="2.3", policies={"undefined-epoch": "log-end-offset"}) as cluster:
        cluster.faults.add("disconnect", api="Produce")
"""

WRONG = """
import mockbroker
from mockbroker import Behaviours, ClientRequest, ClusterFactory, Fault, MockCluster, MockProxy
from mockbroker import mark, mark_matrix, mark_proxy
from mockbroker.policies import Policies
from mockbroker.policies.controller.election import election
from mockbroker.policies.epochs.undefined_epoch import undefined_epoch

MockCluster(brokrs=1)  # E
MockCluster(brokers="1")  # E
MockCluster(kafka="3.99")  # E
MockCluster(clock="manul")  # E
MockCluster(topics={"orders": "6"})  # E
MockCluster(policies={"undefined-epochs": "undefined"})  # E
MockCluster(policies={"undefined-epoch": "log-end-ofset"})  # E
MockCluster(policies={"undefined-epoch": "kept"})  # E
MockCluster(policies={"undefined-epoch": lambda epoch: epoch})  # E
MockCluster(faults=[{"do": "diskonnect"}])  # E
MockCluster(faults=[{"api": "Produce"}])  # E
MockCluster(faults=[{"do": "disconnect", "topik": "t"}])  # E
MockCluster(faults=[{"do": "disconnect", "api": "Produse"}])  # E
MockCluster(faults=[{"do": "disconnect", "api": ["Produse"]}])  # E
MockCluster(faults=[{"do": "disconnect", "when": "aftr"}])  # E
MockCluster(faults=[{"do": "disconnect", "times": "1"}])  # E
MockCluster(faults=[{"do": "error", "error": "NOT_LEEDER_OR_FOLLOWER"}])  # E
MockCluster(faults=[{"do": "error", "error": ["NONE", "NOT_LEEDER_OR_FOLLOWER"]}])  # E
MockCluster(faults=[{"do": "error", "error": "NONE", "level": "partitoin"}])  # E
MockProxy("staging:9092", kafka="3.99")  # E
own: Behaviours = {"sesion-use": True}  # E
lost: Fault = {"do": "disconect"}  # E


def look(request: ClientRequest) -> None:
    request.error("NOT_LEEDER_OR_FOLLOWER")  # E
    request.error("NONE", level="partitoin")  # E


def the_core_asks(policies: Policies) -> None:
    assert policies[election] == "uncleen"  # E
    policies[undefined_epoch](1)  # E
    policies["election"]  # E


def test_a_running_cluster(cluster: MockCluster, make: ClusterFactory) -> None:
    cluster.faults.add("diskonnect")  # E
    cluster.faults.add("disconnect", topik="t")  # E
    cluster.faults.add("disconnect", api="Produse")  # E
    cluster.faults.add("disconnect", when="aftr")  # E
    cluster.faults.add("error", error="NOT_LEEDER_OR_FOLLOWER")  # E
    cluster.on("Produse", look)  # E
    cluster.on(["Produse"], look)  # E
    cluster.on("Produce", look, topik="t")  # E
    cluster.trace.events("requst")  # E
    cluster.trace.wait("requst", api="Produce")  # E
    cluster.records("orders", isolation_level="read_commited")  # E
    cluster.policies.set("undefined-epochs", "undefined")  # E
    cluster.policies.set("undefined-epoch", "log-end-ofset")  # E
    cluster.policies.reset("undefined-epochs")  # E
    cluster.policies.answer("undefined-epochs")  # E
    make(brokrs=1)  # E
    make(kafka="3.99")  # E


@mark_proxy(fault=[])  # E
def test_proxied(mock_proxy: MockProxy) -> None:
    pass


@mark(kafka="3.99")  # E
@mark(fault=[])  # E
@mark_matrix(kafka=["3.9", "3.99"])  # E
@mark_matrix(fixed="bth")  # E
def test_marked(mock_cluster: MockCluster) -> None:
    pass


async def in_trio() -> None:
    async with mockbroker.serve(brokrs=1) as cluster:  # E
        cluster.faults.add("diskonnect")  # E
    async with mockbroker.serve(kafka="3.99"):  # E
        pass
"""


@pytest.fixture(scope="module")
def errors(
    tmp_path_factory: pytest.TempPathFactory, pytestconfig: pytest.Config
) -> Callable[[str], dict[int, str]]:
    """What mypy says of a file, by line. It takes seconds once, for the package; then a moment."""
    folder = tmp_path_factory.mktemp("types")
    (folder / "test_right.py").write_text(RIGHT)
    (folder / "test_wrong.py").write_text(WRONG)
    assert pytestconfig.cache is not None
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setenv("MYPYPATH", str(ROOT))
        cache = str(pytestconfig.cache.mkdir("mypy"))
        options = ["--config-file=", "--strict", "--follow-imports=silent", "--hide-error-context"]
        out, err, _ = api.run([*options, "--cache-dir", cache, "test_right.py", "test_wrong.py"])
    assert not err
    found = re.findall(r"^(\w+\.py):(\d+): error: (.*)$", out, re.MULTILINE)
    return lambda name: {int(line): text for path, line, text in found if path == name}


def test_a_file_without_mistakes(errors: Callable[[str], dict[int, str]]) -> None:
    assert errors("test_right.py") == {}


def test_each_mistake_is_an_error_and_nothing_else(errors: Callable[[str], dict[int, str]]) -> None:
    marked = {number for number, line in enumerate(WRONG.splitlines(), 1) if line.endswith("# E")}
    assert len(marked) > 30
    assert set(errors("test_wrong.py")) == marked


def test_no_error_lists_all_names_twice(errors: Callable[[str], dict[int, str]]) -> None:
    told = errors("test_wrong.py").values()
    assert not [
        each for each in told if each.count("'NOT_LEADER_OR_FOLLOWER'") > 1 or each.count("'Fetch'") > 1
    ]


def test_a_file_without_mistakes_runs() -> None:
    module: dict[str, Any] = {"__name__": "right"}
    exec(RIGHT, module)
    module["all_of_it"]()


# -- that there is one list of each


def test_names_are_up_to_date() -> None:
    assert names.TARGET.read_text() == names.text(), "run `make docs`"


def test_the_options_are_those_of_a_cluster() -> None:
    assert [each.name for each in fields(Options)] == list(ClusterOptions.__annotations__)
