"""What share coordinators are asked, of states that are large."""

from collections.abc import Iterator
from typing import Any, Final

from mockbroker.protocol.api_keys import ApiKey
from mockbroker.protocol.messages import (
    initialize_share_group_state,
    of_share_groups,
    read_share_group_state,
    share_fetch,
    write_share_group_state,
)

from ..many import BIG, Many
from .about import about

_BATCHES: Final = 20
"""For each of n."""
_MORE: Final = 600
"""Besides: more than a change joins anew (`adding`)."""


@about(ApiKey.WRITE_SHARE_GROUP_STATE, "of many batches")
def _write(many: Many) -> Iterator[Any]:
    """Those of the second lie between those of the first."""
    _initialize(many)
    yield _batches(many, 0)
    yield _batches(many, 2)


@about(ApiKey.READ_SHARE_GROUP_STATE, "of many batches")
def _read(many: Many) -> Iterator[Any]:
    """The second writes that there is a later leader."""
    _initialize(many)
    many.send(_batches(many, 0))
    for epoch in (0, 1):
        asked = [of_share_groups.SharePartitionAtEpoch(0, epoch)]
        topic = of_share_groups.ShareTopicAtEpochs(many.cluster.topics[BIG].id, asked)
        yield read_share_group_state.ReadShareGroupStateRequest(BIG, [topic])


def _initialize(many: Many) -> None:
    part = initialize_share_group_state.PartitionData(0, 0, 0)
    topic = initialize_share_group_state.InitializeStateData(many.cluster.topics[BIG].id, [part])
    many.send(initialize_share_group_state.InitializeShareGroupStateRequest(BIG, [topic]))


def _batches(many: Many, first: int) -> Any:
    offsets = range(first, first + 4 * (_MORE + _BATCHES * many.n), 4)
    batches = [of_share_groups.ShareStateBatch(each, each, 0, 1) for each in offsets]
    part = write_share_group_state.PartitionData(0, 0, 0, 0, state_batches=batches)
    topic = write_share_group_state.WriteStateData(many.cluster.topics[BIG].id, [part])
    return write_share_group_state.WriteShareGroupStateRequest(BIG, [topic])


@about(ApiKey.SHARE_FETCH, "of a large state")
def _fetch(many: Many) -> Iterator[Any]:
    """The leader reads the state."""
    _initialize(many)
    many.send(_batches(many, 0))
    topic = of_share_groups.AcknowledgedTopic(
        many.cluster.topics[BIG].id, [of_share_groups.AcknowledgedPartition(0)]
    )
    yield share_fetch.ShareFetchRequest(BIG, "m" * 22, 0, max_records=1, batch_size=1, topics=[topic])
