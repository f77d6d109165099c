"""DescribeUserScramCredentials: who can log in by SCRAM, without secrets (KIP-554)."""

from typing import Any

from ..registry import Scene, Steps
from .alter_user_scram_credentials import SHA_512, alter, deletion, in_order, infos, upsertion


def _describe(s: Scene, *names: str) -> Any:
    return in_order(s.ask(users=[{"name": name} for name in names]))


def users(s: Scene) -> Steps:
    name, other = s.name("u"), s.name("v")
    alter(s, upsertion(name), upsertion(other, SHA_512, 4096))
    s.until(lambda: infos(s, name) and infos(s, other))
    yield "one", _describe(s, name)
    yield "two", _describe(s, name, other)
    yield "unknown", _describe(s, s.name("w"))
    yield "known and unknown", _describe(s, s.name("w"), name)
    yield "twice", _describe(s, name, name)
    yield "unknown twice", _describe(s, s.name("w"), s.name("w"))
    yield "three times and another", _describe(s, name, other, name, name)
    yield "empty name", _describe(s, "")
    yield "all", _describe(s)
    yield "all, by null", in_order(s.ask(users=None))
    alter(s, deletions=(deletion(name), deletion(other, SHA_512)))
    s.until(lambda: not infos(s, name) and not infos(s, other))
    yield "none is left", _describe(s)
