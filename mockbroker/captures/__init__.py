"""Reads packet captures of Kafka's protocol, in every version that kio has."""

from .decode import Message, decoded, messages
from .frames import Frame, frames

__all__ = ["Frame", "Message", "decoded", "frames", "messages"]
