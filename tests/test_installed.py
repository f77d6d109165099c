"""What is installed is what is here."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
FOLDERS = {
    "mockbroker": "mockbroker",
    **{
        name: f"mockbroker/{name}"
        for name in ("protocol", "policies", "rig", "conformance", "clients", "pipeline")
    },
}
"""Where the files of each folder are installed."""


def test_every_file_is_installed(tmp_path: Path) -> None:
    """Also from an sdist, which has no links."""
    subprocess.run(["git", "clone", "--quiet", str(ROOT), str(tmp_path / "clone")], check=True)
    links = [each for each in (tmp_path / "clone" / "mockbroker").iterdir() if each.is_symlink()]
    assert len(links) == len(FOLDERS) - 1
    for each in links:
        each.unlink()
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(tmp_path)]
    subprocess.run([*command, str(tmp_path / "clone")], check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    installed = set(zipfile.ZipFile(wheel).namelist())
    wanted = set()
    for folder, place in FOLDERS.items():
        for file in (tmp_path / "clone" / folder).rglob("*"):
            if file.is_file():
                wanted.add(f"{place}/{file.relative_to(tmp_path / 'clone' / folder)}")
    assert sorted(wanted - installed) == []
    assert len(wanted) > 1_000
