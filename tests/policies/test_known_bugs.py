"""Every known bug is a behaviour that changed in the release with its fix, or its absence has a reason."""

import re
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pytest

from mockbroker.policies import CATALOGUE
from mockbroker.protocol.releases import facts, names, parse

HERE: Final = Path(__file__).parent
LEFT_OUT: Final = (HERE.parents[1] / "docs" / "left-out.md").read_text()
Version = tuple[int, ...]


@dataclass(frozen=True)
class Bug:
    """A row of `known_bugs.toml`, whose head says what the fields mean."""

    ids: tuple[str, ...]
    symptom: str
    fixed: tuple[str, ...]
    behaviour: str | None = None
    before: tuple[str, ...] = ()
    since: str | None = None
    seldom: str | None = None
    left_out: bool = False

    def affects(self, release: str) -> bool:
        """Whether a patch release has the bug: since it came, and before its line has the fix."""
        version = numbers(release)
        if self.since and version < numbers(self.since):
            return False
        fixes = sorted(numbers(fix) for fix in self.fixed)
        of_its_line = [fix for fix in fixes if line(fix) == line(version)]
        return version < of_its_line[0] if of_its_line else not fixes or version < fixes[-1]


def numbers(version: str) -> Version:
    return tuple(int(part) for part in version.split("."))


def line(version: Version) -> Version:
    return version[:2]


def rows() -> list[Bug]:
    found = []
    for row in tomllib.loads((HERE / "known_bugs.toml").read_text())["bug"]:
        values: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in row.items()}
        found.append(Bug(**values))
    return found


def named(bugs: list[Bug]) -> dict[str, Bug]:
    return {" ".join(bug.ids): bug for bug in bugs}


ROWS: Final = rows()
SHOWN: Final = named([bug for bug in ROWS if not bug.left_out])
WITHOUT: Final = named([bug for bug in ROWS if bug.left_out])


def test_each_has_one_place() -> None:
    ids = [each for bug in ROWS for each in bug.ids]
    assert sorted(ids) == sorted(set(ids))


@pytest.mark.parametrize("bug", SHOWN.values(), ids=SHOWN)
def test_its_behaviour_changed_with_the_fix(bug: Bug) -> None:
    assert bug.behaviour is not None
    behaviour = CATALOGUE[bug.behaviour]
    assert set(bug.ids) <= set(behaviour.ids)
    assert bug.before
    assert set(bug.before) < set(behaviour.answers)
    shown = {release: behaviour.default(parse(release)) in bug.before for release in names()}
    if bug.seldom:
        assert not any(shown.values()), "by choice only"
        return
    patch = {release: facts(parse(release)).measured_on for release in names()}
    affected = {release for release in names() if bug.affects(patch[release])}
    assert affected <= {release for release in names() if shown[release]}
    last = [release for release in names() if release in affected][-1:]
    after = names()[names().index(last[0]) + 1] if last and last[0] != names()[-1] else None
    if after:
        assert not shown[after], f"{after} stands for {patch[after]}, which has the fix"
    if not affected:
        assert not any(shown.values()), "no line stands for a release with it: by choice only"


@pytest.mark.parametrize("bug", WITHOUT.values(), ids=WITHOUT)
def test_what_is_left_out_has_a_reason(bug: Bug) -> None:
    for each in bug.ids:
        (cells,) = [row for row in _table_rows() if re.search(rf"\b{each}\b", row[0])]
        assert len(cells) >= 3
        assert all(len(cell) > 3 for cell in cells)
        assert [name for name, b in CATALOGUE.items() if each in b.ids] == []


def _table_rows() -> list[list[str]]:
    found = [row.strip("|").split("|") for row in LEFT_OUT.splitlines() if row.startswith("| ")]
    return [[cell.strip() for cell in row] for row in found]


ALL: Final = "1.1.1 2.0.0 2.0.1 2.5.0 2.5.1 2.8.1 2.8.2 3.0.0 3.0.1 3.1.0 3.1.1 3.2.0"


@pytest.mark.parametrize(
    ("fixed", "affected"),
    [
        (("2.0.1", "2.1.0"), "1.1.1 2.0.0"),
        (("2.5.1", "2.6.0"), "1.1.1 2.0.0 2.0.1 2.5.0"),
        (("2.8.2", "3.0.1", "3.1.1"), "1.1.1 2.0.0 2.0.1 2.5.0 2.5.1 2.8.1 3.0.0 3.1.0"),
        ((), ALL),
    ],
)
def test_which_releases_have_a_bug(fixed: tuple[str, ...], affected: str) -> None:
    bug = Bug(("KAFKA-0",), "symptom", fixed)
    assert " ".join(release for release in ALL.split() if bug.affects(release)) == affected
    since = Bug(("KAFKA-0",), "symptom", fixed, since="2.0.1")
    assert not since.affects("2.0.0")
