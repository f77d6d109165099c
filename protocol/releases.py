"""What each Kafka release supports: the complete ApiVersions answers of 27 real releases, as data."""

import functools
import json
import pkgutil
import re
from dataclasses import dataclass
from typing import Final, NamedTuple

from ..errors import MockBrokerError
from ..nearest import nearest

NEWEST: Final = "4.4"


class UnknownReleaseError(MockBrokerError, ValueError):
    """A release of which no broker was recorded."""


@dataclass(frozen=True, slots=True, order=True)
class Release:
    """A Kafka release such as 3.9; releases compare in the order of their dates.

    It stands for the patch release that was recorded (`ReleaseFacts.measured_on`): 2.0 stands for 2.0.1, with
    what was fixed in it.
    """

    number: tuple[int, int]

    def __str__(self) -> str:
        return f"{self.number[0]}.{self.number[1]}"


@dataclass(frozen=True, slots=True)
class ReleaseFacts:
    """A recorded ApiVersions answer: versions by API key, features as (min, max)."""

    release: Release
    measured_on: str
    apis: dict[int, tuple[int, int]]
    supported_features: dict[str, tuple[int, int]]
    finalized_features: dict[str, tuple[int, int]]


@functools.cache
def _recorded() -> dict[str, dict[str, object]]:
    return json.loads(pkgutil.get_data(__package__, "releases.json") or b"")  # type: ignore[no-any-return]


def names() -> list[str]:
    """All releases that can be chosen, oldest first."""
    return list(_recorded())


@functools.lru_cache
def parse(text: str) -> Release:
    """The release of `3.9`, `3.9.2` or `0.11.0.3`. UnknownReleaseError for anything else."""
    name = ".".join(text.strip().removeprefix("v").split(".")[:2])
    if name not in _recorded():
        suggestion = _nearest(name) or f": choose one of {', '.join(names())}"
        raise UnknownReleaseError(f"no Kafka release {text!r:.50}{suggestion}")
    major, minor = name.split(".")
    return Release((int(major), int(minor)))


def _nearest(name: str) -> str:
    """Suggests the release of the same major number that is last before the wanted one, or else the first."""
    major, _, minor = name.partition(".")
    alike = [each for each in names() if each.split(".")[0] == major]
    if not alike or re.fullmatch(r"[0-9]{0,3}", minor) is None:
        return nearest(name, alike)
    before = [each for each in alike if not minor or int(each.split(".")[1]) <= int(minor)]
    return f": did you mean {before[-1] if before else alike[0]!r}?"


class Unstable(NamedTuple):
    """What a preview needs: whether a broker has APIs and features that its release calls unstable
    (`unstable.api.versions.enable`, `unstable.feature.versions.enable`)."""

    apis: bool = False
    features: bool = False


STABLE: Final = Unstable()


@functools.cache
def facts(release: Release, unstable: Unstable = STABLE) -> ReleaseFacts:
    """The answer of a broker of `release` to ApiVersions. What is `unstable` is known of 4.1 only; such
    features are finalized in their highest versions."""
    row = json.loads(json.dumps(_recorded()[str(release)]))
    if unstable.apis:
        row["apis"] |= row.get("unstable_apis", {})
    if unstable.features:
        more = row.get("unstable_features", {})
        row["supported_features"] |= more
        row["finalized_features"] |= {name: [high, high] for name, (_, high) in more.items()}

    def features(name: str) -> dict[str, tuple[int, int]]:
        return {key: (low, high) for key, (low, high) in row.get(name, {}).items()}

    return ReleaseFacts(
        release=release,
        measured_on=row["measured_on"],
        apis={int(key): (low, high) for key, (low, high) in row["apis"].items()},
        supported_features=features("supported_features"),
        finalized_features=features("finalized_features"),
    )
