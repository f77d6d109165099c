"""How many seeds each client was hunted with: a table at the beginning of the results, made of a file with
a line for each campaign.

`python -m docs.hunted FOLDER` adds the line of a folder that `mockbroker hunt --out` has written.
"""

import argparse
import itertools
import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from mockbroker.clients.hunt.drawing import DRAWING
from mockbroker.clients.hunt.merging import CAMPAIGN, CampaignRecord, records
from mockbroker.plan_files import as_row, read_file

_RESULTS: Final = Path(__file__).parent / "results"
CAMPAIGNS: Final = _RESULTS / "campaigns.jsonl"
_PAGE: Final = _RESULTS / "hunt.md"
_BEGIN: Final = "<!-- The table is made by `make docs`. -->\n"
_END: Final = "<!-- Here it ends. -->\n"
_WANTED: Final = {"4.4": 2_000, "2.8": 500}
_VERSION: Final = re.compile(r" v?\d.*")


@dataclass(frozen=True)
class Campaign:
    """What was played. `client` with its version; `seeds` are the ranges of which `played` were. `plans` is
    empty, `security` or `share`, as the option of the hunt; `violated` counts seeds by invariant, those of
    mistakes of the hunt too."""

    client: str
    kafka: str
    drawing: int
    seeds: str
    played: int
    violated: dict[str, int]
    plans: str = ""

    @property
    def name(self) -> str:
        """The client without its version."""
        return _VERSION.sub("", self.client)

    def numbers(self) -> Iterator[int]:
        """The first `played` seeds of the ranges; which ones they were is not kept."""
        ranges = [each.partition("-") for each in self.seeds.split(",")]
        every = (range(int(first), int(last or first) + 1) for first, _, last in ranges)
        return itertools.islice(itertools.chain.from_iterable(every), self.played)


def read(path: Path = CAMPAIGNS) -> list[Campaign]:
    """OSError."""
    return [Campaign(**json.loads(line)) for line in path.read_text().splitlines()]


def table(campaigns: Sequence[Campaign], drawing: int = DRAWING) -> Iterator[str]:
    """The lines of the table; a seed that was played twice in one drawing counts once."""
    seeds = _seeds(campaigns)
    yield "| client | brokers | seeds | of them in today's drawing | missing | with logins | share groups |"
    yield "|---|---|--:|--:|--:|--:|--:|"
    for client in sorted({each.name for each in campaigns}, key=str.lower):
        for kafka, wanted in _WANTED.items():
            whole, logins, shares = (seeds[client, kafka, plans] for plans in ("", "security", "share"))
            today = len([each for each in whole if each[0] == drawing])
            numbers = (len(whole), today, max(wanted - len(whole), 0), len(logins), len(shares))
            yield f"| {client} | {kafka} | {' | '.join(f'{n:,}' if n else '' for n in numbers)} |"


def _seeds(campaigns: Iterable[Campaign]) -> defaultdict[tuple[str, str, str], set[tuple[int, int]]]:
    """The drawings and seeds that were played, by client, release and kind of plans."""
    seeds = defaultdict[tuple[str, str, str], set[tuple[int, int]]](set)
    for each in campaigns:
        seeds[each.name, each.kafka, each.plans].update((each.drawing, seed) for seed in each.numbers())
    return seeds


def page() -> Iterator[str]:
    """The lines of the page: what was written by hand stays."""
    before, _, rest = _PAGE.read_text().partition(_BEGIN)
    _, _, after = rest.partition(_END)
    yield from (before + _BEGIN).splitlines()
    yield ""
    yield from table(read())
    yield ""
    yield from (_END + after).splitlines()


def campaign(folder: Path, plans: str = "") -> Campaign:
    """That of a folder. ValueError, OSError."""
    record = read_file(folder / CAMPAIGN, CampaignRecord.from_json)
    seeds = defaultdict[str, set[int]](set)
    for _, each in records(folder):
        seeds[each.invariant].update(each.seeds)
    violated = {name: len(seeds[name]) for name in sorted(seeds)}
    played = _ranges(record.seeds), len(record.seeds)
    return Campaign(record.client, record.kafka, record.drawing, *played, violated, plans)


def _ranges(seeds: Iterable[int]) -> str:
    found: list[list[int]] = []
    for seed in sorted(seeds):
        if found and seed == found[-1][1] + 1:
            found[-1][1] = seed
        else:
            found.append([seed, seed])
    return ",".join(f"{first}-{last}" if last > first else f"{first}" for first, last in found)


def add(folders: Iterable[Path], plans: str = "", path: Path = CAMPAIGNS) -> None:
    """Adds a line for each folder. ValueError, OSError."""
    rows: list[dict[str, Any]] = [as_row(campaign(each, plans)) for each in folders]
    with path.open("a") as file:
        file.writelines(f"{json.dumps(row)}\n" for row in rows)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m docs.hunted", description=__doc__)
    parser.add_argument("folders", nargs="+", type=Path, metavar="FOLDER")
    parser.add_argument("--plans", choices=("", "security", "share"), default="")
    given = parser.parse_args()
    add(given.folders, given.plans)


if __name__ == "__main__":
    main()
