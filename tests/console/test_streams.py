"""The tasks of streams groups' members: in a real browser."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from mockbroker import MockCluster
from mockbroker.rig.client import Client
from tests.console.tools import expect

from ..driving.clients import raw_client

if TYPE_CHECKING:
    from playwright.sync_api import Page

NAME: Final = "<i>0</i>"
KINDS: Final = ("active_tasks", "standby_tasks", "warmup_tasks")
TOTALS: Final = {
    "name": "totals",
    "partitions": 0,
    "topic_configs": [{"key": "cleanup.policy", "value": "compact"}],
}
COUNTS: Final = {"subtopology_id": NAME, "source_topics": ["lines"], "state_changelog_topics": [TOTALS]}


class Instance:
    """Has what it is told to have."""

    def __init__(self, client: Client, name: str) -> None:
        self.client, self.name, self.epoch = client, name, 0
        self.owned: dict[str, Any] = {each: [] for each in KINDS}

    def beat(self) -> None:
        joining = {
            "rebalance_timeout": 300_000,
            "topology": {"epoch": 0, "subtopologies": [COUNTS]},
            "process_id": self.name,
            "client_tags": [],
        }
        asked = {"group_id": "words", "member_id": self.name, "member_epoch": self.epoch, **self.owned}
        answer = self.client.call("streams_group_heartbeat", 0, asked if self.epoch else {**asked, **joining})
        self.epoch = answer["member_epoch"]
        if answer["active_tasks"] is not None:
            self.owned = {each: answer[each] for each in KINDS}


def test_which_tasks_members_have(page: Page) -> None:
    """One member has the only task, the other its standby; a group of another type has no tasks."""
    with MockCluster(kafka="4.4", brokers=1, topics={"lines": 1}, console=True) as cluster:
        cluster.configure_group("words", {"streams.num.standby.replicas": "1"})
        with raw_client(cluster, "first") as one, raw_client(cluster, "second") as other:
            members = [Instance(one, "a"), Instance(other, "b")]
            page.goto(f"{cluster.console_url}#tab=groups")
            table = page.get_by_role("region", name="Members")
            cells = table.locator("tbody td")
            standby = table.get_by_role("cell", name="none")
            while standby.count() != 2 or cells.filter(has_text=f"{NAME}_0").count() != 2:
                for each in members:
                    each.beat()
            titles = table.locator("th").all_inner_texts()
            rows = [row.locator("td").all_inner_texts() for row in table.locator("tbody tr").all()]
            found = {told["client"]: told for told in (dict(zip(titles, row, strict=True)) for row in rows)}
            active, waiting = (found["first"], found["second"])
            if active["active tasks"] == "none":
                active, waiting = waiting, active
            assert (active["active tasks"], active["standby tasks"]) == (f"{NAME}_0", "none")
            assert (waiting["active tasks"], waiting["standby tasks"]) == ("none", f"{NAME}_0")
            assert active["assigned"] == "lines 0"
            expect(page.locator("i")).to_have_count(0)
            page.goto("about:blank")
