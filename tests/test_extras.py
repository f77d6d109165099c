"""What is missing is named, with how to install it from where the package came from."""

import importlib.metadata
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from mockbroker import extras

from .driving.processes import finished

WITHOUT = """
import sys
for name in ("pyspark", "pyarrow"):
    sys.modules[name] = None
sys.argv = ["mockbroker", *sys.argv[1:]]
from mockbroker.cli import main
main()
"""


@pytest.mark.parametrize(
    ("arguments", "extra"),
    [
        (["analyze", "trace.jsonl"], "analyze"),
        (["explore", "--seeds", "1", "--engine", "spark", "--out", "found"], "spark"),
        (["serve", "--port", "0", "--trace", "x.parquet"], "parquet"),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else value,
)
def test_a_command_names_the_extra_that_it_needs(arguments: list[str], extra: str, tmp_path: Path) -> None:
    (tmp_path / "trace.jsonl").write_text('{"schema": "mockbroker-trace", "version": 1}\n')
    done = finished([sys.executable, "-c", WITHOUT, *arguments], cwd=tmp_path)
    assert done.returncode == 2
    [line] = done.stderr.splitlines()
    assert "pip install " in line
    assert f"[{extra}]" in line


class Installed:
    """A distribution with that `direct_url.json`."""

    def __init__(self, told: dict[str, Any] | None) -> None:
        self._told = told

    def read_text(self, name: str) -> str | None:
        assert name == "direct_url.json"
        return None if self._told is None else json.dumps(self._told)


@pytest.mark.parametrize(
    ("told", "command"),
    [
        (None, "pip install 'mockbroker[spark]'"),
        ({"url": "file:///a%20b", "dir_info": {"editable": True}}, "pip install -e '/a b[spark]'"),
        ({"url": "file:///a", "dir_info": {}}, "pip install '/a[spark]'"),
        (
            {"url": "file:///a/m-1-py3-none-any.whl", "archive_info": {}},
            "pip install '/a/m-1-py3-none-any.whl[spark]'",
        ),
        (
            {"url": "https://host/m.git", "vcs_info": {"vcs": "git", "commit_id": "abc"}},
            "pip install 'mockbroker[spark] @ git+https://host/m.git@abc'",
        ),
    ],
)
def test_it_is_installed_from_where_it_came(
    told: dict[str, Any] | None, command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importlib.metadata, "distribution", lambda _: Installed(told))
    assert extras.how_to_install("spark") == command


def test_where_nothing_is_installed_it_is_the_checkout(monkeypatch: pytest.MonkeyPatch) -> None:
    def nowhere(name: str) -> Any:
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(importlib.metadata, "distribution", nowhere)
    top = Path(extras.__file__).parent.parent
    assert extras.how_to_install("parquet") == f"pip install -e '{top}[parquet]'"
