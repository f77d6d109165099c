"""`undefined-epoch`, decided on answers to OffsetForLeaderEpoch."""

from typing import Final

from ...policies.epochs.undefined_epoch import undefined_epoch
from ...protocol.messages.offset_for_leader_epoch import EpochEndOffset
from .steps import LATEST, Asked, Inner, Place, Steps, offsets

_SINCE: Final = 2
"""The first version that says which leader epoch the client knows (KIP-320): consumers ask with it."""


def decide_undefined_epoch(asked: Asked, inner: Inner) -> Steps:
    """Asks where the log ends, and in which leader epoch, where the answer does not have the wanted epoch.

    If that question is answered with an error, such as NOT_LEADER_OR_FOLLOWER, the client gets this one.
    """
    answer = yield from inner(asked.request)
    if asked.call.version < _SINCE:
        return answer
    wanted = {
        (topic.topic, each.partition): each for topic in asked.request.topics for each in topic.partitions
    }
    answered: dict[Place, EpochEndOffset] = {
        (topic.topic, each.partition): each for topic in answer.topics for each in topic.partitions
    }
    unlike = {
        place: wanted[place].current_leader_epoch
        for place, each in answered.items()
        if place in wanted
        and not each.error_code
        and 0 <= wanted[place].leader_epoch != each.leader_epoch
        and asked.decides(undefined_epoch, place[0])
    }
    if not unlike:
        return answer
    for place, end in (yield from offsets(unlike, LATEST)).items():
        each = answered[place]
        if end.error_code:
            each.error_code, each.leader_epoch, each.end_offset = end.error_code, -1, -1
        elif wanted[place].leader_epoch > end.leader_epoch:
            decided = asked.answer(undefined_epoch, place[0])(end.leader_epoch, end.offset)
            each.leader_epoch, each.end_offset = decided
    return answer
