"""What happened in a cluster, as typed events: requests, answers, changes of state, decisions."""

from .events import (
    Answer,
    Broker,
    Decision,
    Event,
    Follower,
    Group,
    HighWatermark,
    InSyncReplicas,
    Leader,
    LogStart,
    Malformed,
    Policy,
    Request,
    TopicNotCreated,
    Transaction,
    Truncation,
)
from .trace import Trace

__all__ = [
    "Answer",
    "Broker",
    "Decision",
    "Event",
    "Follower",
    "Group",
    "HighWatermark",
    "InSyncReplicas",
    "Leader",
    "LogStart",
    "Malformed",
    "Policy",
    "Request",
    "TopicNotCreated",
    "Trace",
    "Transaction",
    "Truncation",
]
