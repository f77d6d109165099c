"""The page of `docs/reference/` on APIs and their versions."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from mockbroker.apis.advertised import advertised
from mockbroker.faults.match import api_name
from mockbroker.protocol.api_keys import CODEC_VERSIONS, ApiKey
from mockbroker.protocol.releases import NEWEST, facts, names, parse

MEASURED: Final = Path(__file__).with_name("peers.json")
"""By mock, by key: the lowest and the highest version. `python -m docs.peers` writes it."""


def page() -> Iterator[str]:
    yield "# APIs and versions\n"
    yield "What a broker advertises, by the release it acts as: the versions that the release had and that"
    yield "mockbroker reads and writes. Where it lacks some, they are listed below the table as **clipped**."
    yield "`–` means that the release did not have the API.\n"
    shown = ["0.11", "1.1", "2.1", "2.3", "2.4", "2.8", "3.3", "3.9", "4.0", "4.4"]
    yield "| key | API | " + " | ".join(shown) + " |"
    yield "|--:|---|" + "---|" * len(shown)
    for key in CODEC_VERSIONS:
        cells = [_range(advertised(parse(release)).get(key)) for release in shown]
        yield f"| {int(key)} | {api_name(key)} | " + " | ".join(cells) + " |"
    clipped = [(api_name(key), *each) for key in CODEC_VERSIONS for each in _clipped(key).items()]
    if clipped:
        yield "\n## Clipped\n"
        yield "| API | versions | in the releases |"
        yield "|---|---|---|"
        for name, versions, releases in clipped:
            yield f"| {name} | {versions} | {releases[0]} to {releases[-1]} |"
    yield "\n## Not answered\n"
    yield "APIs that brokers of 0.11 to 4.4 advertise to clients and that are not answered yet, by key:\n"
    yield ", ".join(f"{key} {_NAMED.get(key, '')}".rstrip() for key in _missing()) + ".\n"
    yield "Produce 0 to 2 are advertised on 4.x and not answered, as by real brokers of 4.x (KAFKA-18659).\n"
    yield from _beside()


def _beside() -> Iterator[str]:
    mocks = json.loads(MEASURED.read_text())
    yield "## Beside a real broker and other mocks\n"
    measured_on = facts(parse(NEWEST)).measured_on
    yield f"What a real broker of {measured_on} advertises, mockbroker, and two other mocks.\n"
    yield f"| key | API | Kafka {NEWEST} | mockbroker | " + " | ".join(mocks) + " |"
    yield "|--:|---|---|---|" + "---|" * len(mocks)
    real, ours = facts(parse(NEWEST)).apis, advertised(parse(NEWEST))
    others = [{int(key): tuple(found) for key, found in versions.items()} for versions in mocks.values()]
    for key in sorted(set(real).union(*others)):
        cells = [_range(each.get(key)) for each in (real, ours, *others)]
        yield f"| {key} | {_NAMED.get(key, '')} | " + " | ".join(cells) + " |"


def _missing() -> list[int]:
    had = {key for release in names() for key in facts(parse(release)).apis}
    return sorted(had - set(CODEC_VERSIONS))


def _clipped(key: ApiKey) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for release in names():
        had = facts(parse(release)).apis.get(key)
        have = advertised(parse(release)).get(key)
        if had is None or had == have:
            continue
        if have is None:
            lost = [had]
        else:
            lost = [part for part in ((had[0], have[0] - 1), (have[1] + 1, had[1])) if part[0] <= part[1]]
        for part in lost:
            found.setdefault(_range(part), []).append(release)
    return found


def _range(versions: tuple[int, int] | None) -> str:
    if versions is None:
        return "–"
    low, high = versions
    return str(low) if low == high else f"{low}–{high}"


_NAMED: Final = {int(key): api_name(key) for key in ApiKey}
