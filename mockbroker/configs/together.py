"""Configurations of groups that contradict each other, with which no broker starts
(`GroupCoordinatorConfig.java`, `ShareGroupConfig.java`)."""

from collections.abc import Callable, Container, Iterator
from operator import ge, le, lt
from typing import Final, NamedTuple

from .values import ConfigError


class ContradictionError(ConfigError):
    """The values of two `names`, each of them valid alone."""

    def __init__(self, message: str, *names: str) -> None:
        super().__init__(message)
        self.names = names


class _Rule(NamedTuple):
    holds: Callable[[int, int], bool]
    words: str
    """What brokers say of a value that breaks it."""
    this: str
    other: str
    """What has to be done to this value, or to the other one."""


class _Pair(NamedTuple):
    this: str
    rule: _Rule
    other: str


_AT_LEAST: Final = _Rule(ge, "must be greater than or equal to", "{} or more", "{} or less")
_AT_MOST: Final = _Rule(le, "must be less than or equal to", "{} or less", "{} or more")
_BELOW: Final = _Rule(lt, "must be less than", "less than {}", "more than {}")


def _range(kind: str, what: str) -> Iterator[_Pair]:
    """What groups of a kind have, and what each of them may have instead."""
    value, least, most = (f"group.{kind}.{limit}{what}" for limit in ("", "min.", "max."))
    yield _Pair(most, _AT_LEAST, least)
    yield _Pair(value, _AT_LEAST, least)
    yield _Pair(value, _AT_MOST, most)


def _of_groups(kind: str) -> Iterator[_Pair]:
    heartbeat, session = "heartbeat.interval.ms", "session.timeout.ms"
    yield from _range(kind, heartbeat)
    yield from _range(kind, session)
    yield _Pair(f"group.{kind}.{heartbeat}", _BELOW, f"group.{kind}.{session}")
    yield from _range(kind, "assignment.interval.ms")


_PAIRS: Final = (
    *_of_groups("consumer"),
    *_of_groups("share"),
    *_of_groups("streams"),
    _Pair("group.streams.num.standby.replicas", _AT_MOST, "group.streams.max.standby.replicas"),
    _Pair("group.streams.task.offset.interval.ms", _AT_LEAST, "group.streams.min.task.offset.interval.ms"),
    _Pair("group.streams.num.warmup.replicas", _AT_MOST, "group.streams.max.warmup.replicas"),
    _Pair("group.share.max.delivery.count.limit", _AT_LEAST, "group.share.delivery.count.limit"),
    _Pair("group.share.delivery.count.limit", _AT_LEAST, "group.share.min.delivery.count.limit"),
    _Pair("group.share.max.partition.max.record.locks", _AT_LEAST, "group.share.partition.max.record.locks"),
    _Pair("group.share.partition.max.record.locks", _AT_LEAST, "group.share.min.partition.max.record.locks"),
    _Pair("group.share.record.lock.duration.ms", _AT_LEAST, "group.share.min.record.lock.duration.ms"),
    _Pair("group.share.max.record.lock.duration.ms", _AT_LEAST, "group.share.record.lock.duration.ms"),
    _Pair("group.share.max.share.sessions", _AT_LEAST, "group.share.max.size"),
)
"""In the order in which brokers look at them."""


def check_brokers(known: Container[str], given: Container[str], number: Callable[[str], int]) -> None:
    """ContradictionError for the first pair of those whose names are both `known` to the release. What is not
    `given` has its default; `number` has the values of all."""
    for pair in _PAIRS:
        if pair.this in known and pair.other in known:
            this, other = number(pair.this), number(pair.other)
            if not pair.rule.holds(this, other):
                raise ContradictionError(_told(pair, this, other, given), pair.this, pair.other)


def _told(pair: _Pair, this: int, other: int, given: Container[str]) -> str:
    values = ((pair.this, this), (pair.other, other))
    is_set = " and ".join(
        f"{name} is {value}{'' if name in given else ' by default'}" for name, value in values
    )
    return (
        f"{pair.this} {pair.rule.words} {pair.other}: {is_set}; "
        f"set {pair.this} to {pair.rule.this.format(other)}, "
        f"or {pair.other} to {pair.rule.other.format(this)}"
    )
