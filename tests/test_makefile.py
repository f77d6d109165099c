"""What `make` says on first use, while pip is silent. Python and pip are stand-ins."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PYTHON = r"""#!/bin/sh
mkdir -p .venv/bin
printf '#!/bin/sh\necho "ran $2"\n' | tee .venv/bin/python >.venv/bin/mockbroker
chmod +x .venv/bin/*
"""


@pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")
@pytest.mark.parametrize(
    ("target", "locks"), [("serve", ["run"]), ("test", ["run", "dev"]), ("site", ["run", "site"])]
)
def test_what_is_installed_is_told_first(target: str, locks: list[str], tmp_path: Path) -> None:
    for name in ("Makefile", "pyproject.toml"):
        shutil.copy(ROOT / name, tmp_path)
    shutil.copytree(ROOT / "requirements", tmp_path / "requirements")
    python = tmp_path / "python"
    python.write_text(PYTHON)
    python.chmod(0o755)
    environment = {name: value for name, value in os.environ.items() if "MAKE" not in name}
    command = ["make", f"PYTHON={python}", target]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    first, *said = done.stdout.splitlines()
    assert first == "Making .venv"
    for lock in locks:
        told = said.index(next(line for line in said if line.startswith("Installing") and lock in line))
        assert said[told].startswith(f"Installing what requirements/{lock}.lock pins into .venv, ")
        assert said[told + 1] == "ran pip"


PIP = r"""#!/bin/sh
shift 4
case "$1" in config) cat configuration ;; *) echo "pip $*" ;; esac
"""
"""`python -m pip --quiet --disable-pip-version-check …`."""


@pytest.mark.parametrize(
    ("configuration", "uv", "told"),
    [
        ("", "echo uv $1 $2", ["uv pip install"]),
        ("", "exit 2", ["pip install -r some.lock"]),
        ("global.index-url='https://here.example/simple'\n", "echo uv", ["pip install -r some.lock"]),
        ("global.cert='/etc/ssl/ca.pem'\n", "echo uv $1 $2", ["uv pip install"]),
    ],
)
def test_uv_installs_unless_pip_is_told_where_to_look(
    configuration: str, uv: str, told: list[str], tmp_path: Path
) -> None:
    (tmp_path / "configuration").write_text(configuration)
    for name, program in (("python", PIP), ("uv", f"#!/bin/sh\n{uv}\n")):
        (tmp_path / name).write_text(program)
        (tmp_path / name).chmod(0o755)
    command = [str(ROOT / "requirements" / "install"), str(tmp_path / "python"), "-r", "some.lock"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == told
