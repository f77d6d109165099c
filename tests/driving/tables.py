"""Tables of the docs that say what to write in place of something else: each row is code."""

import re
from pathlib import Path
from typing import Any

_DOCS = Path(__file__).parents[2] / "docs"
_ROW = re.compile(r"^\| `([^`]+)`[^`|]* \| `(.+)` \|$", re.MULTILINE)


def rows(page: str, before: str) -> dict[str, str]:
    """What is to be written, by what was written: the table after the line that ends with `before`."""
    [_, after] = (_DOCS / page).read_text().split(f"{before}\n\n")
    table = after.partition("\n\n")[0].strip()
    found = dict(_ROW.findall(table))
    assert len(found) == table.count("\n") - 1, "a row is not code"
    return found


def run_row(code: str, **scope: Any) -> Any:
    """Runs what a row says to write, and returns the value of its last expression."""
    *before, last = code.split("; ")
    for each in before:
        exec(each, scope)
    return eval(last, scope)
