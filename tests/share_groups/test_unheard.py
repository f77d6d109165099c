"""A member that says its previous epoch has not heard of the partitions that came with the present one."""

from typing import Any

import pytest

from ..driving.cluster import configured, create
from ..driving.share_reader import CONFIG, Reader


@pytest.mark.parametrize(("answer", "told"), [(None, False), ("left-out", False), ("told-again", True)])
def test_a_member_behind_is_told_its_partitions(answer: Any, told: bool) -> None:
    policies = None if answer is None else {"unheard-assignment": answer}
    reader = Reader(configured("4.4", 3, policies, CONFIG))
    create(reader.cluster, "u", 1, 3)
    known = reader.beat(["t", "u"]).member_epoch
    unheard = reader.beat()
    assert len(unheard.assignment.topic_partitions) == 2
    reader.epoch = known
    behind = reader.beat()
    assert behind.member_epoch == unheard.member_epoch > known
    assert (behind.assignment == unheard.assignment) == told
    assert (behind.assignment is None) != told
    assert reader.beat().assignment is None
