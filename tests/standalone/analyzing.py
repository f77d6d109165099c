"""`python -m tests.standalone.analyzing`: the larger folder analyzes an incident where there is no Python.

Making it takes minutes, so that CI does not: `make acceptance ARGS=bundle`.
"""

from __future__ import annotations

import json
import os
import subprocess
import tarfile
import tempfile
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]
INCIDENT: Final = ROOT / "tests" / "pipeline" / "recordings" / "3.9.2-unclean-election"


def main() -> None:
    subprocess.run(["make", "standalone"], cwd=ROOT, env={**os.environ, "BUNDLE": "analyze"}, check=True)
    [archive] = (ROOT / "build" / "standalone").glob("mockbroker-analyze-*.tar.xz")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with tarfile.open(archive) as packed:
            packed.extractall(folder, filter="data")
        program = folder / "mockbroker-analyze" / "mockbroker"
        subprocess.run([program, "analyze", INCIDENT, "--out", "report"], cwd=folder, env={}, check=True)
        [first, *_] = json.loads((folder / "report" / "incidents.json").read_text())["incidents"]
        assert (folder / "report" / "report.html").stat().st_size > 10_000
        assert first["name"] == "unclean-election"


if __name__ == "__main__":
    main()
