"""Which packages there are. Some of mockbroker's lie beside it: a checkout has links to them, an sdist has none."""

import tomllib
from collections.abc import Iterator
from pathlib import Path

from setuptools import find_namespace_packages, setup

_SETTINGS = tomllib.loads((Path(__file__).parent / "pyproject.toml").read_text())["tool"]["setuptools"]


def _packages() -> Iterator[str]:
    folders = _SETTINGS["package-dir"]
    for package, folder in folders.items():
        within = (f"{package}.{each}" for each in find_namespace_packages(folder))
        yield from (each for each in (package, *within) if each in folders or _lies_in(each) == package)


def _lies_in(package: str) -> str:
    """The longest of the packages with folders of their own that it is in."""
    return max((each for each in _SETTINGS["package-dir"] if f"{package}.".startswith(f"{each}.")), key=len)


setup(packages=sorted(set(_packages())))
