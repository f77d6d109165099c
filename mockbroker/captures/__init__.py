"""Packet captures of Kafka's protocol, read: any version that kio has."""

from .decode import Message, messages

__all__ = ["Message", "messages"]
