"""A TOML file, and the lines of what is in it."""

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..errors import MockBrokerError
from ..nearest import nearest


class ScenarioError(MockBrokerError, ValueError):
    """An invalid scenario; the message names file and line, and what would be right."""


class Document:
    """The tables of a file. ScenarioError if it can't be read."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            self._lines = path.read_text().splitlines()
            self.tables: dict[str, Any] = tomllib.loads("\n".join(self._lines))
        except OSError as error:
            raise ScenarioError(f"can't read {path}: {error.strerror}") from None
        except ValueError as error:
            # TOML's parser gives the position as text.
            at = re.search(r" \(at line (\d+), column (\d+)\)", str(error))
            why = str(error).replace(at[0], "") if at else str(error)
            raise ScenarioError(f"{path}{f':{at[1]}' if at else ''}: {why}") from None

    def wrong(self, table: str, index: int | None, key: str | None, why: str) -> ScenarioError:
        """The error for a key of a table; `index` counts the tables of that name, from 0."""
        line = self._line(table, index or 0, key)
        place = f"{self.path}:{line}" if line else str(self.path)
        name = f"[{table}]" if index is None else f"[[{table}]] {index + 1}"
        return ScenarioError(f"{place}: {name}: {why}")

    def wrong_at_top(self, key: str, why: str) -> ScenarioError:
        """The error for a key that is above all tables."""
        named = re.compile(rf"""\s*["']?{re.escape(key)}["']?\s*[=.]|\s*\[\s*{re.escape(key)}\s*[\].]""")
        lines = [number for number, line in enumerate(self._lines, 1) if named.match(line)]
        return ScenarioError(f"{self.path}:{lines[0]}: {why}" if lines else f"{self.path}: {why}")

    def check(self, table: str, index: int | None, given: Mapping[str, Any], known: list[str]) -> None:
        """ScenarioError for an unknown key."""
        for key in given:
            if key not in known:
                raise self.wrong(table, index, key, f"no key {key!r}{nearest(key, known)}")

    def each(self, table: str) -> list[dict[str, Any]]:
        """The tables `[[table]]`. ScenarioError if it is not an array of tables."""
        found = self.tables.get(table, [])
        if not isinstance(found, list) or not all(isinstance(each, dict) for each in found):
            raise self.wrong(table, None, None, f"write it as [[{table}]]")
        return found

    def _line(self, table: str, index: int, key: str | None) -> int | None:
        """The line, from 1; if the key is not found, the table's. TOML's parser gives no positions."""
        header = re.compile(rf"\s*\[+\s*{re.escape(table)}\s*(\.|\]+)")
        starts = [number for number, line in enumerate(self._lines) if header.match(line)]
        if index >= len(starts):
            return None
        if key is not None:
            named = re.compile(rf"""(^|[\s{{,\[."']){re.escape(key)}["']?\s*[=.\]]""")
            for number in range(starts[index], len(self._lines)):
                line = self._lines[number]
                if number > starts[index] and re.match(r"\s*\[", line) and not header.match(line):
                    break
                if named.search(line) and not line.lstrip().startswith("#"):
                    return number + 1
        return starts[index] + 1
