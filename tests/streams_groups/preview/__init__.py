"""What streams groups did in 4.1, where they had to be turned on."""

from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from mockbroker.rig.stories import Answers, Told, named

from ..stage import StreamsStage
from ..stories import STORIES as LATER
from . import loading

UNSTABLE: Final = {"unstable.api.versions.enable": "true", "unstable.feature.versions.enable": "true"}
STORIES: Final[Told[StreamsStage]] = replace(
    LATER,
    folder=Path(__file__).parent,
    stories={**LATER.stories, **named(loading.loaded)},
    setting=LATER.setting.with_config(UNSTABLE),
)
_BY_CHANCE: Final = {
    "several_members": {"two left"},
    "threads": {"one left"},
    "delayed": {"both have tasks"},
    "standbys": {"one left", "no more processes", "no copies"},
}
"""Steps in which members have as much to do as each other, and one has to get a task: who does is another one
each time that 4.1.1 is asked."""


def without_chance(story: str, told: Answers) -> Answers:
    """Of such steps only which tasks there are, and how many members have how many of them."""
    by_chance = _BY_CHANCE.get(story, ())
    return [[label, _shares(answer) if label in by_chance else answer] for label, answer in told]


def _shares(answer: dict[str, list[str]]) -> Any:
    """As `settle` says it, for instance `active 0: 1, 2`."""
    tasks, sizes = [], []
    for listed in answer.values():
        split = [each.split(": ") for each in listed]
        found = [f"{kind}_{index}" for kind, indexes in split for index in indexes.split(", ")]
        tasks += found
        sizes.append(sorted(each.split()[0] for each in found))
    return [sorted(tasks), sorted(sizes)]
