"""Whoever clones the repository gets all that was ever in it."""

import subprocess
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[1]
LARGEST: Final = 1_000_000
"""In bytes. What is larger is downloaded where it is needed, or packed."""


def test_no_tracked_file_is_large() -> None:
    """Outside a clone git says so, and the test fails."""
    listed = subprocess.run(
        ["git", "-C", ROOT, "ls-files", "-z"], check=True, stdout=subprocess.PIPE, text=True
    )
    files = [ROOT / name for name in listed.stdout.split("\0") if name]
    assert Path(__file__) in files
    sizes = {str(file.relative_to(ROOT)): file.lstat().st_size for file in files if file.is_file()}
    assert {name: size for name, size in sizes.items() if size > LARGEST} == {}
