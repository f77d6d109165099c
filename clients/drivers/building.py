"""Programs in other languages: built once into a cache."""

import fcntl
import hashlib
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from mockbroker.errors import MockBrokerError

from ...rig.downloads import SHORT_LIVED, cache_folder, for_maven

_LIMIT_S: Final = 900.0
_JAVAC: Final = ("javac", *(f"-J{option}" for option in SHORT_LIVED), "--release", "11")


class BuildError(MockBrokerError):
    """A program could not be built; the message has what the build tool said, or which tool is missing."""


def need(tool: str) -> str:
    """The path of a program. BuildError when it is not there."""
    path = shutil.which(tool)
    if path is None:
        raise BuildError(f"needs {tool}: it is not on PATH")
    return path


def cached(project: Path, variant: str, build: Callable[[Path], None]) -> Path:
    """A folder with the project's files, after `build` ran in it: from the cache, or new. BuildError.

    Processes that want the same wait for the one that builds it. It does so in a folder of its own, so that
    a build that was interrupted leaves nothing half done.
    """
    files = sorted(file for file in project.rglob("*") if file.is_file())
    digest = hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()[:12]
    cache = cache_folder() / "clients"
    home = cache / f"{project.name}-{variant}-{digest}"
    if home.exists():
        return home
    cache.mkdir(parents=True, exist_ok=True)
    with locked(cache / f"{home.name}.lock"), tempfile.TemporaryDirectory(dir=cache) as folder:
        if home.exists():
            return home
        work = Path(folder, "work")
        work.mkdir()
        for file in files:
            copied = work / file.relative_to(project)
            copied.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(file, copied)
        build(work)
        work.rename(home)
    return home


@contextmanager
def locked(file: Path) -> Iterator[None]:
    """Waits for other processes and threads that hold the lock."""
    with file.open("w") as opened:
        fcntl.flock(opened, fcntl.LOCK_EX)
        yield


def step(command: Sequence[str], folder: Path, environment: Mapping[str, str] | None = None) -> None:
    """Runs one command of a build. BuildError.

    What is built runs for seconds, so C is not optimised, and Maven lacks the second compiler. CFLAGS,
    CXXFLAGS and MAVEN_OPTS that the user has set take the place of that.
    """
    environment = {"CFLAGS": "-O0", "CXXFLAGS": "-O0", **for_maven(), **(environment or {})}
    try:
        done = subprocess.run(
            command,
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
            timeout=_LIMIT_S,
            check=False,
        )
    except subprocess.TimeoutExpired as expired:
        raise BuildError(f"{' '.join(command)}\nnot done after {_LIMIT_S:.0f} s") from expired
    if done.returncode:
        raise BuildError(f"{' '.join(command)}\n{done.stdout}{done.stderr}")


def for_node(node: str) -> dict[str, str]:
    """For npm, which compiles an addon if none is made for this machine: with the headers beside `node`, and
    libraries that are there, so that nothing else is fetched."""
    home = Path(node).resolve().parents[1]
    headers = {"npm_config_nodedir": str(home)} if (home / "include/node/node.h").exists() else {}
    return {"CKJS_LINKING": "dynamic", **headers}


def class_path(project: Path, version: str, program: str = "*") -> str:
    """The jars that a project's pom names for a version of Kafka, and the project's classes. BuildError.

    With `program` only that one is built: it may go with versions that are too old for the others. What is
    in a folder `since-4.2` is built with that version and later ones.
    """
    for tool in ("java", "javac", "mvn"):
        need(tool)

    def steps(folder: Path) -> None:
        copy = ["dependency:copy-dependencies", "-DoutputDirectory=lib", f"-Dkafka.version={version}"]
        step(["mvn", "-B", "-q", *copy], folder)
        files = [*folder.glob(f"{program}.java"), *_later(folder, program, version)]
        if sources := [str(file.relative_to(folder)) for file in files]:
            step([*_JAVAC, "-cp", "lib/*", "-d", "classes", *sources], folder)

    variant = version if program == "*" else f"{program.lower()}-{version}"
    home = cached(project, variant, steps)
    return f"{home}/lib/*{os.pathsep}{home}/classes"


def _later(folder: Path, program: str, version: str) -> Iterator[Path]:
    """The sources that a version is new enough for."""
    for each in folder.glob("since-*"):
        if _number(version) >= _number(each.name):
            yield from each.glob(f"{program}.java")


def _number(text: str) -> list[int]:
    return [int(part) for part in re.findall(r"\d+", text)[:2]]


def go_program(project: Path, package: str, module: str, version: str | None) -> Path:
    """A program of a Go module, with the version of `module` that it is locked to, or another. BuildError."""
    return _go(project, f"{package}-{version or 'locked'}", f"./{package}", module, version)


def go_file(project: Path, file: Path, module: str, version: str | None) -> Path:
    """A program that is one file outside of the Go module whose packages it uses. BuildError."""
    return _go(project, _variant(file, version), str(file), module, version)


def _go(project: Path, variant: str, what: str, module: str, version: str | None) -> Path:
    def steps(folder: Path) -> None:
        go = need("go")
        if version is not None:
            step([go, "get", f"{module}@v{version.removeprefix('v')}"], folder)
        step([go, "build", "-mod=mod", "-o", "program", what], folder)

    return cached(project, variant, steps) / "program"


def rust_program(project: Path, crate: str, version: str | None) -> Path:
    """The program of a Cargo project, with the locked version of `crate` or another one. BuildError.

    That takes a minute or more, also because some crates bring sources in C: once for each version, whatever
    programs are built with it.
    """
    return _rust(project, f"{crate}-{version or 'locked'}", crate, version)


def rust_file(project: Path, file: Path, crate: str, version: str | None) -> Path:
    """A program that is one file, with the dependencies of a Cargo project. BuildError."""
    return _rust(project, _variant(file, version), crate, version, file)


def _variant(file: Path, version: str | None) -> str:
    digest = hashlib.sha256(file.read_bytes()).hexdigest()[:12]
    return f"{file.parent.name}-{version or 'locked'}-{digest}"


def _rust(project: Path, variant: str, crate: str, version: str | None, main: Path | None = None) -> Path:
    def steps(folder: Path) -> None:
        cargo, *_ = (need(tool) for tool in ("cargo", "make", "cc"))
        if main is not None:
            shutil.copy(main, folder / "src" / "main.rs")
        if version is not None:
            step([cargo, "update", crate, "--precise", version], folder)
        target = folder.parents[1] / f"{project.name}-{crate}-{version or 'locked'}-target"
        with locked(target.parent / f"{target.name}.lock"):
            step([cargo, "build", "--locked", "--target-dir", str(target)], folder)
            shutil.copy(target / "debug" / "program", folder)

    return cached(project, variant, steps) / "program"
