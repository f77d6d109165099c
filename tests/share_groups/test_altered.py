"""Offsets that an administrator has altered begin an epoch of the group, as KIP-932 says, once KAFKA-20910 is
mended."""

from typing import Any

import pytest

from mockbroker.coordinators.share.group import ShareGroup
from mockbroker.protocol.messages import alter_share_group_offsets as alter

from ..driving.cluster import configured
from ..driving.share_reader import CONFIG, Reader


@pytest.mark.parametrize(("answer", "more"), [(None, 0), ("kept", 0), ("begins", 1)])
def test_altered_offsets_begin_an_epoch(answer: Any, more: int) -> None:
    policies = None if answer is None else {"altered-share-epoch": answer}
    reader = Reader(configured("4.4", 3, policies, CONFIG))
    reader.write(4)
    reader.fetch(0)
    reader.leave()
    group = reader.cluster.brokers[reader.leader("__consumer_offsets")].groups.groups["g"]
    assert isinstance(group, ShareGroup)
    before = group.epoch
    topic = alter.AlterShareGroupOffsetsRequestTopic(
        "t", [alter.AlterShareGroupOffsetsRequestPartition(0, 2)]
    )
    answered = reader.ask("__consumer_offsets", alter.AlterShareGroupOffsetsRequest("g", [topic]))
    assert answered.error_code == 0
    assert group.epoch == before + more
    written = reader.state()
    assert written is not None
    assert (written.now.start_offset, written.now.state_epoch) == (2, before + more)
