"""Plays a story on brokers of a release, and keeps what they wrote."""

import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import trio

from mockbroker.rig.scene import LacksApiError
from mockbroker.rig.stories import Tell

from . import (
    alterations,
    applications,
    consumer_groups,
    deletions,
    deployments,
    elections,
    exactly_once,
    groups,
    healthy,
    members,
    memberships,
    obstacles,
    operations,
    outages,
    positions,
    producers,
    readers,
    records,
    refusals,
    replicas,
    share_groups,
    standstills,
    transactions,
    upkeep,
)
from .admin import Admin
from .clients import applications as opened
from .cluster import RecordedCluster
from .keeping import ARCHIVE, TRUTH, keep, pack
from .stage import STORIES, IncidentStage, Story
from .truth import Truth

_RECORDINGS: Final = Path(__file__).parents[1] / "tests" / "pipeline" / "recordings"
MODULES = (
    healthy,
    exactly_once,
    elections,
    records,
    producers,
    transactions,
    groups,
    members,
    consumer_groups,
    memberships,
    readers,
    refusals,
    outages,
    replicas,
    operations,
    share_groups,
    alterations,
    deployments,
    deletions,
    standstills,
    upkeep,
    applications,
    positions,
    obstacles,
)
"""Which add their stories."""


class Incidents:
    """A `rig.stories.Recordable`: each story gets a folder RELEASE-NAME."""

    releases = ("4.4.0",)

    def about(self) -> dict[str, str]:
        return {name: f"({each.finding or 'healthy'}) {each.about}" for name, each in STORIES.items()}

    def sharing(self, names: Sequence[str]) -> list[list[str]]:
        return [[name] for name in names]

    def record(self, release: str, names: Sequence[str], tell: Tell, out: Path | None) -> None:
        """With those of the tests if `out` is None. LacksApiError, RealBrokerError, BuildError, AdminError,
        StoryError, DriverFailedError."""
        for story in (STORIES[name] for name in names):
            if not story.known_to(release):
                raise LacksApiError(f"what begins with Kafka {'.'.join(map(str, story.since))}")
            home = _record(story, release, _RECORDINGS if out is None else out, tell)
            size = sum(each.stat().st_size for each in home.iterdir())
            tell(f"{story.name}: {size // 1024} KiB")


def _record(story: Story, release: str, out: Path, tell: Tell) -> Path:
    home = out / f"{release}-{story.name}"
    with (
        TemporaryDirectory(prefix="incident-") as scratch,
        RecordedCluster(
            release, story.config, brokers=story.brokers, stepped=story.stepped, login=story.login
        ) as cluster,
    ):
        clients, kept = Path(scratch, "clients"), Path(scratch, "kept")
        clients.mkdir()
        truth = Truth(story.name, release, story.finding, story.libraries)

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
    tell: Tell,
    copy: Callable[[], None],
) -> None:
    tell("starts clients")
    async with opened(cluster.bootstrap_servers, logs, story.libraries) as clients:
        stage = IncidentStage(cluster, Admin(cluster.ports), clients, logs, truth, tell, copy, not story.twin)
        await story.play(stage)
        await clients.leave(*clients.members)
