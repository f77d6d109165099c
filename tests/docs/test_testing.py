"""Every example of docs/testing.md is a test file that passes, and so is that of README.md."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
EXAMPLES = {
    f"{page}-{number}": source
    for page in ("docs/testing.md", "README.md")
    for number, source in enumerate(
        re.findall(r"^```python\n(.*?)^```", (ROOT / page).read_text(), re.DOTALL | re.MULTILINE), 1
    )
    if "mock_cluster" in source or page != "README.md"
}


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_passes(name: str, tmp_path: Path) -> None:
    (tmp_path / "test_example.py").write_text(EXAMPLES[name])
    (tmp_path / "pytest.ini").write_text("[pytest]\nfilterwarnings = error\naddopts = --strict-markers\n")
    command = [sys.executable, "-m", "pytest", "-p", "mockbroker.pytest_plugin", "-p", "no:asyncio", "-q"]
    done = subprocess.run(
        command,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert " passed" in done.stdout
