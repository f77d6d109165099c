"""`python licences.py FOLDER`: writes the licences of all that is in the standalone folder into FOLDER.

Those of Python and of the packages beside this one, and, on Debian, of the shared libraries of the machine.
"""

import importlib.metadata
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

_NAMES = ("LICEN", "COPYING", "NOTICE", "AUTHORS")
_TOOLS = {"altgraph", "packaging", "pip", "pyinstaller", "pyinstaller-hooks-contrib", "setuptools", "uv"}
"""They make the folder, and are not in it."""


class NoLicenceError(Exception):
    """Nothing says under which licence it is."""


def packages(out: Path) -> None:
    for each in importlib.metadata.distributions():
        name = each.name.lower().replace("_", "-")
        if name in _TOOLS:
            continue
        files = [file for file in each.files or () if file.name.upper().startswith(_NAMES)]
        stated = each.metadata.get_all("License-Expression") or each.metadata.get_all("License") or []
        if not files and not stated:
            raise NoLicenceError(name)
        folder = out / f"{name}-{each.version}"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "STATED").write_text("\n".join(stated) or "see the files beside this one")
        for file in files:
            shutil.copy(str(file.locate()), folder / file.name)


def python(out: Path) -> None:
    folder = out / f"python-{sys.version_info.major}.{sys.version_info.minor}"
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copy(Path(sysconfig.get_path("stdlib")) / "LICENSE.txt", folder)


def libraries(of: Path, out: Path) -> None:
    """What Debian says of those that are its own."""
    if shutil.which("dpkg") is None:
        return
    for library in of.glob("lib*.so*"):
        owner = subprocess.run(
            ["dpkg", "-S", f"*/{library.name}"], capture_output=True, text=True, check=False
        )
        for package in {line.partition(":")[0] for line in owner.stdout.splitlines()}:
            told = Path("/usr/share/doc", package, "copyright")
            if told.exists():
                folder = out / package
                folder.mkdir(parents=True, exist_ok=True)
                shutil.copy(told, folder)


def main() -> None:
    program = Path(sys.argv[1])
    out = program / "licences"
    packages(out)
    python(out)
    libraries(program / "_internal", out)


if __name__ == "__main__":
    main()
