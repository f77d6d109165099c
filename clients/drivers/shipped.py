"""The drivers that come with mockbroker, by name: each is found by the first line of its program.

A program is a file in the folder of its language (in Go a folder, with a `main.go`) that begins with the
comment `Driver: NAME, of the package PACKAGE`. Nothing else has to be changed for another. Those in `node22`
need a newer Node than most, which npm fetches.
"""

import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from mockbroker.nearest import nearest

from ...rig.downloads import SHORT_LIVED
from . import building

PROGRAMS: Final = Path(__file__).parent / "programs"
JAVA: Final = "4.4.0"
"""The release of kafka-clients unless another is asked for."""
LOG_LEVEL: Final = "-Dorg.slf4j.simpleLogger.defaultLogLevel"
JVM: Final = (*SHORT_LIVED, f"{LOG_LEVEL}=warn")
"""It starts quickly, and can be started many times."""


@dataclass(frozen=True)
class Shipped:
    """`command` builds what has to be built, and may raise BuildError; `needs` are programs; `package` is the
    client's."""

    command: Callable[[str | None], Sequence[str]]
    package: str
    needs: tuple[str, ...] = ()


def _python(program: Path, package: str) -> Shipped:
    def command(version: str | None) -> Sequence[str]:
        if version is None:
            return (sys.executable, str(program))

        def install(folder: Path) -> None:
            building.step([sys.executable, "-m", "venv", "venv"], folder)
            pip = ("venv/bin/python", "-m", "pip", "--quiet", "--disable-pip-version-check")
            building.step([*pip, "install", f"{package}=={version}"], folder)

        home = building.cached(program.parent, f"{package}-{version}", install)
        return (str(home / "venv/bin/python"), str(home / program.name))

    return Shipped(command, package)


def _java(program: Path, package: str) -> Shipped:
    def command(version: str | None) -> Sequence[str]:
        classes = building.class_path(program.parent, version or JAVA)
        return (building.need("java"), *JVM, "-cp", classes, program.stem)

    return Shipped(command, package, ("java", "javac", "mvn"))


def _node(program: Path, package: str) -> Shipped:
    def command(version: str | None) -> Sequence[str]:
        node, npm = building.need("node"), building.need("npm")

        def install(folder: Path) -> None:
            building.step([npm, "ci", "--no-audit", "--no-fund"], folder, building.for_node(node))
            if version is not None:
                other = [npm, "install", "--no-save", "--no-audit", f"{package}@{version}"]
                building.step(other, folder, building.for_node(node))

        variant = "locked" if version is None else f"{program.name}-{version}"
        home = building.cached(program.parent, variant, install)
        own = home / "node_modules/node/bin/node"
        return (str(own) if own.exists() else node, str(home / program.name))

    return Shipped(command, package, ("node", "npm"))


def _go(program: Path, module: str) -> Shipped:
    folder = program.parent
    return Shipped(
        lambda version: (str(building.go_program(folder.parent, folder.name, module, version)),),
        module,
        ("go",),
    )


def _rust(program: Path, crate: str) -> Shipped:
    return Shipped(
        lambda version: (str(building.rust_program(program.parents[1], crate, version)),), crate, ("cargo",)
    )


_LANGUAGES: Final[Mapping[str, Callable[[Path, str], Shipped]]] = {
    "python/*.py": _python,
    "java/*.java": _java,
    "node/*.js": _node,
    "node22/*.js": _node,
    "confluent-node/*.js": _node,
    "go/*/main.go": _go,
    "rust/src/main.rs": _rust,
    "krafka/src/main.rs": _rust,
    "rskafka/src/main.rs": _rust,
}
_HEAD: Final = re.compile(r"(?:#|//) Driver: (\S+), of the package (\S+)")


def found(programs: Path = PROGRAMS) -> dict[str, Shipped]:
    """The drivers in a folder that has one folder for each language, by name."""
    return dict(_found(programs))


def _found(programs: Path) -> Iterator[tuple[str, Shipped]]:
    for pattern, made in _LANGUAGES.items():
        for program in sorted(programs.glob(pattern)):
            with program.open() as file:
                head = _HEAD.match(file.readline())
            if head is not None:
                yield head[1], made(program, head[2])


SHIPPED: Final = found()


def command_for(name: str, version: str | None = None) -> Sequence[str]:
    """The command that starts a shipped driver. ValueError for a name that there is not, with the nearest."""
    if name not in SHIPPED:
        raise ValueError(f"no client {name!r}{nearest(name, SHIPPED)}")
    return SHIPPED[name].command(version)


def with_flags(command: Sequence[str], *flags: str) -> list[str]:
    """The command of the driver in Java, with more flags of the JVM."""
    at = command.index("-cp")
    return [*command[:at], *flags, *command[at:]]
