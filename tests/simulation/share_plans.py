"""Histories with a share group, and the invariants that are about it."""

from typing import Any, Final

from mockbroker.simulation.plan import Plan, Step
from mockbroker.simulation.share_setting import ShareSetting

OF_SHARE_GROUPS: Final = {
    "share-record-skipped",
    "share-group-stuck",
    "share-start-back",
    "acquired-twice",
    "delivery-count-wrong",
    "last-delivery-shared",
    "delivered-after-accept",
    "delivered-after-reject",
    "locked-after-session",
    "altered-offset-ignored",
}


def a_plan(*steps: Step, members: int = 2, **given: Any) -> Plan:
    """Members that read one partition, and what happens to them."""
    starts = [Step(100 + 50 * index, "start-sharer", {"member": index}) for index in range(members)]
    ordered = tuple(sorted([*starts, *steps], key=lambda each: each.at_ms))
    shares = ShareSetting(members, 1, **given)
    return Plan(7, "4.4", steps=ordered, shares=shares, quiet_ms=9_000)
