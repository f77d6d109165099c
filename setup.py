"""Which packages there are. Some lie beside `mockbroker`, which has links to them; an sdist has no links."""

import tomllib
from collections.abc import Iterator
from pathlib import Path

from setuptools import find_namespace_packages, setup

_SETTINGS = tomllib.loads((Path(__file__).parent / "pyproject.toml").read_text())["tool"]["setuptools"]
FOLDERS: dict[str, str] = _SETTINGS["package-dir"]


def _packages() -> Iterator[str]:
    for package, folder in FOLDERS.items():
        within = (f"{package}.{each}" for each in find_namespace_packages(folder))
        yield from (each for each in (package, *within) if _lies_in(each) == package)


def _lies_in(package: str) -> str:
    """The innermost of the packages with a folder of their own that it is in."""
    return max((each for each in FOLDERS if f"{package}.".startswith(f"{each}.")), key=len)


setup(packages=sorted(set(_packages())))
