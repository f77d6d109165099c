"""What the report names as workarounds, and what else comes to mind, as consumer configuration."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True)
class Setting:
    """`config` is a driver's; `why` tells where it comes from."""

    why: str
    config: Mapping[str, str]


SETTINGS: Final = {
    "cooperative": Setting(
        "the report: use cooperative rebalancing",
        {"partition.assignment.strategy": "cooperative-sticky"},
    ),
    "patient": Setting(
        "the report: rebalance less often",
        {"session.timeout.ms": "45000", "max.poll.interval.ms": "900000"},
    ),
    "fresh metadata": Setting("refresh metadata all the time", {"metadata.max.age.ms": "100"}),
    "client.rack": Setting("fetch from the nearest replica", {"client.rack": "a"}),
}
