"""A stage of brokers in memory, without a story."""

from collections.abc import Iterator
from contextlib import contextmanager

from ..driving.brokers import InMemoryBrokers
from . import STORIES
from .stage import StreamsStage


@contextmanager
def in_memory(name: str, lines: int = 0) -> Iterator[StreamsStage]:
    """If there are to be `lines`, a topic of that name with as many partitions."""
    stage = StreamsStage(InMemoryBrokers("4.4.0", STORIES.setting), name)
    stage.begin()
    if lines:
        stage.topic("lines", lines)
    yield stage
    stage.close()
