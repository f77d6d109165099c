"""Recordings without some of their files: nothing gets surer, nothing else blamed, nothing true ruled out. Of
a healthy cluster nothing else is noticed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from mockbroker.pipeline.analysis import Analysis, search
from mockbroker.pipeline.engine import DuckEngine
from mockbroker.pipeline.incidents import CONFIDENCE
from mockbroker.pipeline.signatures import by_name

from ..properties import thorough
from .real_clusters import HOME, RECORDED, Analyzed, of_recording, recordings, truth_of

KINDS = {
    "data": ("broker?/data/*", "broker?/data/*/*"),
    "controller": ("controller/*.*",),
    "brokers": ("broker?/*.*",),
    "clients": ("clients/*",),
    "offsets": ("broker?/data/__consumer_offsets-*/*",),
    "all but clients": ("controller/*.*", "broker?/*.*", "broker?/data/*", "broker?/data/*/*"),
}
"""Files that are left out together."""
TELL = {
    "data": ("offsets topic", "the log of orders"),
    "controller": ("log of a controller",),
    "brokers": ("logs of the brokers",),
    "clients": ("log of a Java client",),
    "offsets": ("offsets topic",),
    "all but clients": ("controller", "brokers", "offsets topic", "the log of orders"),
}
"""How evidence is named that only they have."""
ALONE = ("data", "controller", "brokers", "clients")
SHORT = [HOME / "4.4.0-offsets-expired", HOME / "4.4.0-poll-overrun"]
FEW = [
    *(*SHORT, HOME / "4.4.0-unclean-election", HOME / "3.9.2-producer-died-in-transaction"),
    *(HOME / "4.4.0-share-records-deleted", HOME / "4.4.0-share-records-given-up"),
    *(HOME / "4.4.0-consumer-throttled", HOME / "4.4.0-group-deleted", HOME / "4.4.0-partition-paused"),
    HOME / "4.4.0-advertised-wrong-healthy",
]
TRIED = RECORDED if thorough() else FEW
"""All with the profile `thorough`: searches in each take their time."""


def kinds_of(folder: Path) -> Sequence[str]:
    """One by turns, so that each is left out of two recordings or three; all with the profile `thorough`."""
    return ALONE if thorough() else ALONE[FEW.index(folder) % 4 :: 4]


@contextmanager
def searching(whole: Analysis, folder: Path, scratch: Path) -> Iterator[Callable[[str], Analysis]]:
    """What is found without the files of a kind."""
    files = whole.collected.folder.parents[1] / folder.name
    with closing(DuckEngine(scratch)) as used:

        def found(kind: str) -> Analysis:
            without = {str(path) for pattern in KINDS[kind] for path in files.glob(pattern)}
            assert without
            return search(whole.collected, used, without)

        yield found


def surest(findings: Iterable[dict[str, Any]]) -> dict[tuple[Any, ...], int]:
    """How sure the surest finding is of each group, partition, topic or broker: 0 is certain."""
    found: dict[tuple[Any, ...], int] = {}
    for each in findings:
        about = each["group"], each["topic"], each["partition"], each["broker"] if not each["topic"] else None
        rank = CONFIDENCE.index(each["confidence"])
        found[about] = min(rank, found.get(about, rank))
    return found


def _most(known: dict[tuple[Any, ...], int], about: tuple[Any, ...]) -> int:
    """How sure one may be of a subject, of which fewer files may tell less."""
    alike = (
        rank
        for other, rank in known.items()
        if all(one in (None, whole) for one, whole in zip(about, other, strict=True))
    )
    return min(alike, default=CONFIDENCE.index("possible"))


def noticed(found: Analysis) -> set[tuple[str, str, str]]:
    """What is noticed, of whom, and where: without times and numbers, which fewer files may not tell."""
    return {(each.name, each.who, each.at) for each in found.symptoms}


def certain(found: Analysis) -> set[str]:
    return {each["signature"] for each in found.findings if each["confidence"] == CONFIDENCE[0]}


@pytest.mark.parametrize("folder", recordings(TRIED, SHORT))
def test_with_fewer_files(folder: Path, analyzed: Analyzed, tmp_path: Path) -> None:
    """What was not found before may be possible without the file that tells better."""
    truth = truth_of(folder)
    signature = None if truth["healthy"] else by_name().get(truth["finding"])  # None also if it is not told
    looked_for = None if signature is None else signature.looked_for
    whole = analyzed(folder)
    known = surest(whole.findings)
    with searching(whole, folder, tmp_path) as found:
        for kind in kinds_of(folder):
            part = found(kind)
            if truth["healthy"]:
                assert {each.confidence for each in part.incidents} <= {"possible"}, kind
                assert noticed(part) <= noticed(whole), (kind, [each.told for each in part.symptoms])
            assert certain(part) <= certain(whole), kind
            for about, rank in surest(part.findings).items():
                assert rank >= _most(known, about), (kind, about, part.findings)
            ruled_out = [told for each in part.incidents for told in each.ruled_out if told[:4] == "not "]
            assert not [told for told in ruled_out if any(word in told for word in TELL[kind])], kind
            if looked_for is not None:
                assert not [told for told in ruled_out if told.startswith(f"not {looked_for.named}")], kind


@pytest.mark.parametrize(
    ("name", "kinds", "finds"),
    [
        pytest.param(name, kinds, finds, marks=of_recording(name))
        for name, kinds, finds in (
            ("4.4.0-admin-reset", ["offsets", "all but clients"], False),
            ("4.4.0-unclean-election", ["controller", "all but clients"], True),
        )
    ],
)
def test_what_is_still_ruled_out(
    name: str, kinds: list[str], finds: bool, analyzed: Analyzed, tmp_path: Path
) -> None:
    """Files that are there rule out what they would tell."""
    all_ruled_out = []
    with searching(analyzed(HOME / name), HOME / name, tmp_path) as found:
        for kind in kinds:
            part = found(kind)
            assert bool(part.findings) is finds, kind
            ruled_out = [told for each in part.incidents for told in each.ruled_out if told[:4] == "not "]
            all_ruled_out += ruled_out
            assert not [told for told in ruled_out if any(word in told for word in TELL[kind])], kind
    assert bool(all_ruled_out) is finds


@of_recording("4.4.0-group-deleted")
def test_a_group_was_deleted_without_the_offsets_topic(analyzed: Analyzed, tmp_path: Path) -> None:
    """Of one group nothing tells how far it had read; the other one's client had logged its commits."""
    folder = HOME / "4.4.0-group-deleted"
    with searching(analyzed(folder), folder, tmp_path) as found:
        part = found("data")
    told = {each["group"]: (each["signature"], each["confidence"]) for each in part.findings}
    assert told == dict.fromkeys(("billing", "shipping"), ("group-deleted", "likely"))
    (back,) = part.symptoms
    assert (back.name, back.group, back.offset, back.end_offset) == ("position-back", "shipping", 0, 300)
    assert back.explained_by == [0]
