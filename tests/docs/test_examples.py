"""Examples that need no client run as they stand."""

import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
_EXAMPLE = re.compile(r"^```python\n(.*?)^```", re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize("page", ["faults.md", "own-policies.md", "reading-files.md", "trace.md"])
def test_an_example_runs(page: str) -> None:
    found = [each for each in _EXAMPLE.findall((DOCS / page).read_text()) if "# ... the client" not in each]
    assert found
    for each in found:
        exec(each, {"__name__": "example"})
