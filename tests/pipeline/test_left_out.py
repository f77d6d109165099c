"""Recordings without some of their files: nothing gets surer, and what these would tell is not ruled out."""

from __future__ import annotations

import tarfile
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from mockbroker.pipeline.analysis import search
from mockbroker.pipeline.collecting import collect
from mockbroker.pipeline.engine import DuckEngine
from mockbroker.pipeline.incidents import CONFIDENCE

from .test_recordings import HOME

KINDS = {
    "controller": ("controller/*.*",),
    "brokers": ("broker?/*.*",),
    "offsets": ("broker?/data/__consumer_offsets-*/*",),
    "all but clients": ("controller/*.*", "broker?/*.*", "broker?/data/*", "broker?/data/*/*"),
}
"""Files that are left out together."""
TELL = {
    "controller": ("log of a controller",),
    "brokers": ("logs of the brokers",),
    "offsets": ("offsets topic",),
    "all but clients": ("controller", "brokers", "offsets topic", "the log of orders"),
}
"""How evidence is named that only they have."""


def surest(findings: Iterable[dict[str, Any]]) -> dict[tuple[Any, ...], int]:
    """How sure the surest finding is of each group, partition, topic or broker: 0 is certain."""
    found: dict[tuple[Any, ...], int] = {}
    for each in findings:
        about = each["group"], each["topic"], each["partition"], each["broker"] if not each["topic"] else None
        rank = CONFIDENCE.index(each["confidence"])
        found[about] = min(rank, found.get(about, rank))
    return found


@pytest.mark.parametrize(
    ("name", "kinds", "finds"),
    [
        ("3.9.2-admin-reset", ["offsets", "all but clients"], False),
        ("4.4.0-unclean-election", ["controller", "brokers", "all but clients"], True),
    ],
)
def test_with_fewer_files(name: str, kinds: list[str], finds: bool, tmp_path: Path) -> None:
    """What was not found before may be possible without the file that tells better."""
    all_ruled_out = []
    files = tmp_path / "files"
    with tarfile.open(HOME / name / "files.tar.xz") as archive:
        archive.extractall(files, filter="data")
    (tmp_path / "scratch").mkdir()
    with closing(DuckEngine(tmp_path / "scratch")) as used:
        collected = collect([files], tmp_path / "observations", used)
        all_of_them = surest(search(collected, used).findings)
        for kind in kinds:
            without = {str(path) for pattern in KINDS[kind] for path in files.glob(pattern)}
            assert without
            part = search(collected, used, without)
            assert bool(part.findings) is finds, kind
            for about, rank in surest(part.findings).items():
                assert rank >= all_of_them.get(about, CONFIDENCE.index("possible")), (kind, part.findings)
            ruled_out = [told for each in part.incidents for told in each.ruled_out if told[:4] == "not "]
            all_ruled_out += ruled_out
            assert not [told for told in ruled_out if any(word in told for word in TELL[kind])], kind
    assert bool(all_ruled_out) is finds
