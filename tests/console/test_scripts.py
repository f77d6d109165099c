"""The page's scripts: their types, and their state without a browser."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from mockbroker.console.files import FOLDER
from mockbroker.control.openapi import document
from mockbroker.control.table import OPERATIONS
from tests.console.tools import tools

HERE = Path(__file__).parent


def test_all_scripts_are_asked_for_at_once() -> None:
    """Otherwise the page would hear of some only when it has read others."""
    scripts = {each.relative_to(FOLDER).as_posix() for each in FOLDER.glob("**/*.js")}
    listed = re.findall(r'<link rel="modulepreload" href="(.+)" />', (FOLDER / "index.html").read_text())
    assert sorted([*listed, "app.js"]) == sorted(scripts)


@pytest.mark.needs("node")
@pytest.mark.parametrize("file", sorted(each.name for each in HERE.glob("node/*.test.js")))
def test_the_state_at_every_moment(tmp_path: Path, file: str) -> None:
    (tmp_path / "openapi.json").write_text(json.dumps(document(OPERATIONS.values())))
    environment = {**os.environ, "PAGE": str(FOLDER), "TRACES": str(tmp_path)}
    command = ["node", "--test", str(HERE / "node" / file)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


@pytest.mark.needs("node", "npm")
def test_the_types_are_right(tmp_path: Path) -> None:
    """Those of the libraries are in their packages."""
    (tmp_path / "node_modules").symlink_to(tools() / "node_modules")
    (tmp_path / "vendor").mkdir()
    for file in FOLDER.glob("*.js"):
        shutil.copy(file, tmp_path)
    for name, package in {"preact": "preact", "hooks": "preact/hooks"}.items():
        (tmp_path / f"vendor/{name}.d.ts").write_text(f'export * from "{package}";\n')
    (tmp_path / "vendor/htm.d.ts").write_text('export { default } from "htm";\n')
    shutil.copy(HERE / "node/tsconfig.json", tmp_path)
    command = [str(tools() / "node_modules/.bin/tsc"), "--project", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


@pytest.mark.needs("node", "npm")
@pytest.mark.parametrize(
    ("name", "original"),
    [
        ("preact.js", "preact/dist/preact.mjs"),
        ("hooks.js", "preact/hooks/dist/hooks.mjs"),
        ("htm.js", "htm/dist/htm.mjs"),
        ("LICENSE-preact", "preact/LICENSE"),
        ("LICENSE-htm", "htm/LICENSE"),
    ],
)
def test_libraries_are_as_npm_has_them(name: str, original: str) -> None:
    """But for what their README says."""
    text = (tools() / "node_modules" / original).read_text().replace('from"preact"', 'from"./preact.js"')
    assert (FOLDER / "vendor" / name).read_text() == re.sub(r"//# sourceMappingURL=.*", "", text)
