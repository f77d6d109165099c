"""An incident in one sentence."""

from collections.abc import Iterator, Sequence
from typing import Final

from .model import Event, Finding

_BACK: Final = "went back"
_DID: Final = {
    "set-back": _BACK,
    "admin-reset": "was set back by an operator",
    "offset-rewind": _BACK,
    "reset-to-earliest": "began again at the earliest offset",
    "reset-to-latest": "went on at the latest offset",
    "out-of-range": "had an offset that is out of range",
    "offset-lost": "had no committed offset any more",
    "lag-spike": "fell behind",
    "outflux-without-influx": "read more than was written",
    "spurious-sequence-error": "got an error about sequence numbers without having lost a record",
    "lost-records": "lost records that had been acknowledged",
    "rebalance-timeout": "had members that did not give up their partitions",
    "session-timeout": "had members that fell silent",
    "migration-refused": "could not become a group of Kafka 4",
    "joined-too-early": "was joined too early",
    "group-never-settles": "had a new epoch again and again",
}
_HAPPENED: Final = {
    "truncation-gap": "a position lay past the end of the log",
    "log-end-fell": "the log end offset fell",
    "follower-failure": "a follower failed",
    "undefined-epoch": "a leader epoch was not known",
    "unknown-epoch": "a leader epoch was not known",
    "epoch-regression": "a leader epoch was lower than before",
    "tombstone-of-live-group": "a commit of a group that still had members was deleted",
    "unclean-election": "a replica that was not in sync was elected",
    "cut-off-leader": "a broker that was cut off went on as leader",
}


def story(events: Sequence[Event]) -> str:
    """The cause, to whom the same happened, and what followed: each group once for what it did."""
    cause, *rest = events
    parts = [str(cause.finding["summary"])]
    same = [_who(each.finding) for each in rest if each.because is None]
    if same:
        parts.append(f"the same happened to {_listed(same)}")
    parts += _consequences([each.finding for each in rest if each.because is not None])
    return "; ".join(parts)


def _consequences(findings: Sequence[Finding]) -> Iterator[str]:
    did: dict[str, dict[str, str]] = {}
    happened: dict[str, None] = {}
    for each in findings:
        signature = each["signature"]
        if signature in _DID:
            # The first is kept: findings are in order, and a group's later ones follow from it.
            did.setdefault(_DID[signature], {}).setdefault(_who(each), each["confidence"])
        else:
            happened[str(_HAPPENED.get(signature, signature))] = None
    yield from happened
    for what, names in did.items():
        known = dict.fromkeys(names.values())
        sure = ", ".join(known) if len(known) == 1 else _by_confidence(names)
        yield f"{_listed(list(names))} {what} ({sure})"


def _by_confidence(names: dict[str, str]) -> str:
    by: dict[str, list[str]] = {}
    for name, confidence in names.items():
        by.setdefault(confidence, []).append(name)
    return "; ".join(f"{_listed(each)}: {confidence}" for confidence, each in by.items())


def _listed(names: Sequence[str]) -> str:
    """`group a, group b and group c` as `groups a, b and c`."""
    unique = list(dict.fromkeys(names))
    kinds = {name.partition(" ")[0] for name in unique}
    if len(unique) == 1:
        return unique[0]
    if len(kinds) > 1:
        return f"{', '.join(unique[:-1])} and {unique[-1]}"
    (kind,) = kinds
    bare = [name.partition(" ")[2] for name in unique]
    return f"{kind}s {', '.join(bare[:-1])} and {bare[-1]}"


def _who(finding: Finding) -> str:
    for key, name in (("group", "group"), ("producer_id", "producer"), ("broker", "broker")):
        if finding[key] is not None:
            return f"{name} {finding[key]}"
    topic, partition = finding["topic"], finding["partition"]
    if topic is None:
        return "a client"
    return f"partition {topic}-{partition}" if partition is not None else f"topic {topic}"
