"""Members of share groups (KIP-932)."""

from typing import Final

from ...hunt.manners import SHARE_GROUPS
from ...hunt.plan import PlannedTopic
from ..scenario import producer, scenario, sharing
from ..scene import Scene

_ONE: Final = {**SHARE_GROUPS, "offsets.topic.num.partitions": "1"}
_SHARES: Final = frozenset({"share"})
_SINCE: Final = "4.2"
_COUNT: Final = 5


@scenario(
    "share-lock-expires",
    "a member of a share group is slower than its locks",
    [producer(), sharing("a")],
    source="KIP-932",
    config=_ONE,
    needs=_SHARES,
    since=_SINCE,
)
async def _expires(scene: Scene) -> None:
    """A acquires records, and takes longer than it has them for. Then it accepts them, which the broker
    refuses (INVALID_RECORD_STATE). They are delivered again, and A accepts them in time."""
    await scene.sends("producer", _COUNT)
    await scene.acquires("a", _COUNT)
    await scene.happens("expire-locks", group="g")
    await scene.accepts("a")
    await scene.acquires("a", _COUNT)
    await scene.accepts("a")


@scenario(
    "share-answer-lost",
    "the answer to an acknowledgement is lost",
    [producer(), sharing("a")],
    source="KIP-932",
    config=_ONE,
    needs=_SHARES,
    since=_SINCE,
)
async def _lost(scene: Scene) -> None:
    """A acquires records and accepts them. The broker does so, and its answer is lost with the connection.
    Then more records are written."""
    await scene.sends("producer", _COUNT)
    await scene.acquires("a", _COUNT)
    scene.adds_fault("disconnect", api="ShareAcknowledge", when="after", times=1)
    await scene.accepts("a")
    await scene.sends("producer", _COUNT)
    await scene.acquires("a", _COUNT)
    await scene.accepts("a")


@scenario(
    "share-member-lost",
    "a member of a share group is lost with what it has acquired",
    [producer(), sharing("a"), sharing("b")],
    source="KIP-932",
    config=_ONE,
    needs=_SHARES,
    since=_SINCE,
)
async def _member(scene: Scene) -> None:
    """A acquires records, and can't reach a broker from then on. B joins. A's locks expire, so that B is
    given the records, for the second time, and accepts them."""
    await scene.sends("producer", _COUNT)
    await scene.acquires("a", _COUNT)
    scene.adds_fault("disconnect", client_id="a", when="before")
    await scene.happens("expire-locks", group="g")
    await scene.acquires("b", _COUNT)
    await scene.accepts("b")


@scenario(
    "share-coordinators-move",
    "the coordinators of a share group move",
    [producer(), sharing("a"), sharing("b")],
    topics=[PlannedTopic("t", 2)],
    source="KIP-932",
    config=_ONE,
    needs=_SHARES,
    since=_SINCE,
)
async def _coordinators(scene: Scene) -> None:
    """A and B share a topic. The coordinator of the group moves, then the share coordinator, which keeps what
    they say of records, each time while records are acquired."""
    for partition in range(2):
        await scene.sends("producer", _COUNT, partition=partition)
    await scene.acquires("a", _COUNT)
    await scene.happens("move-coordinator", group="g")
    await scene.accepts("a")
    await scene.until_accepted(("a", "b"), 2 * _COUNT)
    for partition in range(2):
        await scene.sends("producer", _COUNT, partition=partition)
    await scene.acquires("a", 1)
    await scene.happens("move-leader", topic="__share_group_state", partition=0)
    await scene.accepts("a")
    await scene.until_accepted(("a", "b"), 4 * _COUNT)
