"""The table of seeds that were played."""

from pathlib import Path

import pytest

from docs.hunted import Campaign, add, campaign, read, table
from mockbroker.clients.hunt.merging import CampaignRecord, write_campaign


def rows(*campaigns: Campaign) -> list[list[str]]:
    return [[cell.strip() for cell in line.split("|")[1:-1]] for line in table(campaigns, 7)][2:]


def played(client: str, seeds: str, number: int, drawing: int = 7, plans: str = "") -> Campaign:
    return Campaign(client, "4.4", drawing, seeds, number, {}, plans)


def test_a_seed_counts_once_in_each_drawing() -> None:
    campaigns = played("a 1.0", "0-9", 10), played("a 1.1", "5-14", 10), played("a 1.0", "0-9", 10, 6)
    assert rows(*campaigns) == [
        ["a", "4.4", "25", "15", "1,975", "", ""],
        ["a", "2.8", "", "", "500", "", ""],
    ]


def test_of_a_campaign_that_was_ended_only_so_many_seeds_count() -> None:
    assert rows(played("b 1.0 (c 2.1)", "0-9,20-29", 12))[0] == ["b", "4.4", "12", "12", "1,988", "", ""]


@pytest.mark.parametrize(("plans", "cells"), [("security", ["3", ""]), ("share", ["", "3"])])
def test_other_plans_have_columns_of_their_own(plans: str, cells: list[str]) -> None:
    assert rows(played("a 1", "1-3", 3, plans=plans))[0] == ["a", "4.4", "", "", "2,000", *cells]


def test_the_folder_of_a_campaign_adds_a_line(tmp_path: Path) -> None:
    write_campaign(tmp_path / "out", CampaignRecord("a 1.0", "2.8", 7, (5, 3, 4, 9)), None)
    add([tmp_path / "out"], "share", tmp_path / "campaigns.jsonl")
    assert read(tmp_path / "campaigns.jsonl") == [campaign(tmp_path / "out", "share")]
    assert campaign(tmp_path / "out") == Campaign("a 1.0", "2.8", 7, "3-5,9", 4, {})
