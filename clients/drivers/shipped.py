"""The drivers that come with mockbroker, by name."""

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from mockbroker.nearest import nearest

from . import building

PROGRAMS: Final = Path(__file__).parent / "programs"
JAVA: Final = "4.4.0"
"""The release of kafka-clients unless another is asked for."""
JVM: Final = ("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn")
"""It starts quickly, and can be started many times."""


@dataclass(frozen=True)
class Shipped:
    """`command` builds what has to be built, and may raise BuildError; `needs` are programs."""

    command: Callable[[str | None], Sequence[str]]
    needs: tuple[str, ...] = ()


def _python(program: str, package: str) -> Shipped:
    def command(version: str | None) -> Sequence[str]:
        if version is None:
            return (sys.executable, str(PROGRAMS / "python" / program))

        def install(folder: Path) -> None:
            building.step([sys.executable, "-m", "venv", "venv"], folder)
            pip = ("venv/bin/python", "-m", "pip", "--quiet", "--disable-pip-version-check")
            building.step([*pip, "install", f"{package}=={version}"], folder)

        home = building.cached(PROGRAMS / "python", f"{package}-{version}", install)
        return (str(home / "venv/bin/python"), str(home / program))

    return Shipped(command)


def _java(version: str | None) -> Sequence[str]:
    classes = building.class_path(PROGRAMS / "java", version or JAVA)
    return (building.need("java"), *JVM, "-cp", classes, "Driver")


def _node(program: str, package: str) -> Shipped:
    def command(version: str | None) -> Sequence[str]:
        node, npm = building.need("node"), building.need("npm")

        def install(folder: Path) -> None:
            building.step([npm, "ci", "--no-audit", "--no-fund"], folder)
            if version is not None:
                building.step([npm, "install", "--no-save", "--no-audit", f"{package}@{version}"], folder)

        variant = "locked" if version is None else f"{program}-{version}"
        return (node, str(building.cached(PROGRAMS / "node", variant, install) / program))

    return Shipped(command, ("node", "npm"))


def _go(package: str, module: str) -> Shipped:
    return Shipped(
        lambda version: (str(building.go_program(PROGRAMS / "go", package, module, version)),), ("go",)
    )


def _rust(crate: str) -> Shipped:
    return Shipped(
        lambda version: (str(building.rust_program(PROGRAMS / "rust", crate, version)),), ("cargo",)
    )


SHIPPED: Final = {
    "confluent-kafka": _python("confluent.py", "confluent-kafka"),
    "aiokafka": _python("aio.py", "aiokafka"),
    "kafka-python": _python("kafka_python.py", "kafka-python"),
    "java": Shipped(_java, ("java", "javac", "mvn")),
    "kafkajs": _node("kafkajs.js", "kafkajs"),
    "platformatic-kafka": _node("platformatic.js", "@platformatic/kafka"),
    "franz-go": _go("franz", "github.com/twmb/franz-go"),
    "sarama": _go("sarama", "github.com/IBM/sarama"),
    "kafka-go": _go("kafkago", "github.com/segmentio/kafka-go"),
    "rust-rdkafka": _rust("rdkafka"),
}


def command_for(name: str, version: str | None = None) -> Sequence[str]:
    """The command that starts a shipped driver. ValueError for a name that there is not, with the nearest."""
    if name not in SHIPPED:
        raise ValueError(f"no client {name!r}{nearest(name, SHIPPED)}")
    return SHIPPED[name].command(version)
