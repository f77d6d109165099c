"""The console's stories: known stories played with a real client, and the trace of each with its captions.

`python -m studies.console_stories` plays them anew and writes `mockbroker/console/page/stories`.
"""

import json
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import trio

from mockbroker.clients.check.scenario import Scenario
from mockbroker.clients.check.scenarios import SCENARIOS
from mockbroker.clients.check.scene import Scene
from mockbroker.clients.drivers import open_driver
from mockbroker.clients.drivers.shipped import SHIPPED
from mockbroker.clients.hunt.playing import Users, play
from mockbroker.clients.hunt.stage import Stage
from mockbroker.console.files import FOLDER
from mockbroker.trace import Event
from mockbroker.trace.files import write_json_lines

STORIES: Final = FOLDER / "stories"
_CAPTIONS: Final = Path(__file__).with_suffix(".toml")
_PARTITION: Final = "t-0"
_KAFKA: Final = "4.4"


@dataclass(frozen=True)
class Caption:
    """Shown from an event on that has the values `at`, without them from the beginning."""

    text: str
    at: Mapping[str, Any] = field(default_factory=dict)

    def fits(self, event: Event) -> bool:
        return all(_has(getattr(event, name, None), wanted) for name, wanted in self.at.items())


def _has(value: Any, wanted: Any) -> bool:
    if isinstance(value, tuple):
        return list(value) == wanted if isinstance(wanted, list) else wanted in value
    return bool(value == wanted)


@dataclass(frozen=True)
class Story:
    """A scenario of `mockbroker check`, played with `client`."""

    scenario: Scenario
    title: str
    about: str
    captions: Sequence[Caption]
    policies: Mapping[str, str]
    file: str
    client: str


def told() -> Iterator[Story]:
    for given in tomllib.loads(_CAPTIONS.read_text())["story"]:
        yield Story(
            next(each for each in SCENARIOS.values() if each.name == given["scenario"]),
            given["title"],
            " ".join(given["about"].split()),
            [Caption(" ".join(each["text"].split()), each.get("at", {})) for each in given["caption"]],
            given.get("policies", {}),
            given.get("file", f"{given['scenario']}.jsonl"),
            given.get("client", "confluent-kafka"),
        )


def placed(story: Story, events: Sequence[Event]) -> list[tuple[int, str]]:
    """The number of the event from which on each caption is shown. LookupError names one that has none."""
    rest = iter(events)
    number = events[0].number
    found = []
    for caption in story.captions:
        if caption.at:
            event = next((each for each in rest if caption.fits(each)), None)
            if event is None:
                raise LookupError(f"{story.file}: no event is {dict(caption.at)} after event {number}")
            number = event.number
        found.append((number, caption.text))
    return found


async def recorded(story: Story) -> list[Event]:
    """What happens while it is played; takes some seconds."""
    events: list[Event] = []

    async def tell(stage: Stage, users: Users) -> None:
        await story.scenario.tell(Scene(stage, users))
        events.extend(stage.cluster.run_with_trace(lambda trace: trace.whole()))

    plan = story.scenario.plan(_KAFKA, False, story.policies)
    async with open_driver(SHIPPED[story.client].command(None)) as driver:
        await play(plan, driver, "story", script=tell, trace=True)
    return events


def main() -> None:
    STORIES.mkdir(exist_ok=True)
    index = []
    for story in told():
        events = trio.run(recorded, story)
        write_json_lines(STORIES / story.file, events)
        print(f"{story.file}: {len(events)} events", flush=True)  # noqa: T201
        captions = [{"number": number, "text": text} for number, text in placed(story, events)]
        about = {"file": story.file, "title": story.title, "about": story.about, "partition": _PARTITION}
        index.append({**about, "captions": captions})
    (STORIES / "index.json").write_text(json.dumps(index, indent=1) + "\n")


if __name__ == "__main__":
    main()
