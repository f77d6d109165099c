"""Plays a story on brokers of a release, and keeps what they wrote."""

import shutil
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import trio

from . import consumer_groups, elections, exactly_once, groups, healthy, producers, records
from .admin import Admin
from .clients import applications
from .cluster import RecordedCluster
from .keeping import ARCHIVE, TRUTH, keep, pack
from .stage import STORIES, Stage, Story
from .truth import Truth

MODULES = (healthy, exactly_once, elections, records, producers, groups, consumer_groups)
"""Which add their stories."""


def record(story: Story, release: str, out: Path, tell: Callable[[str], None] = lambda _: None) -> Path:
    """Writes into the folder RELEASE-NAME of `out`, in place of an earlier one.

    RealBrokerError, BuildError, AdminError, StoryError, DriverFailedError.
    """
    home = out / f"{release}-{story.name}"
    with (
        TemporaryDirectory(prefix="incident-") as scratch,
        RecordedCluster(release, story.config, stepped=story.stepped) as cluster,
    ):
        clients, kept = Path(scratch, "clients"), Path(scratch, "kept")
        clients.mkdir()
        truth = Truth(story.name, release, story.finding)

        def copy() -> None:
            tell("keeps the files")
            keep(cluster, clients, story.topics, kept)

        trio.run(_play, story, cluster, clients, truth, tell, copy)
        if not kept.exists():
            copy()
        cluster.stop()
        done = Path(scratch, "done")
        done.mkdir()
        pack(kept, done / ARCHIVE)
        truth.write(done / TRUTH)
        shutil.rmtree(home, ignore_errors=True)
        shutil.copytree(done, home)
    return home


async def _play(
    story: Story,
    cluster: RecordedCluster,
    logs: Path,
    truth: Truth,
    tell: Callable[[str], None],
    copy: Callable[[], None],
) -> None:
    tell("starts clients")
    async with applications(cluster.bootstrap_servers, logs) as clients:
        stage = Stage(cluster, Admin(cluster.ports), clients, logs, truth, tell, copy)
        await story.play(stage)
        await clients.leave(*clients.members)


__all__ = ["STORIES", "record"]
