"""The pictures of the console in the docs: `python -m docs.screenshots`, which needs Chromium.

They are made of the stories that come with the page, and of a small cluster.
"""

import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

from mockbroker import MockCluster

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

IMAGES: Final = Path(__file__).parent / "images"
_WIDE: Final = (1280, 640)
_NARROW: Final = (390, 780)
_CAPTION: Final = {"cut-off-leader.jsonl": 5, "load-stops.jsonl": 3}
"""Which caption of a story is shown."""


def main(folder: Path = IMAGES) -> None:
    from playwright.sync_api import sync_playwright

    folder.mkdir(exist_ok=True)
    with sync_playwright() as playwright, MockCluster(topics={"orders": 3}, console=True, seed=1) as cluster:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        _story(browser, cluster, "cut-off-leader.jsonl", folder / "console-19902.png", _WIDE)
        _story(browser, cluster, "load-stops.jsonl", folder / "console-rewind.png", _WIDE, dark=True)
        _story(browser, cluster, "cut-off-leader.jsonl", folder / "console-narrow.png", _NARROW)
        _live(browser, cluster, folder / "console-live.png")
        browser.close()


def _story(
    browser: "Browser",
    cluster: MockCluster,
    story: str,
    path: Path,
    size: tuple[int, int],
    *,
    dark: bool = False,
) -> None:
    page = _page(browser, size, dark=dark)
    page.goto(f"{cluster.console_url}?story={story}")
    page.get_by_role("button", name="pause").click()
    index = page.request.get(f"{cluster.console_url}stories/index.json").json()
    (told,) = [each for each in index if each["file"] == story]
    caption = told["captions"][_CAPTION[story]]
    page.get_by_label("moment").fill(str(caption["number"]))
    page.get_by_text(caption["text"]).wait_for()
    _taken(page, path)


def _page(browser: "Browser", size: tuple[int, int], *, dark: bool = False) -> "Page":
    width, height = size
    scheme: Literal["dark", "light"] = "dark" if dark else "light"
    return browser.new_page(viewport={"width": width, "height": height}, color_scheme=scheme)


def _live(browser: "Browser", cluster: MockCluster, path: Path) -> None:
    for number in range(30):
        cluster.produce("orders", f"order {number}", partition=number % 3)
    cluster.move_leader("orders", 0, to=2)
    cluster.stop_broker(3)
    for number in range(12):
        cluster.produce("orders", f"order {number}", partition=0)
    page = _page(browser, _WIDE)
    page.goto(cluster.console_url)
    page.get_by_text("high watermark 22").first.wait_for()
    page.get_by_role("tab", name="Do something").click()
    page.get_by_text("Makes another broker of the ISR").wait_for()
    _taken(page, path)


def _taken(page: "Page", path: Path) -> None:
    page.mouse.move(0, 0)
    page.screenshot(path=path)
    page.close()


if __name__ == "__main__":
    main()
