"""The cache of downloads: jars of Kafka's brokers and tools, which Maven copies on first use."""

import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from ..errors import MockBrokerError

_LOGGING: Final = {
    "2": ("org.slf4j:slf4j-reload4j:1.7.36",),
    "3": ("org.slf4j:slf4j-reload4j:1.7.36",),
    "4": ("org.apache.logging.log4j:log4j-slf4j-impl:2.25.3", "org.apache.logging.log4j:log4j-core:2.25.3"),
}
_OLD_LOGGING: Final = "org.slf4j:slf4j-log4j12:1.7.25"
_ON_JAVA_17: Final = {"2": "org.apache.zookeeper:zookeeper:3.5.9"}
"""What releases before 2.4 need besides, by major version; the others need what Java 9 took out."""
_TAKEN_OUT: Final = "javax.xml.bind:jaxb-api:2.3.1"
_COPY_GOAL: Final = "org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy-dependencies"
_POM: Final = """<project xmlns="http://maven.apache.org/POM/4.0.0">
<modelVersion>4.0.0</modelVersion>
<groupId>mockbroker</groupId><artifactId>real-kafka</artifactId><version>{release}</version>
<packaging>pom</packaging>
<dependencies>
{dependencies}
</dependencies>
</project>
"""
_DEPENDENCY: Final = "<dependency>{artifact}<exclusions>{exclusions}</exclusions></dependency>"
_NOT_PUBLISHED: Final = ("org.apache.kafka:kafka-tools-api",)
"""The poms of 4.x name it; brokers run without it."""
_NOT_FOR_TOOLS: Final = (
    "org.apache.kafka:connect-runtime",
    "org.apache.logging.log4j:log4j-slf4j-impl",
    "org.slf4j:slf4j-log4j12",
)
SHORT_LIVED: Final = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")
"""Options of a JVM that ends within seconds: half the CPU time."""


class RealBrokerError(MockBrokerError):
    """A real broker could not be fetched or started; the message says what to do."""


def cache_folder() -> Path:
    """Where jars are kept: `MOCKBROKER_CACHE`, else `~/.cache/mockbroker`."""
    return Path(os.environ.get("MOCKBROKER_CACHE") or Path.home() / ".cache" / "mockbroker")


def program(name: str, purpose: str) -> str:
    """The path of a program. RealBrokerError says what it is needed for."""
    found = shutil.which(name)
    if found is None:
        raise RealBrokerError(f"`{name}` is not on the PATH: it is needed to {purpose}")
    return found


def for_maven() -> dict[str, str]:
    """This environment, where Maven's JVM has SHORT_LIVED unless MAVEN_OPTS is set."""
    return {"MAVEN_OPTS": " ".join(SHORT_LIVED), **os.environ}


def broker_jars(release: str) -> Path:
    """Folder with the class path of a broker, from 0.11 on. RealBrokerError."""
    return _fetched("kafka", release, _of_broker(release), _NOT_PUBLISHED)


def tools_jars(release: str) -> Path:
    """Folder with the class path of Kafka's command-line tools. RealBrokerError."""
    wanted = [f"org.apache.kafka:kafka_2.13:{release}", "org.slf4j:slf4j-reload4j:1.7.36"]
    if int(release.split(".")[0]) > 2:
        wanted.insert(1, f"org.apache.kafka:kafka-tools:{release}")
    return _fetched("tools", release, wanted, _NOT_FOR_TOOLS)


def _of_broker(release: str) -> Sequence[str]:
    """Releases before 2.4 need ZooKeeper. RealBrokerError."""
    major, minor = map(int, release.split(".")[:2])
    if major > max(map(int, _LOGGING)):
        raise RealBrokerError(f"Kafka {release}: only releases up to {max(_LOGGING)}.x can be fetched here")
    if (major, minor) < (2, 4):
        besides = _ON_JAVA_17.get(str(major), _TAKEN_OUT)
        return (f"org.apache.kafka:kafka_2.12:{release}", _OLD_LOGGING, besides)
    return (f"org.apache.kafka:kafka_2.13:{release}", *_LOGGING[str(major)])


def _fetched(kind: str, release: str, artifacts: Sequence[str], excluded: Sequence[str]) -> Path:
    """Folder with `artifacts` ("GROUP:NAME:VERSION") and what they need at run time but the `excluded`."""
    folder = cache_folder() / kind / release
    if (folder / "complete").exists():
        return folder
    maven = program("mvn", f"fetch the jars of Kafka {release} on first use")
    folder.mkdir(parents=True, exist_ok=True)
    exclusions = "".join(f"<exclusion>{_named(each)}</exclusion>" for each in excluded)
    dependencies = [_DEPENDENCY.format(artifact=_named(each), exclusions=exclusions) for each in artifacts]
    pom = folder / "pom.xml"
    pom.write_text(_POM.format(release=release, dependencies="\n".join(dependencies)))
    command = [maven, "-B", "-q", "-f", str(pom), "-C", _COPY_GOAL]
    command += ["-DincludeScope=runtime", f"-DoutputDirectory={folder}"]
    done = subprocess.run(command, env=for_maven(), capture_output=True, text=True, check=False)
    if done.returncode:
        raise RealBrokerError(
            f"mvn could not fetch Kafka {release}:\n{done.stdout[-3000:]}{done.stderr[-2000:]}"
        )
    (folder / "complete").touch()
    return folder


def _named(artifact: str) -> str:
    """ "GROUP:NAME" or "GROUP:NAME:VERSION" in a pom."""
    tags = ("groupId", "artifactId", "version")
    return "".join(f"<{tag}>{each}</{tag}>" for tag, each in zip(tags, artifact.split(":"), strict=False))
