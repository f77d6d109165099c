"""Members of share groups: what they are given, what their clients make of what they say, and what they are
told of that, beside what brokers answered."""

from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import Final

from mockbroker.protocol.errors import ErrorCode

from ..journal import Acknowledged, Called, Delivered, Granted, Refused, Said, Settled
from ..shares import EXPLICIT, Sharing
from ..stage import TIMERS, Outcome
from .violation import Violation

_ACCEPT: Final = 1
_RELEASE: Final = 2
_TYPES: Final = {"accept": 1, "release": 2, "reject": 3, "renew": 4}
_WORDS: Final = {number: word for word, number in _TYPES.items()}
_LIMIT: Final = 5
"""`group.share.delivery.count.limit`"""

Place = tuple[str, int, int]
"""Topic, partition, offset."""


def given(outcome: Outcome) -> Iterator[Violation]:
    """`not-acquired`: a poll returns a record that no broker has said this member has acquired, or more often
    than it has. `delivery-count`: it says another number than brokers did."""
    granted: dict[tuple[str, Place], list[int]] = defaultdict(list)
    latest: dict[tuple[str, Place], int] = {}
    for entry in outcome.journal.entries:
        if isinstance(entry, Granted):
            for place in _places(entry):
                granted[entry.handle, place].append(entry.count)
                latest[entry.handle, place] = entry.count
        elif isinstance(entry, Settled):
            # What is renewed is returned again.
            for place in _places(entry):
                key = entry.handle, place
                if entry.said(place[2]) == _TYPES["renew"] and key in latest:
                    granted[key].append(latest[key])
        elif isinstance(entry, Delivered) and entry.topic not in outcome.deleted:
            counts = granted[entry.handle, (entry.topic, entry.partition, entry.offset)]
            where = f"{entry.topic}-{entry.partition} offset {entry.offset}"
            if not counts:
                what = f"is given {where}, which it has not acquired"
                yield Violation("not-acquired", entry.user, what, (entry.at,))
            elif entry.count not in counts:
                told = " or ".join(map(str, dict.fromkeys(counts)))
                what = f"is told that this is delivery {entry.count} of {where}, and brokers said {told}"
                yield Violation("delivery-count", entry.user, what, (entry.at,))
            else:
                del counts[: counts.index(entry.count) + 1]


def _places(entry: Granted | Settled) -> Iterator[Place]:
    return ((entry.topic, entry.partition, offset) for offset in range(entry.first, entry.last + 1))


def done_again(outcome: Outcome) -> Iterator[Violation]:
    """`accepted-again`, `rejected-again`: a member was told that it has accepted or rejected a record, and
    after that somebody acquires it again."""
    said: dict[tuple[str, Place], str] = {}
    over: dict[Place, tuple[str, int]] = {}
    for entry in outcome.journal.entries:
        if isinstance(entry, Delivered):
            key = entry.handle, (entry.topic, entry.partition, entry.offset)
            said[key] = "" if _is_explicit(outcome, entry.user) else "accept"
        elif isinstance(entry, Said) and entry.error is None:
            said[entry.handle, (entry.topic, entry.partition, entry.offset)] = entry.what
        elif isinstance(entry, Acknowledged) and entry.error is None:
            for offset in entry.offsets:
                place = entry.topic, entry.partition, offset
                if (what := said.get((entry.handle, place), "")) in ("accept", "reject"):
                    over[place] = what, entry.at
        elif isinstance(entry, Granted) and entry.topic not in outcome.deleted:
            for place in _places(entry):
                what, at = over.pop(place, ("", -1))
                if what:
                    where = f"{entry.topic}-{entry.partition} offset {place[2]}"
                    told = f"acquires {where}, which was told to be {what}ed"
                    yield Violation(f"{what}ed-again", entry.user, told, (at, entry.at))


def said_otherwise(outcome: Outcome) -> Iterator[Violation]:
    """`acknowledged-unsaid`: a client tells a broker of a record what its user has not said, or that it has
    processed a record that its user was not given."""
    said: dict[tuple[str, Place], set[int]] = defaultdict(set)
    for entry in outcome.journal.entries:
        if isinstance(entry, Delivered) and not _is_explicit(outcome, entry.user):
            said[entry.handle, (entry.topic, entry.partition, entry.offset)].add(_ACCEPT)
        elif isinstance(entry, Said):
            said[entry.handle, (entry.topic, entry.partition, entry.offset)].add(_TYPES[entry.what])
        elif isinstance(entry, Settled):
            for place in _places(entry):
                type_, known = entry.said(place[2]), said[entry.handle, place]
                if type_ in _WORDS and type_ != _RELEASE and type_ not in known:
                    mine = " and ".join(_WORDS[each] for each in sorted(known)) or "nothing"
                    where = f"{entry.topic}-{entry.partition} offset {place[2]}"
                    what = f"its client says {_WORDS[type_]} of {where}, and it has said {mine}"
                    yield Violation("acknowledged-unsaid", entry.user, what, (entry.at,))
                    break


def told_otherwise(outcome: Outcome) -> Iterator[Violation]:
    """`told-two-things`: a member is told that an acknowledgement is committed, and no broker has said so; or
    it is told two things of one acknowledgement; or of an error that no broker answered."""
    done: set[tuple[str, Place]] = set()
    told: dict[tuple[str, Place], Acknowledged] = {}
    refused: dict[str, set[str]] = defaultdict(set)
    for entry in outcome.journal.entries:
        if isinstance(entry, Refused):
            refused[entry.user].update(entry.errors)
        elif isinstance(entry, Settled) and not entry.error:
            done.update((entry.handle, place) for place in _places(entry))
        elif isinstance(entry, Said | Delivered):
            told.pop((entry.handle, (entry.topic, entry.partition, entry.offset)), None)
        elif isinstance(entry, Acknowledged):
            yield from _told(entry, done, told, refused[entry.user])


def _told(
    entry: Acknowledged,
    done: set[tuple[str, Place]],
    told: dict[tuple[str, Place], Acknowledged],
    refused: set[str],
) -> Iterator[Violation]:
    where = f"{entry.topic}-{entry.partition}"
    for offset in entry.offsets:
        key = entry.handle, (entry.topic, entry.partition, offset)
        before = told.setdefault(key, entry)
        if entry.error is None and key not in done:
            what = f"the acknowledgement of {where} offset {offset} is told to be committed, and is not"
            yield Violation("told-two-things", entry.user, what, (entry.at,), "not-committed")
            return
        if (before.error is None) != (entry.error is None) and before.by != entry.by:
            what = f"{before.by} and {entry.by} tell different things of {where} offset {offset}"
            yield Violation("told-two-things", entry.user, what, (before.at, entry.at), "by-two")
            return
    code = None if entry.error is None else entry.error.code
    if code == ErrorCode.INVALID_RECORD_STATE and ErrorCode(code).name not in refused:
        what = f"is told of {where}: {entry.error}, and no broker has answered that"
        yield Violation("told-two-things", entry.user, what, (entry.at,), "made-up")


def untold(outcome: Outcome) -> Iterator[Violation]:
    """`untold`: what a member has said of a record was sent to a broker, and the member, whose client was
    closed, was never told what became of it. A client may give up when closing takes as long as a request
    may."""
    said: dict[tuple[str, Place], Said] = {}
    sent: dict[tuple[str, Place], Settled] = {}
    for entry in outcome.journal.entries:
        if isinstance(entry, Said) and entry.error is None:
            said[entry.handle, (entry.topic, entry.partition, entry.offset)] = entry
        elif isinstance(entry, Settled):
            for place in _places(entry):
                key = entry.handle, place
                if key in said and entry.said(place[2]) == _TYPES[said[key].what]:
                    sent[key] = entry
        elif isinstance(entry, Acknowledged):
            for offset in entry.offsets:
                key = entry.handle, (entry.topic, entry.partition, offset)
                said.pop(key, None)
                sent.pop(key, None)
    closes = (each for each in outcome.journal.of(Called) if each.verb == "close")
    gave_up = {each.handle for each in closes if each.took_ms >= TIMERS["request.timeout.ms"]}
    first = dict[str, tuple[Settled, Said, Place]]()
    for key, settled in sent.items():
        if key[0] in gave_up:
            continue
        first.setdefault(key[0], (settled, said[key], key[1]))
    for settled, what, (topic, partition, offset) in first.values():
        text = f"never told whether it was committed that it {what.what}s {topic}-{partition} offset {offset}"
        yield Violation("untold", what.user, text, (what.at, settled.at))


def stuck(outcome: Outcome) -> Iterator[Violation]:
    """`stuck`: long after all is well again, a share group has not processed all records."""
    for group, left in outcome.unsettled.items():
        if left and group not in outcome.getting_on:
            yield Violation("stuck", group, f"has not processed {', '.join(left)}")


def undelivered(outcome: Outcome) -> Iterator[Violation]:
    """`undelivered`: a share group is done with a record that none of its members was given, and brokers have
    not tried as often as they may."""
    for user in [each for each in outcome.plan.users if each.kind == Sharing.kind][:1]:
        group, topics = user.fields["group"], set(user.fields["shares"]) - outcome.deleted
        if outcome.unsettled.get(group):
            return
        seen = {(e.topic, e.partition, e.offset) for e in outcome.journal.of(Delivered)}
        tried: Counter[Place] = Counter()
        for granted in outcome.journal.of(Granted):
            for place in _places(granted):
                tried[place] = max(tried[place], granted.count)
        lost = sum(e.lost for e in outcome.journal.of(Refused) if e.api == "ShareFetch")
        for (topic, partition), records in outcome.logs.items():
            for each in records if topic in topics else ():
                place = topic, partition, each.offset
                if each.committed and place not in seen and tried[place] + lost < _LIMIT:
                    what = f"{topic}-{partition} offset {each.offset} was given to nobody"
                    yield Violation("undelivered", group, what)


def _is_explicit(outcome: Outcome, user: str) -> bool:
    for each in outcome.plan.users:
        if each.name == user:
            settings = each.fields.get("consumer", {})
            return bool(settings.get("share.acknowledgement.mode") == EXPLICIT)
    return False
