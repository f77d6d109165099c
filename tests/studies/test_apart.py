"""Tests of anything else don't import studies, which may be thrown away."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

TESTS = Path(__file__).parent.parent


def imported(file: Path) -> Iterator[str]:
    """The top-level packages that a module imports anywhere."""
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Import):
            yield from (each.name.partition(".")[0] for each in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            yield node.module.partition(".")[0]


def test_only_tests_of_studies_import_studies() -> None:
    files = {file: set(imported(file)) for file in TESTS.rglob("*.py")}
    using = {file for file, names in files.items() if "studies" in names}
    assert any(file.parent.name == "studies" for file in using)
    assert {str(file.relative_to(TESTS)) for file in using if "studies" not in file.parts[-2]} == set()
