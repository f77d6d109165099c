"""Acknowledgements in every order over every kind of range."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from mockbroker.rig.scene import LacksApiError
from mockbroker.rig.stories import Steps

from .stage import ACCEPT, GAP, REJECT, RELEASE, RENEW, Ack, ShareStage, acquired, outcome

_END: Final = 5
"""Of the records that are acquired, which begin with 0."""
_SHORT_MS: Final = "1000"
Sequences = Mapping[str, Sequence[Sequence[Ack]]]


def _all(kind: int) -> Ack:
    return Ack(0, _END, [kind])


RANGES: Final[Sequences] = {
    "accept": [[_all(ACCEPT)]],
    "release": [[_all(RELEASE)]],
    "reject": [[_all(REJECT)]],
    "gap": [[_all(GAP)]],
    "each its own": [[Ack(0, 5, [ACCEPT, RELEASE, REJECT, GAP, ACCEPT, RELEASE])]],
    "first half, second half": [[Ack(0, 2, [ACCEPT])], [Ack(3, 5, [ACCEPT])]],
    "second half, first half": [[Ack(3, 5, [ACCEPT])], [Ack(0, 2, [ACCEPT])]],
    "the middle": [[Ack(2, 3, [ACCEPT])]],
    "the middle, then all": [[Ack(2, 3, [ACCEPT])], [_all(ACCEPT)]],
    "the middle, then the rest": [[Ack(2, 3, [ACCEPT])], [Ack(0, 1, [ACCEPT]), Ack(4, 5, [ACCEPT])]],
    "the middle released, then the rest": [
        [Ack(2, 3, [RELEASE])],
        [Ack(0, 1, [ACCEPT]), Ack(4, 5, [ACCEPT])],
    ],
    "one, one, one": [[Ack(1, 1, [ACCEPT])], [Ack(0, 0, [REJECT])], [Ack(2, 2, [RELEASE])]],
    "all in single records": [[Ack(each, each, [ACCEPT]) for each in range(6)]],
    "all in single records, backwards": [[Ack(each, each, [ACCEPT]) for each in reversed(range(6))]],
    "overlapping in one request": [[Ack(0, 3, [ACCEPT]), Ack(2, 5, [ACCEPT])]],
    "overlapping requests": [[Ack(0, 3, [ACCEPT])], [Ack(2, 5, [ACCEPT])]],
    "twice in one request": [[_all(ACCEPT), _all(ACCEPT)]],
    "good and bad in one request": [[Ack(0, 1, [ACCEPT]), Ack(50, 51, [ACCEPT])]],
    "bad and good in one request": [[Ack(50, 51, [ACCEPT]), Ack(0, 1, [ACCEPT])]],
    "beyond the end": [[Ack(4, 9, [ACCEPT])]],
    "never acquired": [[Ack(100, 109, [ACCEPT])]],
    "negative": [[Ack(-2, -1, [ACCEPT])]],
    "from before the start": [[Ack(-1, 2, [ACCEPT])]],
    "backwards": [[Ack(5, 0, [ACCEPT])]],
    "no batch": [[]],
    "no types": [[Ack(0, 5, [])]],
    "two types for six": [[Ack(0, 5, [ACCEPT, RELEASE])]],
    "seven types for six": [[Ack(0, 5, [ACCEPT] * 7)]],
    "an unknown type": [[_all(5)]],
    "a negative type": [[_all(-1)]],
    "an unknown type among others": [[Ack(0, 5, [ACCEPT, ACCEPT, 9, ACCEPT, ACCEPT, ACCEPT])]],
}
PAIRS: Final[Sequences] = {
    f"{first}, then {second}": [[_all(one)], [_all(two)]]
    for first, one in (("accept", ACCEPT), ("release", RELEASE), ("reject", REJECT), ("gap", GAP))
    for second, two in (("accept", ACCEPT), ("release", RELEASE), ("reject", REJECT), ("gap", GAP))
}


def _told(s: ShareStage, sequences: Sequences, *counts: int) -> Steps:
    """Each in a group of its own."""
    s.topic()
    s.fill(*counts)
    for number, (label, requests) in enumerate(sequences.items()):
        group = f"g{number}"
        one = s.reader("A", group)
        found = acquired(one.fetch())
        answers = [outcome(one.acknowledge(*each)) for each in requests]
        left = acquired(one.look()) if one.session else None
        yield label, {"acquired": found, "answers": answers, "state": s.state(group), "then": left}


def ranges_of_one_batch(s: ShareStage) -> Steps:
    """Of a batch of six records."""
    return _told(s, RANGES, 6)


def ranges_of_batches(s: ShareStage) -> Steps:
    """Of batches of two, one and three records."""
    return _told(s, RANGES, 2, 1, 3)


def pairs(s: ShareStage) -> Steps:
    """All records twice."""
    return _told(s, PAIRS, 2, 4)


def with_fetches(s: ShareStage) -> Steps:
    """Acknowledgements that come with ShareFetch."""
    s.topic("t", 2)
    s.fill(2, 2, 2)
    one = s.reader()
    yield "two", acquired(one.fetch(max_records=2))
    yield "accepts them, next", acquired(one.fetch(acks={0: [Ack(0, 1, [ACCEPT])]}, max_records=2))
    yield "again, next", acquired(one.fetch(acks={0: [Ack(0, 1, [ACCEPT])]}, max_records=2))
    yield "releases 2, none more", acquired(one.look(acks={0: [Ack(2, 3, [RELEASE])]}, max_records=0))
    yield "state", s.state()
    yield "all", acquired(one.fetch())
    yield "of another partition", one.fetch(0, 1, acks={1: [Ack(0, 1, [ACCEPT])]}, max_wait=300)
    yield "wrong types", acquired(one.look(acks={0: [Ack(4, 5, [9])]}))
    yield "last", one.fetch(acks={0: [Ack(4, 5, [ACCEPT])]}, epoch=-1)
    yield "state then", s.state()


def before_the_start(s: ShareStage) -> Steps:
    """A range that reaches across the start offset, while no records are acquired."""
    s.topic()
    s.topic("other")
    one = s.reader("A", "g", "t", "other")
    yield "nothing there", acquired(one.look())
    yield "from before the start", one.acknowledge(Ack(-1, 0, [ACCEPT]))
    one.session += 1
    yield "with a fetch", one.look(acks={0: [Ack(-1, 0, [ACCEPT])]})
    one.session += 1
    yield "at the start", outcome(one.acknowledge(Ack(0, 0, [ACCEPT])))
    yield "and ends", one.acknowledge(Ack(-1, 0, [ACCEPT]), epoch=-1)
    yield "and again", one.acknowledge(Ack(0, 0, [ACCEPT]))
    s.fill(2)
    yield "reads", acquired(one.fetch(epoch=0))
    yield "from before the start, acquired", outcome(one.acknowledge(Ack(-1, 1, [ACCEPT])))
    yield "done", outcome(one.acknowledge(Ack(0, 1, [ACCEPT])))
    yield "before the new start", one.acknowledge(Ack(0, 2, [ACCEPT]))
    yield "state", s.state()


def of_another(s: ShareStage) -> Steps:
    """What another member has acquired."""
    s.topic()
    s.fill(3, 3)
    one, two = s.reader(), s.member("B")
    two.join("t")
    yield "one", acquired(one.fetch(max_records=3))
    yield "two", acquired(two.fetch(max_records=3))
    yield "two accepts one's", outcome(two.acknowledge(Ack(0, 2, [ACCEPT])))
    yield "two accepts all", outcome(two.acknowledge(Ack(0, 5, [ACCEPT])))
    yield "two accepts its own and one's", outcome(two.acknowledge(Ack(3, 5, [ACCEPT]), Ack(0, 2, [ACCEPT])))
    yield "state", s.state()
    yield "two accepts its own", outcome(two.acknowledge(Ack(3, 5, [ACCEPT])))
    yield "one accepts", outcome(one.acknowledge(Ack(0, 2, [ACCEPT])))
    yield "state then", s.state()


def after_leaving(s: ShareStage) -> Steps:
    """A member leaves its group while it has records."""
    s.topic()
    s.fill(3)
    one, two = s.reader(), s.member("B")
    two.join("t")
    yield "one", acquired(one.fetch())
    yield "leaves", one.leave()
    yield "two", acquired(two.look())
    yield "accepts", outcome(one.acknowledge(Ack(0, 2, [ACCEPT])))
    yield "state", s.state()


def after_the_lock(s: ShareStage) -> Steps:
    """Records whose lock has run out are available again."""
    s.topic()
    s.fill(2, 2)
    one, two = s.reader(share_record_lock_duration_ms=_SHORT_MS), s.member("B")
    two.join("t")
    yield "one", acquired(one.fetch())
    yield "two, once it may", acquired(two.fetch())
    yield "one accepts", outcome(one.acknowledge(Ack(0, 3, [ACCEPT])))
    yield "two accepts", outcome(two.acknowledge(Ack(0, 3, [ACCEPT])))
    yield "state", s.state()
    yield "one, nothing left", acquired(one.look())


def late_acknowledgement(s: ShareStage) -> Steps:
    """One record of a batch is acknowledged, the lock of the others runs out, and they are acknowledged late
    (KAFKA-19859)."""
    s.topic()
    s.fill(4)
    one = s.reader(share_record_lock_duration_ms=_SHORT_MS)
    yield "all", acquired(one.fetch())
    yield "accepts 0", outcome(one.acknowledge(Ack(0, 0, [ACCEPT])))
    yield "state", s.state()
    s.brokers.until(lambda: s.available() == 3, "the end of the locks, of which each record has one now")
    yield "state, released", s.state()
    yield "accepts late", outcome(one.acknowledge(Ack(1, 3, [ACCEPT])))
    yield "accepts all late", outcome(one.acknowledge(Ack(0, 3, [ACCEPT])))
    yield "state, late", s.state()
    yield "fetches", acquired(one.fetch())
    yield "accepts", outcome(one.acknowledge(Ack(1, 3, [ACCEPT])))
    yield "state then", s.state()


def renewals(s: ShareStage) -> Steps:
    """Renew (KIP-1222)."""
    s.topic()
    s.fill(3, 3)
    one = s.reader()
    yield "v1", acquired(one.fetch(version=1, max_records=3))
    yield "renews in v1", outcome(one.acknowledge(Ack(0, 2, [RENEW]), version=1))
    s.needs("share_acknowledge", 2)
    yield "renews unsaid", one.acknowledge(Ack(0, 2, [RENEW]))
    yield "renews", one.acknowledge(Ack(0, 2, [RENEW]), is_renew_ack=True)
    yield "says renew, accepts", one.acknowledge(Ack(0, 0, [ACCEPT]), is_renew_ack=True)
    yield "renews and accepts", one.acknowledge(Ack(0, 2, [RENEW, ACCEPT, RENEW]), is_renew_ack=True)
    yield "renews what is accepted", one.acknowledge(Ack(0, 2, [RENEW]), is_renew_ack=True)
    yield "state", s.state()
    renew = {0: [Ack(2, 2, [RENEW])]}
    yield "with a fetch", one.look(acks=renew, is_renew_ack=True)
    nothing: dict[str, Any] = {"max_wait": 0, "min_bytes": 0, "max_bytes": 0, "max_records": 0}
    yield "with a fetch of nothing", one.fetch(acks=renew, is_renew_ack=True, **nothing)
    yield "with a fetch, unsaid", one.look(acks=renew)
    yield "never acquired", one.acknowledge(Ack(50, 51, [RENEW]), is_renew_ack=True)
    yield "state then", s.state()
    yield "ends", one.acknowledge(Ack(2, 2, [RENEW]), is_renew_ack=True, epoch=-1)
    s.brokers.until(lambda: s.available() == 4, "the end of the session")
    yield "state at the end", s.state()


def renewed_locks(s: ShareStage) -> Steps:
    """A renewal moves the end of the lock."""
    s.needs("share_acknowledge", 2)
    s.topic()
    s.fill(2)
    one, two = s.reader(share_record_lock_duration_ms="2000"), s.member("B")
    two.join("t")
    yield "one", acquired(one.fetch())
    began = s.brokers.now_ms()
    s.brokers.sleep(1)
    yield "renews 0", outcome(one.acknowledge(Ack(0, 0, [RENEW]), is_renew_ack=True))
    yield "two, once it may", acquired(two.fetch())
    yield "then", acquired(two.fetch())
    yield "after the renewed lock", s.brokers.now_ms() - began >= 3000


def renewals_forbidden(s: ShareStage) -> Steps:
    """The group does not let its members renew locks."""
    s.needs("share_acknowledge", 2)
    s.topic()
    s.fill(3, 2)
    if s.configure("g", share_renew_acknowledge_enable="false")["error_code"] != "NONE":
        raise LacksApiError("share.renew.acknowledge.enable")
    one = s.reader()
    yield "one", acquired(one.fetch())
    yield "renews a batch", outcome(one.acknowledge(Ack(0, 2, [RENEW]), is_renew_ack=True))
    yield "renews a record", outcome(one.acknowledge(Ack(1, 1, [RENEW]), is_renew_ack=True))
    two_kinds = Ack(0, 2, [ACCEPT, RENEW, ACCEPT])
    yield "accepts and renews", outcome(one.acknowledge(two_kinds, is_renew_ack=True))
    yield (
        "accepts, renews",
        outcome(one.acknowledge(Ack(0, 2, [ACCEPT]), Ack(3, 4, [RENEW]), is_renew_ack=True)),
    )
    yield "state", s.state()
    yield "accepts", outcome(one.acknowledge(Ack(0, 4, [ACCEPT])))
    yield "state then", s.state()
