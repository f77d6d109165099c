"""What `import mockbroker` gives."""

import ast
import builtins
import inspect
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import trio

import mockbroker
from mockbroker import MockBrokerError, MockCluster

from . import public_names
from .driving.processes import mockbroker_process

ROOT = Path(mockbroker.__file__).parent
INSIDE = {
    "AcknowledgementError",
    "AlreadyDoneError",
    "AnswerTooLargeError",
    "ApiError",
    "BatchError",
    "DamagedError",
    "DisconnectedError",
    "EndlessLoadError",
    "Finding",
    "InvalidRecordError",
    "MalformedRequestError",
    "NoRuleError",
    "NotConvertibleError",
    "NotKeptError",
    "RebalanceFailedError",
    "RequestError",
    "SequenceError",
    "StoreError",
    "TextTooLongError",
    "TornError",
    "UnreadableError",
    "UnreadableRecordError",
    "UnsupportedVersionError",
    "WrongLineError",
}
"""Errors that become an error code, or another error, before a user meets them."""


def errors() -> Iterator[tuple[str, list[str]]]:
    """Every public error of the package and the names of its bases, from the source: importing all of it
    takes seconds."""
    folders = [ROOT, *(each for each in ROOT.iterdir() if each.is_symlink())]
    for path in (path for folder in folders for path in folder.resolve().rglob("*.py")):
        if "programs" in path.parts:
            continue  # drivers, which are programs of their own
        for name, bases in re.findall(
            r"^class ([A-Z]\w+)\((.*(?:Error|Exception)[,)].*):", path.read_text(), re.M
        ):
            yield name, re.findall(r"\w+", bases)


def test_every_error_that_a_user_meets_has_the_base() -> None:
    bases: dict[str, set[str]] = {}
    for name, own in errors():
        bases.setdefault(name, set()).update(own)

    def above(name: str) -> set[str]:
        return {name}.union(*(above(each) for each in bases.get(name, ())))

    builtin = {
        name for name, each in vars(builtins).items() if inspect.isclass(each) and issubclass(each, Exception)
    }
    found = {name for name in bases if above(name) & builtin}
    assert {"FaultError", "PortInUseError"} <= found
    assert {name for name in found if "MockBrokerError" not in above(name)} == INSIDE


def test_every_error_has_a_builtin_base_that_says_what_kind_it_is() -> None:
    bases = {}
    for name in mockbroker.__all__:
        found = getattr(mockbroker, name)
        if inspect.isclass(found) and issubclass(found, Exception) and found is not MockBrokerError:
            bases[name] = next(each for each in found.__mro__ if each.__module__ == "builtins")
    general = {name for name, base in bases.items() if base is Exception}
    assert general == {"OwnPolicyError", "CallbackError"}
    assert len(bases) > len(general)


def test_what_type_checkers_see_is_what_there_is() -> None:
    """The names are written down twice: for type checkers, and for when they are asked for."""
    source = ast.parse(Path(mockbroker.__file__).read_text())
    block = next(node for node in source.body if isinstance(node, ast.If))
    seen = {
        (each.name, node.module)
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for each in node.names
    }
    given = {(name, module) for module, names in mockbroker._MODULES.items() for name in names}
    assert seen == given
    assert {name for name, _ in seen} | {"__version__"} == set(mockbroker.__all__)
    assert set(mockbroker.__all__) <= set(dir(mockbroker))
    for name in mockbroker.__all__:
        assert getattr(mockbroker, name) is not None
    with pytest.raises(AttributeError, match="MokCluster"):
        _ = mockbroker.MokCluster


def test_public_names_are_those_that_were_published() -> None:
    """Whoever takes one away, or adds one, says so: docs/stability.md has what that asks for."""
    kept, now = public_names.KEPT.read_text().splitlines(), public_names.names()
    lost = [line for line in kept if line not in now]
    assert kept == now, f"{len(lost)} were public before, such as {lost[:3]}; `python -m tests.public_names`"


def test_the_version_is_one() -> None:
    done = mockbroker_process("--version")
    assert (done.returncode, done.stdout) == (0, f"mockbroker {mockbroker.__version__}\n")


def test_a_cluster_shows_what_it_is() -> None:
    cluster = MockCluster(kafka="2.3", brokers=1)
    assert repr(cluster) == "<MockCluster not started>"
    with cluster:
        assert re.fullmatch(r"<MockCluster Kafka 2\.3, 1 broker, 127\.0\.0\.1:\d+>", repr(cluster))
    assert repr(cluster) == "<MockCluster stopped>"


def test_a_served_cluster_shows_what_it_is() -> None:
    async def main() -> None:
        async with mockbroker.serve(brokers=2) as served:
            address = r"127\.0\.0\.1:\d+"
            assert re.fullmatch(rf"<ServedCluster Kafka 4\.4, 2 brokers, {address},{address}>", repr(served))

    trio.run(main)
