"""What a fault does to a request: each action is a class that a user names, as in `do="disconnect"`."""

from . import answering, assignments, changes, framing, metadata, timing
from .action import ACTIONS, Action, When

__all__ = [
    "ACTIONS",
    "Action",
    "When",
    "answering",
    "assignments",
    "changes",
    "framing",
    "metadata",
    "timing",
]
