"""LinkedIn's two offset rewinds with real consumers, and nothing wrong under the right behaviours."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from mockbroker import MockCluster, unchecked
from studies.offset_rewinds.incidents import FIRST, FOLDER, MIRROR, SECOND, Incident, Played, play

from ..properties import thorough

RIGHT = [
    pytest.param(FIRST, FIRST.right, id="first"),
    pytest.param(SECOND, SECOND.right, id="second"),
    pytest.param(SECOND, {"compaction": "runs"}, id="second-compacted"),
]


JAVA = [
    pytest.param(incident, f"java-{release}", id=f"{name}-java-{release}")
    for name, incident, release in (
        ("first", FIRST, "2.8"),
        ("second", SECOND, "4.4"),
        *((("first", FIRST, "4.4"), ("second", SECOND, "2.8")) if thorough() else ()),
    )
]


def check_first(played: Played) -> None:
    """The commits of a month ago are served. One is out of range, and the reset loses what came last; the
    other is valid, and everything since then is read again."""
    views, deployments = played.of("views")[-1], played.of("deployments")[-1]
    assert (views.committed, views.read) == (30, [])
    assert views.log_start > 30
    assert deployments.committed == 6
    assert deployments.log_start == 0
    assert (played.lost("views"), played.read_again("views")) == (list(range(300, 330)), [])
    assert (played.lost("deployments"), played.read_again("deployments")) == ([], list(range(6, 60)))
    assert not played.as_checked


def check_second(played: Played) -> None:
    """No commit is left, and all is read again."""
    for topic, before in ("views", 300), ("deployments", 60):
        assert [each.committed for each in played.of(topic)[-2:]] == [before * 9 // 10, -1]
        assert (played.lost(topic), played.read_again(topic)) == ([], list(range(before)))
    assert not played.as_checked


def check_right(played: Played) -> None:
    """Each run resumes where the one before committed."""
    for topic, each_time in ("views", 30), ("deployments", 6):
        runs = played.of(topic)
        assert [each.committed for each in runs] == [-1, *range(each_time, 11 * each_time, each_time)]
        assert [offset for each in runs for offset in each.read] == list(range(11 * each_time))
    assert played.as_checked


def java_mirror(client: str) -> Sequence[str]:
    return (*MIRROR, "java", {"java-2.8": "2.8.2", "java-4.4": "4.4.0"}[client])


def test_first_incident() -> None:
    check_first(play(FIRST, {}))


def test_second_incident() -> None:
    check_second(play(SECOND, {}))


@pytest.mark.parametrize(("incident", "policies"), RIGHT)
def test_right_behaviours(incident: Incident, policies: Mapping[str, str]) -> None:
    check_right(play(incident, policies, MIRROR))


@pytest.mark.parametrize(("incident", "client"), JAVA)
def test_an_incident_of_java(incident: Incident, client: str) -> None:
    check = check_first if incident is FIRST else check_second
    check(play(incident, {}, java_mirror(client)))


@pytest.mark.parametrize(("incident", "client"), JAVA)
def test_right_behaviours_of_java(incident: Incident, client: str) -> None:
    check_right(play(incident, incident.right, java_mirror(client)))


def test_the_dump_of_the_first_incident_serves_the_wrong_or_the_right_offsets(tmp_path: Path) -> None:
    dump = [sys.executable, str(FOLDER / "dump.py"), str(tmp_path), *MIRROR]
    check_first(play(FIRST, {}, dump))
    for answer, views, deployments in (("stops", 30, 6), ("skips", 300, 66)):
        with MockCluster(
            kafka="3.9", offsets=tmp_path, policies=unchecked({"offsets-load": answer})
        ) as cluster:
            offsets = {topic: each.offset for (topic, _), each in cluster.committed("mirror").items()}
        assert offsets == {"views": views, "deployments": deployments}
