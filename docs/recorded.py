"""The page of recorded incidents, with which `analyze` is compared."""

import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from incidents.stage import STORIES
from tests.pipeline.not_told import NOT_TOLD

_RECORDINGS: Final = Path(__file__).parents[1] / "tests" / "pipeline" / "recordings"
_HEAD: Final = """
# What analyze says of recorded incidents

These incidents were made on purpose, with real brokers and clients
(`python -m mockbroker.rig record incidents`). Of each there are its files and its truth: what was done, and
what users notice of it. Tests compare that with what [`mockbroker analyze`](../analyze.md) says of the files,
and of some of them only (`make acceptance ARGS=incidents`).

*All* means that the cause is told and all that is noticed, with offsets; *in part*, that some of it is not
told. A *twin* is the same without the cause, and nothing is told of it.
""".strip()


def page() -> Iterator[str]:
    recorded = {each.name for each in _RECORDINGS.iterdir()}
    healthy = {each for each in recorded if _is_healthy(each)}
    yield _HEAD
    yield ""
    yield from _table("incident", recorded - healthy, healthy)
    yield ""
    yield "These operations are no incidents, and nothing is told of them."
    yield ""
    yield from _table("operation", {each for each in healthy if not each.endswith("-healthy")}, healthy)


def _is_healthy(name: str) -> bool:
    return bool(tomllib.loads((_RECORDINGS / name / "truth.toml").read_text())["healthy"])


def _table(what: str, rows: set[str], healthy: set[str]) -> Iterator[str]:
    releases = sorted({each.partition("-")[0] for each in rows})
    yield f"| {what} | what happens | {' | '.join(releases)} |"
    yield f"|---|---|{'---|' * len(releases)}"
    for name in sorted({each.partition("-")[2] for each in rows}):
        cells = [_cell(each, healthy) if each in rows else "" for each in (f"{r}-{name}" for r in releases)]
        yield f"| `{name}` | {' '.join(STORIES[name].about.split())} | {' | '.join(cells)} |"


def _cell(name: str, healthy: set[str]) -> str:
    told = "nothing" if name in healthy else "in part" if name in NOT_TOLD else "all"
    return f"{told}, twin" if f"{name}-healthy" in healthy else told
