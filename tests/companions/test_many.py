"""Many tests with a cluster each, from one process: in full by `python -m benchmarks.companions`."""

import pytest

from benchmarks.companions import kill, play
from tests.turns import in_turn

LANGUAGES = [
    pytest.param("go", marks=pytest.mark.needs("go")),
    pytest.param("java", marks=pytest.mark.needs("java", "mvn")),
    pytest.param("node", marks=pytest.mark.needs("node", "npm")),
]
CLUSTERS = 40


@pytest.mark.parametrize("language", in_turn(LANGUAGES, 3))
def test_each_has_its_own_and_nothing_is_left(language: str) -> None:
    played = play(language, CLUSTERS, 8)
    # What the first clusters load, and eight at once.
    assert played.last_mb - played.idle_mb < 40


@pytest.mark.parametrize("language", in_turn([LANGUAGES[0], LANGUAGES[2]], 2))
def test_nothing_is_left_of_clusters_whose_test_was_killed(language: str) -> None:
    """That of Java takes Maven twice as long; the companion's own tests kill a JVM with one cluster."""
    kill(language)
