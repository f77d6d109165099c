"""What happened in a cluster, as typed events: requests, answers, changes of state, decisions."""

from typing import TYPE_CHECKING, Any

from .trace import Trace

if TYPE_CHECKING:
    from .event import Event
    from .events import (
        Answer,
        Appeared,
        Broker,
        Committed,
        Decision,
        Follower,
        HighWatermark,
        Image,
        InSyncReplicas,
        Keyframe,
        Leader,
        Login,
        LogStart,
        Malformed,
        Policy,
        Producer,
        Replica,
        Request,
        Topic,
        TopicNotCreated,
        Transaction,
        Truncation,
    )
    from .group_events import Group, Member, SharePartition, ShareSession

__all__ = [
    "Answer",
    "Appeared",
    "Broker",
    "Committed",
    "Decision",
    "Event",
    "Follower",
    "Group",
    "HighWatermark",
    "Image",
    "InSyncReplicas",
    "Keyframe",
    "Leader",
    "LogStart",
    "Login",
    "Malformed",
    "Member",
    "Policy",
    "Producer",
    "Replica",
    "Request",
    "SharePartition",
    "ShareSession",
    "Topic",
    "TopicNotCreated",
    "Trace",
    "Transaction",
    "Truncation",
]


def __getattr__(name: str) -> Any:
    # Most clusters are not traced: there events need not be imported.
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from . import event, events, group_events

    return next(getattr(each, name) for each in (event, group_events, events) if hasattr(each, name))
