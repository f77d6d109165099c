"""Spark's source and sink for Kafka on brokers where something goes wrong.

What is expected stands in docs/spark-as-a-client.md: each row of its tables is a test here.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import pytest

from mockbroker import MockCluster, unchecked
from mockbroker.clients.drivers import building

from .conftest import connector_jars
from .spark_queries import DONE, NOTHING, TOPIC, Stream, Table
from .spark_stories import CONFIG, IN_TRANSACTIONS, STORIES, Scene, Story, aborted, some_deleted, truncated

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PAGE = Path(__file__).parents[2] / "docs" / "spark-as-a-client.md"
DATA_LOSS = "failOnDataLoss", ("true", "false")
HEADS = {"what happens", "--", "---"}
ISOLATION = "kafka.isolation.level", ("read_uncommitted", "read_committed")


def tables() -> dict[str, list[str]]:
    """The rows of the page's tables, by their first cell."""
    rows = [line.strip("|\n") for line in PAGE.read_text().splitlines() if line.startswith("|")]
    cells = [[cell.strip() for cell in row.split("|")] for row in rows]
    return {first: others for first, *others in cells}


EXPECTED = tables()


@pytest.fixture(scope="module")
def kafka(spark: SparkSession) -> SparkSession:
    """The session, where it has the connector."""
    try:
        connector_jars()
    except building.BuildError as error:
        pytest.fail(str(error), pytrace=False)
    return spark


def happens(
    story: Story,
    spark: SparkSession,
    folder: Path,
    setting: tuple[str, tuple[str, ...]],
    release: str = "4.4",
) -> list[str]:
    """What queries of each setting read, and what they read later."""
    option, values = setting
    with MockCluster(kafka=unchecked(release), brokers=3, config=CONFIG) as cluster:
        scene = Scene(cluster)
        for value in values:
            options = {option: value, **story.options}
            scene.streams.append(Stream(spark, folder, cluster.bootstrap_servers, value, options))
        try:
            story.tell(scene)
            first = scene.read()
            scene.go_on()
            return [cell for pair in zip(first, scene.read(), strict=True) for cell in pair]
        finally:
            scene.stop()


@pytest.mark.parametrize("story", STORIES, ids=lambda story: story.tell.__name__)
def test_what_a_stream_reads(story: Story, kafka: SparkSession, tmp_path: Path) -> None:
    assert happens(story, kafka, tmp_path, DATA_LOSS) == EXPECTED[story.title]


@pytest.mark.parametrize("story", IN_TRANSACTIONS, ids=lambda story: story.tell.__name__)
def test_what_a_stream_reads_of_transactions(story: Story, kafka: SparkSession, tmp_path: Path) -> None:
    assert happens(story, kafka, tmp_path, ISOLATION) == EXPECTED[story.title]


@pytest.mark.parametrize("release", ["0.11", "2.5"])
@pytest.mark.parametrize(
    ("tell", "setting"), [(some_deleted, DATA_LOSS), (truncated, DATA_LOSS), (aborted, ISOLATION)]
)
def test_brokers_of_any_release_are_read_alike(
    tell: Any, setting: Any, release: str, kafka: SparkSession, tmp_path: Path
) -> None:
    (story,) = (each for each in (*STORIES, *IN_TRANSACTIONS) if each.tell is tell)
    assert happens(story, kafka, tmp_path, setting, release) == EXPECTED[story.title]


def test_a_checkpoint_goes_back(kafka: SparkSession, tmp_path: Path) -> None:
    """With failOnDataLoss=false, to where the log ends by now; what is written next is read."""
    with MockCluster(brokers=3, config=CONFIG) as cluster:
        scene = Scene(cluster)
        stream = Stream(kafka, tmp_path, cluster.bootstrap_servers, "q", {"failOnDataLoss": "false"})
        scene.streams.append(stream)
        try:
            truncated(scene)
            scene.read()
            assert stream.offsets() == {TOPIC: {"0": 1}}
            scene.send("x y")
            assert scene.read() == ["x y"]
            assert stream.offsets() == {TOPIC: {"0": 3}}
        finally:
            stream.stop()


class Trouble(NamedTuple):
    """A fault while `a` is written to partition 0 and `b` to 1, by a batch query or a stream."""

    title: str
    fault: Mapping[str, Any]
    options: Mapping[str, str] = {}
    stream: bool = False


LOST: Final = {"do": "disconnect", "when": "after", "partition": 0}
REFUSED: Final = {"do": "error", "partition": 1, "error": "INVALID_RECORD"}
TROUBLES: Final = (
    Trouble("an answer is lost", LOST),
    Trouble(
        "an answer is lost; `kafka.enable.idempotence=false`", LOST, {"kafka.enable.idempotence": "false"}
    ),
    Trouble("the leader moves before it writes", {"do": "move-leader", "when": "before"}),
    Trouble("the leader goes down before it writes", {"do": "stop-broker", "when": "before"}),
    Trouble("partition 1 is answered INVALID_RECORD", REFUSED),
    Trouble("partition 1 is answered INVALID_RECORD; a stream", REFUSED, stream=True),
)


@pytest.mark.parametrize("trouble", TROUBLES, ids=lambda trouble: trouble.title)
def test_what_is_written(trouble: Trouble, kafka: SparkSession, tmp_path: Path) -> None:
    config = {"default.replication.factor": "2"}
    with MockCluster(topics={TOPIC: 1, "out": 2}, config=config) as cluster:
        source = Table(kafka, cluster.bootstrap_servers, TOPIC)
        table = Table(kafka, cluster.bootstrap_servers, "out")
        if trouble.stream:
            assert [source.write(each) for each in "ab"] == [DONE, DONE]
        cluster.faults.add(**trouble.fault, api="Produce", topic="out", times=1)

        def write() -> str:
            if trouble.stream:
                return table.write_stream(TOPIC, tmp_path, trouble.options)
            return table.write("a b", trouble.options)

        found = [write(), table.read()]
        found += [NOTHING, NOTHING] if found[0] == DONE else [write(), table.read()]
    assert found == EXPECTED[trouble.title]


BATCHES: Final = {
    "`a b` are deleted": [0, 2],
    "it begins past the end": [9, 0],
}


@pytest.mark.parametrize("title", BATCHES)
def test_what_a_batch_query_reads(title: str, kafka: SparkSession) -> None:
    start, deleted = BATCHES[title]
    with MockCluster(config=CONFIG) as cluster:
        scene = Scene(cluster)
        scene.send("a b c")
        if deleted:
            scene.delete_records(deleted)
        options = {"startingOffsets": json.dumps({TOPIC: {"0": start}})}
        table = Table(kafka, cluster.bootstrap_servers, TOPIC)
        found = [table.read({**options, DATA_LOSS[0]: value}) for value in DATA_LOSS[1]]
    assert found == EXPECTED[title]


def test_the_page_has_no_other_rows() -> None:
    told = {story.title for story in (*STORIES, *IN_TRANSACTIONS)}
    assert {*EXPECTED} - HEADS == told | {trouble.title for trouble in TROUBLES} | {*BATCHES}
