"""Histories of the simulator once more over TCP, with real clients in the model clients' place."""

from ..drivers.in_thread import Client, open_client
from .missing import missing
from .playing import Replayed, play

__all__ = ["Client", "Replayed", "missing", "open_client", "play"]
