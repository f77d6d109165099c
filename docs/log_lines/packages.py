"""The packages whose log statements are known, as package managers download them on first use."""

import json
import subprocess
import tarfile
import zipfile
from collections.abc import Iterator
from pathlib import Path, PurePath
from typing import Final, NamedTuple

from mockbroker.rig.downloads import cache_folder, program

KAFKA: Final = ("2.8.2", "3.9.2", "4.3.1")
_MODULES: Final = (
    *("kafka-clients", "kafka_2.13", "kafka-server", "kafka-server-common", "kafka-raft", "kafka-metadata"),
    *(
        "kafka-storage",
        "kafka-group-coordinator",
        "kafka-transaction-coordinator",
        "kafka-coordinator-common",
    ),
    "kafka-share-coordinator",
)
_SINCE: Final = {
    "kafka-server": 3,
    "kafka-server-common": 3,
    "kafka-storage": 3,
    "kafka-group-coordinator": 3,
    "kafka-transaction-coordinator": 3,
    "kafka-coordinator-common": 4,
    "kafka-share-coordinator": 4,
}
_COPY_GOAL: Final = "org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy"
_TOOLS: Final = (
    "kafka/tools/",
    "kafka/admin/",
    "org/apache/kafka/tools/",
    "kafka/docker/",
    "org/apache/kafka/shell/",
)
"""Of command lines: what they say is in no log."""
_CRATE: Final = "rdkafka-sys"


class Package(NamedTuple):
    """`part` is a column of the docs' table: a release of Kafka's brokers, or of a client."""

    part: str
    language: str
    name: str
    version: str


PACKAGES: Final = (
    *(
        Package(f"{'java' if module == 'kafka-clients' else 'broker'}-{release}", "java", module, release)
        for release in KAFKA
        for module in _MODULES
        if int(release[0]) >= _SINCE.get(module, 0)
    ),
    Package("librdkafka-2.12.1", "librdkafka", _CRATE, "4.10.0+2.12.1"),
    # Newer than any that the crate has.
    Package("librdkafka-2.15.1", "librdkafka", "@confluentinc/kafka-javascript", "1.10.1"),
    Package("franz-go-1.22.3", "franz-go", "github.com/twmb/franz-go", "v1.22.3"),
    Package("sarama-1.61.1", "sarama", "github.com/IBM/sarama", "v1.61.1"),
    Package("kafka-go-0.4.51", "kafka-go", "github.com/segmentio/kafka-go", "v0.4.51"),
    Package("KafkaJS-2.2.4", "kafkajs", "kafkajs", "2.2.4"),
    Package("kafka-python-1.4.7", "python", "kafka-python", "1.4.7"),
    Package("kafka-python-3.0.12", "python", "kafka-python", "3.0.12"),
    Package("aiokafka-0.14.0", "python", "aiokafka", "0.14.0"),
)


def files(package: Package) -> Iterator[tuple[str, str]]:
    """Names and texts of a package's sources. RealBrokerError without its package manager."""
    folder = cache_folder() / "sources"
    folder.mkdir(parents=True, exist_ok=True)
    match package.language:
        case "java":
            yield from _jar(package, folder)
        case "librdkafka" if package.name == _CRATE:
            yield from _tree(_crate(package, folder) / "librdkafka" / "src", ".c")
        case "librdkafka":
            yield from _npm(package, folder, "deps/librdkafka/src/", ".c")
        case "franz-go":
            yield from _tree(_module(package) / "pkg" / "kgo", ".go")
        case "sarama" | "kafka-go":
            yield from _tree(_module(package), ".go", deep=False)
        case "kafkajs":
            yield from _npm(package, folder, "src/", ".js")
        case _:
            yield from _wheel(package, folder)


def _jar(package: Package, folder: Path) -> Iterator[tuple[str, str]]:
    jar = folder / f"{package.name}-{package.version}-sources.jar"
    if not jar.exists():
        artifact = f"org.apache.kafka:{package.name}:{package.version}:jar:sources"
        _run(
            [
                program("mvn", "fetch sources"),
                "-q",
                "-B",
                _COPY_GOAL,
                f"-Dartifact={artifact}",
                f"-DoutputDirectory={folder}",
            ]
        )
    with zipfile.ZipFile(jar) as archive:
        for name in sorted(archive.namelist()):
            if name.endswith((".java", ".scala")) and not name.startswith(_TOOLS):
                yield name, archive.read(name).decode()


def _tree(folder: Path, ending: str, *, deep: bool = True) -> Iterator[tuple[str, str]]:
    for path in sorted(folder.rglob(f"*{ending}") if deep else folder.glob(f"*{ending}")):
        if not _of_tests(path):
            yield path.relative_to(folder).as_posix(), path.read_text(encoding="utf-8", errors="replace")


def _of_tests(path: PurePath) -> bool:
    return path.stem.endswith(("_test", "unittest")) or "mock" in path.stem


def _crate(package: Package, folder: Path) -> Path:
    here = folder / "crate"
    here.mkdir(exist_ok=True)
    (here / "src").mkdir(exist_ok=True)
    (here / "src" / "lib.rs").touch()
    version = package.version.partition("+")[0]
    (here / "Cargo.toml").write_text(
        f'[package]\nname = "sources"\nversion = "0.0.0"\n[dependencies]\n{package.name} = "={version}"\n'
    )
    cargo = program("cargo", "fetch sources")
    _run([cargo, "fetch", "-q", "--manifest-path", str(here / "Cargo.toml")])
    told = _run([cargo, "metadata", "--format-version", "1", "--manifest-path", str(here / "Cargo.toml")])
    found = next(each for each in json.loads(told)["packages"] if each["name"] == package.name)
    return Path(found["manifest_path"]).parent


def _module(package: Package) -> Path:
    told = _run(
        [program("go", "fetch sources"), "mod", "download", "-json", f"{package.name}@{package.version}"]
    )
    return Path(json.loads(told)["Dir"])


def _npm(package: Package, folder: Path, under: str, ending: str) -> Iterator[tuple[str, str]]:
    packed = folder / f"{package.name.removeprefix('@').replace('/', '-')}-{package.version}.tgz"
    if not packed.exists():
        named = f"{package.name}@{package.version}"
        _run([program("npm", "fetch sources"), "pack", "--silent", named, "--pack-destination", str(folder)])
    with tarfile.open(packed) as archive:
        for each in sorted(archive.getnames()):
            if (
                each.startswith(f"package/{under}")
                and each.endswith(ending)
                and not _of_tests(PurePath(each))
                and (read := archive.extractfile(each))
            ):
                yield each.removeprefix("package/"), read.read().decode()


def _wheel(package: Package, folder: Path) -> Iterator[tuple[str, str]]:
    named = f"{package.name.replace('-', '_')}-{package.version}"
    if not any(folder.glob(f"{named}*")):
        _run(
            [
                program("pip", "fetch sources"),
                "download",
                "-q",
                "--no-deps",
                "--no-binary",
                ":none:",
                "-d",
                str(folder),
                f"{package.name}=={package.version}",
            ]
        )
    with zipfile.ZipFile(next(folder.glob(f"{named}*.whl"))) as archive:
        for name in sorted(archive.namelist()):
            if name.endswith(".py") and "/cli/" not in name and not name.startswith("test"):
                yield name, archive.read(name).decode()


def _run(command: list[str]) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout
