"""The pictures of the console in the docs: `python -m docs.screenshots`, which needs Chromium.

They are made of stories that come with the page, of a history of `mockbroker explore`, and of small clusters.
"""

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from confluent_kafka import Consumer, Producer, ShareConsumer, TopicPartition

from mockbroker import MockCluster
from mockbroker.console.files import FOLDER

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

IMAGES: Final = Path(__file__).parent / "images"
_COMMAND: Final = (sys.executable, "-m", "mockbroker")
_WIDE: Final = (1280, 640)
_NARROW: Final = (390, 780)
_FOUND: Final = ("--kafka=4.4", "--policy=fetch-log-start-offset=live", "--first=180", "--seeds=1")
"""A history in which a follower's fetcher dies."""


class Story(NamedTuple):
    """A story that comes with the page, at one of its captions."""

    picture: str
    name: str
    caption: int
    size: tuple[int, int] = _WIDE
    dark: bool = False


_STORIES: Final = (
    Story("console-19902.png", "cut-off-leader.jsonl", 5),
    Story("console-19902-dark.png", "cut-off-leader.jsonl", 5, dark=True),
    Story("console-rewind.png", "load-stops.jsonl", 3, dark=True),
    Story("console-narrow.png", "cut-off-leader.jsonl", 5, _NARROW),
    Story("console-7104.png", "log-start-past-follower.jsonl", 3),
    Story("console-forgotten.png", "idle-producer.jsonl", 2),
)


def main(folder: Path = IMAGES) -> None:
    from playwright.sync_api import sync_playwright

    folder.mkdir(exist_ok=True)
    with sync_playwright() as playwright, MockCluster(topics={"orders": 3}, console=True, seed=1) as cluster:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        for story in _STORIES:
            _story(browser, cluster, story, folder / story.picture)
        _live(browser, cluster, folder / "console-live.png")
        _fault(browser, folder / "console-fault.png")
        _stretch(browser, folder / "console-stretch.png")
        _share_group(browser, folder / "console-share-group.png")
        _history(browser, folder / "console-history.png")
        _incident(browser, folder / "console-incident.png")
        _late_commit(browser, folder / "console-late-commit.png")
        _lost_records(browser, folder / "console-lost-records.png")
        browser.close()


@contextmanager
def _picture(
    browser: "Browser", path: Path, url: str, size: tuple[int, int] = _WIDE, *, dark: bool = False
) -> Iterator["Page"]:
    """The page at that address, of which a picture is taken in the end."""
    width, height = size
    scheme: Literal["dark", "light"] = "dark" if dark else "light"
    page = browser.new_page(viewport={"width": width, "height": height}, color_scheme=scheme)
    page.goto(url)
    yield page
    page.mouse.move(0, 0)
    page.screenshot(path=path)
    page.close()


def _story(browser: "Browser", cluster: MockCluster, story: Story, path: Path) -> None:
    url = f"{cluster.console_url}?story={story.name}"
    with _picture(browser, path, url, story.size, dark=story.dark) as page:
        page.get_by_role("button", name="pause").click()
        index = page.request.get(f"{cluster.console_url}stories/index.json").json()
        (found,) = [each for each in index if each["file"] == story.name]
        caption = found["captions"][story.caption]
        page.get_by_label("moment").fill(str(caption["number"]))
        page.get_by_text(caption["text"]).wait_for()


def _live(browser: "Browser", cluster: MockCluster, path: Path) -> None:
    for number in range(30):
        cluster.produce("orders", f"order {number}", partition=number % 3)
    cluster.move_leader("orders", 0, to=2)
    cluster.stop_broker(3)
    for number in range(12):
        cluster.produce("orders", f"order {number}", partition=0)
    with _picture(browser, path, cluster.console_url) as page:
        page.get_by_text("high watermark 22").first.wait_for()
        page.get_by_role("tab", name="Do something").click()
        page.get_by_text("Makes another broker of the ISR").wait_for()


def _fault(browser: "Browser", path: Path) -> None:
    """A fault before it is added."""
    with MockCluster(topics={"orders": 3}, console=True, seed=1) as cluster:
        for name, count in (("billing", 4), ("shipping", 9)):
            producer = Producer({"bootstrap.servers": cluster.bootstrap_servers, "client.id": name})
            for number in range(count):
                producer.produce("orders", f"order {number}", partition=0)
                producer.flush()
            del producer
        fields = {"error": "NOT_LEADER_OR_FOLLOWER", "api": "Produce", "client_id": "bill*"}
        with _picture(browser, path, cluster.console_url, (1280, 1000)) as page:
            page.get_by_role("tab", name="Do something").click()
            page.get_by_label("operation").select_option("faults-add")
            page.locator('[name="do"]').select_option("error")
            for name, value in fields.items():
                page.locator(f'[name="{name}"]').fill(value)
            page.get_by_text("It would have hit 4").wait_for()


def _stretch(browser: "Browser", path: Path) -> None:
    """What changed while a broker was down."""
    with MockCluster(topics={"orders": 2}, console=True, seed=1) as cluster:
        for number in range(8):
            cluster.produce("orders", f"order {number}", partition=number % 2)
        with _picture(browser, path, cluster.console_url) as page:
            page.locator(".name").get_by_text("high watermark 4").nth(1).wait_for()
            page.get_by_role("tab", name="Changes").click()
            page.get_by_role("button", name="from here").click()
            page.get_by_role("button", name="● live").click()
            first = page.get_by_label("moment").input_value()
            cluster.stop_broker(1)
            page.locator(".name").get_by_text("epoch 1").first.wait_for()
            page.get_by_label("moment").fill(first)
            page.get_by_role("button", name="from here").click()
            page.get_by_text("What changed").wait_for()


def _share_group(browser: "Browser", path: Path) -> None:
    """One member has acquired all that another one waits for."""
    quick = {
        "group.share.min.heartbeat.interval.ms": "100",
        "group.share.heartbeat.interval.ms": "100",
        "group.share.assignment.interval.ms": "0",
    }
    with MockCluster(config=quick, topics={"jobs": 1}, console=True, seed=1) as cluster:
        cluster.configure_group("workers", {"share.auto.offset.reset": "earliest"})
        for number in range(6):
            cluster.produce("jobs", f"job {number}")
        settings = {"bootstrap.servers": cluster.bootstrap_servers, "group.id": "workers"}
        explicit = {"share.acknowledgement.mode": "explicit"}
        members = [ShareConsumer({**settings, **explicit, "client.id": name}) for name in ("slow", "idle")]
        for member in members:
            member.subscribe(["jobs"])
        while not (taken := list(members[0].poll(1))):
            pass
        members[0].acknowledge(taken[0])
        members[0].acknowledge(taken[3])
        members[0].commit_sync(10)
        members[1].poll(1)
        with _picture(browser, path, cluster.console_url, (1600, 1000)) as page:
            page.get_by_role("tab", name="Groups").click()
            page.get_by_text("all that is left is acquired").wait_for()
        for member in members:
            member.close()


def _history(browser: "Browser", path: Path) -> None:
    """A history that `mockbroker explore` found, as `mockbroker view` shows it."""
    with tempfile.TemporaryDirectory() as name:
        subprocess.run([*_COMMAND, "explore", *_FOUND, "--out", name], check=True, stdout=subprocess.DEVNULL)
        (history,) = Path(name).glob("follower-fetcher-dead-*.json")
        with _viewed(history) as url, _picture(browser, path, url) as page:
            page.locator(".lane .role").get_by_text("failed").first.wait_for()


def _incident(browser: "Browser", path: Path) -> None:
    """What `mockbroker analyze` finds in the trace of a story."""
    with tempfile.TemporaryDirectory() as name:
        out = Path(name) / "report"
        analyzing = [*_COMMAND, "analyze", str(FOLDER / "stories/load-stops.jsonl"), "--out", str(out)]
        subprocess.run(analyzing, check=True, capture_output=True)
        with _viewed(out) as url, _picture(browser, path, url, (1280, 900)) as page:
            page.locator(".lag").first.wait_for()


@contextmanager
def _viewed(path: Path) -> Iterator[str]:
    """The address where `mockbroker view` shows it."""
    with subprocess.Popen([*_COMMAND, "view", str(path)], stdout=subprocess.PIPE, text=True) as viewing:
        try:
            assert viewing.stdout is not None
            yield viewing.stdout.readline().strip()
        finally:
            viewing.terminate()


def _late_commit(browser: "Browser", path: Path) -> None:
    """KIP-890: a TxnOffsetCommit that arrives after its transaction's end begins one that nobody ends."""
    config = {"offsets.topic.num.partitions": "1"}
    with MockCluster(kafka="2.8", config=config, topics={"orders": 1}, console=True, seed=1) as cluster:
        late = cluster.faults.add("hold", api="TxnOffsetCommit", times=1)
        servers = {"bootstrap.servers": cluster.bootstrap_servers}
        producer = Producer({**servers, "transactional.id": "billing", "socket.timeout.ms": 1000})
        group = Consumer({**servers, "group.id": "billing"}).consumer_group_metadata()
        producer.init_transactions()
        producer.begin_transaction()
        producer.produce("orders", "order 1")
        producer.send_offsets_to_transaction([TopicPartition("orders", 0, 1)], group)
        producer.commit_transaction()
        late.release()
        with _picture(browser, path, cluster.console_url) as page:
            page.get_by_label("internal").check()
            page.get_by_placeholder("topic").first.fill("consumer_offsets")
            page.locator("line.last-stable").first.wait_for(state="attached")


def _lost_records(browser: "Browser", path: Path) -> None:
    """A follower that lacks two records is elected uncleanly, and goes on."""
    config = {"default.replication.factor": "2", "unclean.leader.election.enable": "true"}
    with MockCluster(brokers=2, config=config, topics={"orders": 1}, console=True, seed=1) as cluster:
        cluster.produce("orders", "a")
        cluster.pause_follower("orders", 0, 2)
        for value in "bc":
            cluster.produce("orders", value, acks=1)
        cluster.stop_broker(1)
        for value in "vwxy":
            cluster.produce("orders", value, acks=1)
        with _picture(browser, path, cluster.console_url) as page:
            page.get_by_text("high watermark 5").first.wait_for()


if __name__ == "__main__":
    main()
