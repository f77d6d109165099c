"""Where an answer is in force: everywhere, on one broker, for one topic, or for one topic on one broker."""

from typing import NamedTuple

from .behaviour import UnknownPolicyError


class Scope(NamedTuple):
    """A topic's name and a broker's id; None means all of them."""

    topic: str | None = None
    broker: int | None = None

    def __str__(self) -> str:
        """The text that `parse` reads."""
        topic = "" if self.topic is None else f"@topic:{self.topic}"
        broker = "" if self.broker is None else f"@broker:{self.broker}"
        return topic + broker

    def covers(self, other: "Scope") -> bool:
        """Whether what applies here also applies to `other`."""
        return self.topic in (None, other.topic) and self.broker in (None, other.broker)


EVERYWHERE = Scope()


class Source(NamedTuple):
    """Where an answer comes from: the `release`, a fix (`fixed`), `chosen` by name, or a user's `own`; and
    the scope for which it was set."""

    kind: str
    scope: Scope


def parse(text: str) -> tuple[str, Scope]:
    """Name and scope of `undefined-epoch@topic:orders@broker:1`, both parts of the scope optional.

    UnknownPolicyError for a malformed scope.
    """
    name, *parts = text.split("@")
    topic, broker = None, None
    for part in parts:
        kind, _, value = part.partition(":")
        if kind == "topic" and value:
            topic = value
        elif kind == "broker" and value.isdecimal():
            broker = int(value)
        else:
            raise UnknownPolicyError(f"policy {text!r}: write the scope as NAME@topic:T or NAME@broker:ID")
    return name, Scope(topic, broker)
