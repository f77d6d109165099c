"""Every example of docs/testing.md is a test file that passes, and so is that of README.md."""

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGES = ("docs/testing.md", "README.md")
_EXAMPLE = re.compile(r"^```python\n(.*?)^```", re.DOTALL | re.MULTILINE)


def test_the_examples_pass(tmp_path: Path) -> None:
    for page in PAGES:
        text = (ROOT / page).read_text()
        found = [match for match in _EXAMPLE.finditer(text) if "def test_" in match[1]]
        assert found
        for match in found:
            line = text.count("\n", 0, match.start()) + 1
            name = f"test_{Path(page).stem}_line_{line}.py"
            (tmp_path / name).write_text(match[1])
    (tmp_path / "pytest.ini").write_text(
        "[pytest]\n"
        "filterwarnings = error\n"
        "addopts = --strict-markers\n"
        "asyncio_default_fixture_loop_scope = function\n"
    )
    command = [sys.executable, "-m", "pytest", "-p", "mockbroker.pytest_plugin", "-v"]
    done = subprocess.run(
        command,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    for path in tmp_path.glob("test_*.py"):
        assert f"{path.name}::" in done.stdout
