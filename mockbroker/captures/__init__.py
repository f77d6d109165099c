"""Reads packet captures of Kafka's protocol, in every version that kio has."""

from .decode import Message, messages

__all__ = ["Message", "messages"]
