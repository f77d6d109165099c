"""Histories of the simulator once more over TCP, with real clients in the model clients' place."""

from .instruments import missing
from .libraries import make
from .playing import Replayed, play

__all__ = ["Replayed", "make", "missing", "play"]
