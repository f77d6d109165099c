"""Campaigns as folders, and one folder of several: of other seeds, from other machines."""

import shutil
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Final, Self

from mockbroker.plan_files import Schema, read_file

from . import coverage
from .plan import Plan
from .writing import PLAN, RECORD, SEEDS, Record, read

CAMPAIGN: Final = "campaign.json"
COVERAGE: Final = "coverage.json"
CAMPAIGNS: Final = Schema("mockbroker-hunt-campaign", 1, "a campaign of mockbroker hunt")


@dataclass(frozen=True)
class CampaignRecord:
    """Which seeds were played with which client."""

    client: str
    kafka: str
    drawing: int
    seeds: tuple[int, ...]

    def to_json(self) -> str:
        """The text of its file."""
        return CAMPAIGNS.text(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> Self:
        """PlanError."""
        row, _ = CAMPAIGNS.read(text)
        return CAMPAIGNS.built(cls, row)


def write_campaign(folder: Path, campaign: CampaignRecord, known: coverage.Coverage | None) -> None:
    """OSError."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / CAMPAIGN).write_text(campaign.to_json())
    if known is not None:
        (folder / COVERAGE).write_text(known.to_json())


def records(folder: Path) -> Iterator[tuple[Path, Record]]:
    """The findings in a campaign's folder. ValueError, OSError."""
    for path in sorted(folder.glob(f"*/{RECORD}")):
        yield path.parent, read_file(path, Record.from_json)


def merge(folders: Sequence[Path], out: Path) -> tuple[CampaignRecord, list[Record]]:
    """Writes one campaign of several, with the best plan of each finding. ValueError if they are of different
    clients, releases or drawings; OSError."""
    campaigns = [_campaign(folder) for folder in folders]
    kinds = {(each.client, each.kafka, each.drawing) for each in campaigns}
    if len(kinds) != 1:
        told = "; ".join(
            f"{client}, Kafka {kafka}, drawing {drawing}" for client, kafka, drawing in sorted(kinds)
        )
        raise ValueError(f"these are campaigns of different kinds: {told}")
    if out.exists() and any(out.iterdir()):
        raise ValueError(f"{out} is not empty: give --out another folder")
    whole = replace(campaigns[0], seeds=_all(each.seeds for each in campaigns))
    known = coverage.Coverage()
    for folder in folders:
        known.merge(coverage.read(folder / COVERAGE))
    write_campaign(out, whole, known if known.clients else None)
    homes: dict[str, list[tuple[Path, Record]]] = {}
    for folder in folders:
        for home, record in records(folder):
            homes.setdefault(record.name, []).append((home, record))
    return whole, sorted((_merged(each, out) for each in homes.values()), key=lambda each: each.order)


def _merged(homes: Sequence[tuple[Path, Record]], out: Path) -> Record:
    def order(home: tuple[Path, Record]) -> tuple[bool, bool, int]:
        plan: Plan = read(home[0] / PLAN)
        return not home[1].sure, bool(plan.steps), plan.size

    best, record = min(homes, key=order)
    every = [each for _, each in homes]
    whole = replace(
        record,
        seeds=_all(each.seeds for each in every),
        sure=_all(each.sure for each in every),
        quiet=_all(each.quiet for each in every),
    )
    into = out / record.name
    shutil.copytree(best, into)
    for home, _ in homes:
        shutil.copytree(home / SEEDS, into / SEEDS, dirs_exist_ok=True)
    (into / RECORD).write_text(whole.to_json())
    return whole


def _all(some: Iterable[Iterable[int]]) -> tuple[int, ...]:
    return tuple(sorted({seed for seeds in some for seed in seeds}))


def _campaign(folder: Path) -> CampaignRecord:
    path = folder / CAMPAIGN
    if not path.exists():
        raise ValueError(f"{folder} is no folder of a hunt: it lacks {CAMPAIGN}, which --out writes")
    return read_file(path, CampaignRecord.from_json)
