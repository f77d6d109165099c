"""What is misspelt is named, with the nearest right name, in one line, wherever it is given."""

from __future__ import annotations

import os
import re
import socket
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import mockbroker
from mockbroker import MockBrokerError, MockCluster, PortInUseError

from .cli import in_process
from .control.asking import ask

pytest_plugins = ["pytester"]

ROOT = Path(mockbroker.__file__).parent.parent
ALONE = ("-p", "no:randomly", "-p", "no:asyncio", "-p", "no:anyio")


class Mistake(NamedTuple):
    """Something misspelt, what it was to be, and how it is given: as an option of a cluster, on the command
    line, in a scenario."""

    wrong: str
    right: str
    options: Mapping[str, Any]
    arguments: tuple[str, ...]
    scenario: str


FAULT = '[[fault]]\nname = "lost"\n'
MISTAKES = [
    Mistake(
        "undefined-epochs",
        "undefined-epoch",
        {"policies": {"undefined-epochs": "undefined"}},
        ("--policy", "undefined-epochs=undefined"),
        '[cluster]\npolicies = { undefined-epochs = "undefined" }',
    ),
    Mistake(
        "log-end-ofset",
        "log-end-offset",
        {"policies": {"undefined-epoch@topic:t": "log-end-ofset"}},
        ("--policy", "undefined-epoch@topic:t=log-end-ofset"),
        '[cluster]\npolicies = { "undefined-epoch@topic:t" = "log-end-ofset" }',
    ),
    Mistake(
        "diskonnect",
        "disconnect",
        {"faults": [{"do": "diskonnect"}]},
        ("--fault", "diskonnect api=Produce"),
        f'{FAULT}do = "diskonnect"',
    ),
    Mistake(
        "topik",
        "topic",
        {"faults": [{"do": "disconnect", "topik": "t"}]},
        ("--fault", "disconnect topik=t"),
        f'{FAULT}do = "disconnect"\ntopik = "t"',
    ),
    Mistake(
        "Produse",
        "Produce",
        {"faults": [{"do": "disconnect", "api": "Produse"}]},
        ("--fault", "disconnect api=Produse"),
        f'{FAULT}do = "disconnect"\napi = "Produse"',
    ),
    Mistake(
        "NOT_LEEDER_OR_FOLLOWER",
        "NOT_LEADER_OR_FOLLOWER",
        {"faults": [{"do": "error", "error": "NOT_LEEDER_OR_FOLLOWER"}]},
        ("--fault", "error error=NOT_LEEDER_OR_FOLLOWER"),
        f'{FAULT}do = "error"\nerror = "NOT_LEEDER_OR_FOLLOWER"',
    ),
    Mistake("3.99", "3.9", {"kafka": "3.99"}, ("--kafka", "3.99"), '[cluster]\nkafka = "3.99"'),
    Mistake(
        "num.partition",
        "num.partitions",
        {"config": {"num.partition": "3"}},
        ("--config", "num.partition=3"),
        '[cluster]\nconfig = { "num.partition" = 3 }',
    ),
    Mistake("manul", "manual", {"clock": "manul"}, ("--clock", "manul"), '[cluster]\nclock = "manul"'),
    Mistake("brokrs", "brokers", {"brokrs": 1}, ("--brokrs", "1"), "[cluster]\nbrokrs = 1"),
]
NAMES = [each.wrong for each in MISTAKES]


def says(text: str, wrong: str, right: str) -> bool:
    return wrong in text and re.search(rf"(?<![\w.]){re.escape(right)}(?![\w.-])", text) is not None


def mockbroker_says(*arguments: str, **environment: str) -> tuple[int, str]:
    """Exit status and the last line of standard error; what comes before is how to be used."""
    done = in_process.mockbroker(*arguments, environment=environment)
    *before, last = done.stderr.splitlines()
    assert all(re.match(r"Usage: |Try |$", line) for line in before), done.stderr
    return done.exit_code, last


@pytest.mark.parametrize("mistake", MISTAKES, ids=NAMES)
def test_a_cluster_in_python(mistake: Mistake) -> None:
    with pytest.raises(MockBrokerError) as raised:
        MockCluster(**mistake.options).start()
    assert isinstance(raised.value, ValueError)
    assert says(str(raised.value), mistake.wrong, mistake.right)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("mistake", MISTAKES, ids=NAMES)
def test_the_command_line(mistake: Mistake) -> None:
    status, line = mockbroker_says("serve", "--port", "0", *mistake.arguments)
    assert status == 2
    assert says(line, mistake.wrong, mistake.right), line


def test_a_capture_takes_the_same_options(tmp_path: Path) -> None:
    mistake = MISTAKES[0]
    status, line = mockbroker_says("capture", str(tmp_path / "c.pcapng"), *mistake.arguments)
    assert (status, says(line, mistake.wrong, mistake.right)) == (2, True)


@pytest.mark.parametrize("mistake", MISTAKES, ids=NAMES)
def test_a_scenario(mistake: Mistake, tmp_path: Path) -> None:
    path = tmp_path / "scenario.toml"
    path.write_text(mistake.scenario + "\n")
    status, line = mockbroker_says("run", str(path), "--", "true")
    assert status == 2
    assert re.match(rf"mockbroker run: {re.escape(str(path))}:\d: ", line), line
    assert says(line, mistake.wrong, mistake.right), line


def test_markers(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    """All of them in one run: each test fails of one line."""
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    tests = "".join(
        f"@pytest.mark.mockbroker(**{mistake.options!r})\ndef test_{number}(mock_cluster):\n    pass\n\n"
        for number, mistake in enumerate(MISTAKES)
    )
    pytester.makepyfile("import pytest\n\n" + tests)
    result = pytester.runpytest_subprocess("-p", "mockbroker.pytest_plugin", *ALONE)
    result.assert_outcomes(errors=len(MISTAKES))
    lines = [line for line in result.outlines if line.startswith("mockbroker: ")]
    assert len(lines) == len(MISTAKES)
    for line, mistake in zip(lines, MISTAKES, strict=True):
        assert says(line, mistake.wrong, mistake.right), line
    result.stdout.no_fnmatch_line("*Traceback*")


# -- of a running cluster


@pytest.fixture(scope="module")
def cluster() -> Iterator[MockCluster]:
    with MockCluster(topics={"orders": 1}, trace=True, control=True) as running:
        yield running


@pytest.mark.parametrize(
    ("wrong", "right", "do"),
    [
        ("ordres", "orders", lambda cluster: cluster.move_leader("ordres", 0)),
        ("ordres", "orders", lambda cluster: cluster.replicas("ordres", 0)),
        ("ordres", "orders", lambda cluster: cluster.pause_follower("ordres", 0, 1)),
        ("9", "3", lambda cluster: cluster.stop_broker(9)),
        ("controler", "controller", lambda cluster: cluster.cut_off(1, from_=["controler"])),
        ("requst", "request", lambda cluster: cluster.trace.events("requst")),
        ("topc", "topic", lambda cluster: cluster.trace.wait("leader", topc="orders", timeout=0)),
        ("Produse", "Produce", lambda cluster: cluster.trace.events("request", api="Produse")),
        ("diskonnect", "disconnect", lambda cluster: cluster.faults.add("diskonnect")),
        ("aftr", "after", lambda cluster: cluster.faults.add("disconnect", when="aftr")),
        ("elektion", "election", lambda cluster: cluster.policies.set("elektion", "unclean")),
        ("unclaen", "unclean", lambda cluster: cluster.policies.set("election", "unclaen")),
        ("7 days", "7d", lambda cluster: cluster.clock.advance("7 days")),
    ],
)
def test_a_running_cluster(
    cluster: MockCluster, wrong: str, right: str, do: Callable[[MockCluster], object]
) -> None:
    with pytest.raises(MockBrokerError) as raised:
        do(cluster)
    assert isinstance(raised.value, ValueError | KeyError)
    assert says(str(raised.value), wrong, right), raised.value


@pytest.mark.parametrize(
    ("wrong", "right", "method", "path", "body"),
    [
        ("ordres", "orders", "GET", "/topics/ordres/partitions/0", None),
        ("undefined-epochs", "undefined-epoch", "GET", "/policies/undefined-epochs", None),
        ("undefind", "undefined", "PUT", "/policies/undefined-epoch", {"answer": "undefind"}),
        ("anser", "answer", "PUT", "/policies/undefined-epoch", {"anser": "undefined"}),
        ("diskonnect", "disconnect", "POST", "/faults", {"do": "diskonnect"}),
        ("topik", "topic", "POST", "/faults", {"do": "disconnect", "topik": "t"}),
        ("requst", "request", "GET", "/trace?kind=requst", None),
        ("requst", "request", "GET", "/trace/stream?kind=requst", None),
        ("topc", "topic", "GET", "/trace/stream?topc=t", None),
        ("Produse", "Produce", "GET", "/trace?api=Produse", None),
        ("/polices", "/policies", "GET", "/polices", None),
        ("7 days", "7d", "POST", "/clock/advance", {"by": "7 days"}),
    ],
)
def test_over_http(
    cluster: MockCluster, wrong: str, right: str, method: str, path: str, body: object
) -> None:
    status, answer = ask(method, cluster.control_url + path, body)
    assert status in (400, 404)
    assert says(answer["error"], wrong, right), answer


@pytest.mark.parametrize(
    ("wrong", "right", "arguments"),
    [
        ("brokrs", "brokers", "brokrs list"),
        ("stp", "stop", "brokers stp 1"),
        ("--tpic", "--topic", "policies show election --tpic t"),
        ("ordres", "orders", "partitions replicas ordres 0"),
        ("undefined-epochs", "undefined-epoch", "policies set undefined-epochs=undefined"),
        ("undefind", "undefined", "policies set undefined-epoch=undefind"),
        ("diskonnect", "disconnect", "faults add diskonnect"),
        ("topik", "topic", "faults add disconnect topik=t"),
        ("requst", "request", "trace list --kind requst"),
        ("7dd", "7d", "clock advance 7dd"),
    ],
)
def test_ctl(cluster: MockCluster, wrong: str, right: str, arguments: str) -> None:
    status, line = mockbroker_says("ctl", "--url", cluster.control_url, *arguments.split())
    assert status in (1, 2)
    assert says(line, wrong, right), line


@pytest.mark.parametrize(
    ("wrong", "right", "text"),
    [
        ("stp", "step", '[[stp]]\nafter = "1s"'),
        ("aftr", "after", '[[step]]\naftr = "1s"\ndo = "brokers stop"\nbroker = 1'),
        ("broker stop", "brokers stop", '[[step]]\nafter = "1s"\ndo = "broker stop"\nbroker = 1'),
        ("brokr", "broker", '[[step]]\nafter = "1s"\ndo = "brokers stop"\nbrokr = 1'),
        ("lots", "lost", f'{FAULT}do = "disconnect"\n\n[[step]]\non = "lots"\ndo = "brokers list"'),
        ("expct", "expect", '[[check]]\ndo = "brokers list"\nexpct = []'),
    ],
)
def test_the_keys_of_a_scenario(tmp_path: Path, wrong: str, right: str, text: str) -> None:
    path = tmp_path / "scenario.toml"
    path.write_text(text + "\n")
    status, line = mockbroker_says("run", str(path), "--", "true")
    assert status == 2
    assert says(line, wrong, right), line


# -- what is not there, and what is there twice


def test_a_port_in_use(cluster: MockCluster, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        told = f"can't listen on 127.0.0.1:{port}: "
        for options in ({"port": port, "brokers": 1}, {"control": port}):
            with pytest.raises(PortInUseError, match=rf"^{re.escape(told)}.* Choose another port") as raised:
                MockCluster(**options).start()
            assert "\n" not in str(raised.value)
        for name in ("--port", "--control"):
            rest = () if name == "--port" else ("--port", "0")
            status, line = mockbroker_says("serve", "--brokers", "1", name, str(port), *rest)
            assert status == 2
            assert line.startswith(f"mockbroker serve: {told}")


@pytest.mark.parametrize("url", ["http://127.0.0.1:{port}", "127.0.0.1:{port}"])
def test_an_unreachable_control_address(url: str) -> None:
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))  # and does not listen
        address = url.format(port=nobody.getsockname()[1])
        status, line = mockbroker_says("ctl", "brokers", "list", MOCKBROKER_CONTROL=address)
    assert status == 2
    port = address.rpartition(":")[2]
    assert line.startswith(f"mockbroker ctl: no control API at http://127.0.0.1:{port}: ")


def test_a_control_address_that_is_a_brokers(cluster: MockCluster) -> None:
    address = cluster.bootstrap_servers.split(",")[0]
    status, line = mockbroker_says("ctl", "--url", f"http://{address}", "brokers", "list")
    assert (status, line.startswith(f"mockbroker ctl: no control API at http://{address}: ")) == (2, True)


def test_a_second_plugin(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join((str(ROOT), str(pytester.path))))
    fixture = "import pytest\n\n@pytest.fixture\ndef mock_cluster():\n    return 7\n"
    pytester.makepyfile(other_mocks=fixture)
    pytester.makepyfile("def test_it(mock_cluster):\n    pass\n")
    result = pytester.runpytest_subprocess("-p", "mockbroker.pytest_plugin", "-p", "other_mocks", *ALONE)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    [line] = [line for line in result.errlines if line]
    assert line.startswith("ERROR: mockbroker: the plugin 'other_mocks' has a fixture mock_cluster too: ")
    assert "-p no:other_mocks" in line


def test_a_fixture_of_ones_own(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    """A conftest.py may have one; a marker for a mock_cluster that knows no markers is a mistake."""
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    pytester.makeconftest("import pytest\n\n@pytest.fixture\ndef mock_cluster():\n    return 7\n")
    marked = "@pytest.mark.mockbroker(kafka='2.3')\ndef test_marked(mock_cluster):\n    pass\n"
    pytester.makepyfile(
        "import pytest\n\ndef test_own(mock_cluster):\n    assert mock_cluster == 7\n\n" + marked
    )
    result = pytester.runpytest_subprocess("-p", "mockbroker.pytest_plugin", *ALONE)
    result.assert_outcomes(passed=1, errors=1)
    told = [line for line in result.outlines if line.startswith("mockbroker: ")]
    assert [line.split(":")[1] for line in told] == [
        " @pytest.mark.mockbroker has no effect on this mock_cluster, a fixture of your own"
    ]
