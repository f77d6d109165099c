"""Share sessions: their epochs, what they hold, and how they end."""

from typing import Any

from mockbroker.rig import requests
from mockbroker.rig.stories import Steps

from ..driving.group_stage import UNKNOWN_ID
from .stage import ACCEPT, RENEW, Ack, ShareStage, acquired, of_partitions, outcome


def begins_and_ends(s: ShareStage) -> Steps:
    """A session of one partition."""
    s.topic()
    s.fill(3)
    one = s.reader()
    yield "first", one.fetch()
    yield "again, nothing new", one.look()
    yield "nothing named", one.fetch_all([], max_wait=300)
    s.fill(2)
    yield "nothing named, new records", one.fetch_all([])
    yield "last", one.fetch(epoch=-1)
    s.brokers.until(lambda: s.available() == 5, "the end of the session")
    yield "state", s.state()
    yield "epoch 0 again", acquired(one.fetch_some(epoch=0))


def wrong_epochs(s: ShareStage) -> Steps:
    """Epochs that are not the next one."""
    s.topic()
    s.fill(6)
    one = s.reader()
    yield "1 without a session", one.fetch(epoch=1)
    yield "-1 without a session", one.fetch(epoch=-1)
    yield "acknowledges without a session, 0", one.acknowledge(Ack(0, 1, [ACCEPT]), epoch=0)
    yield "acknowledges without a session, 1", one.acknowledge(Ack(0, 1, [ACCEPT]), epoch=1)
    yield "acknowledges without a session, -1", one.acknowledge(Ack(0, 1, [ACCEPT]), epoch=-1)
    yield "acknowledgements in the first", acquired(one.fetch(acks={0: [Ack(0, 1, [ACCEPT])]}, epoch=0))
    yield "first", acquired(one.fetch(epoch=0, max_records=2, share_acquire_mode=1))
    yield "2 in place of 1", one.look(epoch=2)
    yield "-2", one.look(epoch=-2)
    yield "1", acquired(one.look(epoch=1))
    yield "1 again", one.look(epoch=1)
    yield "acknowledges, epoch 1", one.acknowledge(Ack(0, 0, [ACCEPT]), epoch=1)
    yield "acknowledges, epoch 0", one.acknowledge(Ack(0, 0, [ACCEPT]), epoch=0)
    yield "acknowledges, right", one.acknowledge(Ack(0, 0, [ACCEPT]), epoch=2)
    yield "0 anew", acquired(one.look(epoch=0))
    yield "state", s.state()


def ends_with_acknowledgements(s: ShareStage) -> Steps:
    """The last request of a session: what it does not acknowledge is released."""
    s.topic()
    s.fill(6)
    one, two = s.reader(), s.member("B")
    two.join("t")
    yield "all", acquired(one.fetch())
    yield "another", acquired(two.look())
    yield "acknowledges some, ends", one.acknowledge(Ack(0, 1, [ACCEPT]), epoch=-1)
    s.brokers.until(lambda: s.available() == 4, "the end of the session")
    yield "state", s.state()
    yield "another then", acquired(two.fetch_some())
    yield "fetch at the end", two.fetch(acks={0: [Ack(2, 2, [ACCEPT])]}, epoch=-1)
    yield "the first again", acquired(one.fetch_some(epoch=0))


def forgotten(s: ShareStage) -> Steps:
    """Partitions that a session forgets, and ones that it never had."""
    s.topic("t", 2)
    s.fill(2)
    s.fill(2, partition=1)
    one = s.reader()
    yield "both", one.fetch(0, 1, max_records=100)
    s.fill(1)
    s.fill(1, partition=1)
    topic = {"topic_id": s.topic_id(), "partitions": [0]}
    yield "without 0", one.fetch_all([], forgotten_topics_data=[topic])
    yield "forgotten again", one.fetch_all([], forgotten_topics_data=[topic], max_wait=300)
    yield "acknowledges what is forgotten", one.acknowledge(Ack(0, 1, [ACCEPT]))
    yield "back", one.fetch(0)
    other = {"topic_id": UNKNOWN_ID, "partitions": [0]}
    yield "an unknown topic", one.fetch_all([], forgotten_topics_data=[other], max_wait=300)


def unknown_partitions(s: ShareStage) -> Steps:
    """Partitions and topics that are not there, or not assigned."""
    s.topic()
    s.topic("other")
    s.fill(2)
    s.fill(2, name="other")
    one = s.reader()
    yield "unknown topic", one.look(name="nothing")
    yield "unknown partition", one.look(7)
    yield "not assigned", one.look(name="other")
    yield "acknowledges an unknown topic", one.acknowledge(Ack(0, 0, [ACCEPT]), name="nothing")
    yield "acknowledges an unknown partition", one.acknowledge(Ack(0, 0, [ACCEPT]), partition=7)
    yield "acknowledges not assigned", one.acknowledge(Ack(0, 0, [ACCEPT]), name="other")


def refused_partitions(s: ShareStage) -> Steps:
    """A session goes on, begins and ends although each partition of a request is refused."""
    s.topic()
    s.fill(4)
    one, two = s.reader(), s.member("B")
    two.join("t")
    yield "first, an unknown partition", one.look(7)
    gone = [{"topic_id": s.topic_id(), "partitions": [7]}]
    yield "then", acquired(one.fetch(epoch=1, forgotten_topics_data=gone))
    yield "types that are not valid", outcome(one.acknowledge(Ack(0, 1, [RENEW]), epoch=2))
    yield "not acquired", outcome(one.acknowledge(Ack(7, 8, [ACCEPT]), epoch=3))
    yield "not valid, in a fetch", one.look(acks={0: [Ack(0, 1, [RENEW])]}, epoch=4)
    yield "accepts", outcome(one.acknowledge(Ack(0, 0, [ACCEPT]), epoch=5))
    yield "not acquired, ends", outcome(one.acknowledge(Ack(7, 8, [ACCEPT]), epoch=-1))
    s.brokers.until(lambda: s.available() == 3, "the end of the session")
    yield "has ended", one.acknowledge(Ack(1, 1, [ACCEPT]), epoch=6)
    yield "another", acquired(two.fetch_some())
    yield "not valid, ends in a fetch", two.look(acks={0: [Ack(1, 3, [RENEW])]}, epoch=-1)
    s.brokers.until(lambda: s.available() == 3, "the end of the other session")
    yield "has ended, too", two.look(epoch=2)


def unknown_members(s: ShareStage) -> Steps:
    """Who fetches without being a member, and wrong ids."""
    s.topic()
    s.fill(2)
    s.reader()
    two = s.member("B")
    yield "no member", acquired(two.fetch())
    for label, fields in (
        ("no group", {"group_id": None}),
        ("empty group", {"group_id": ""}),
        ("no member id", {"member_id": None}),
        ("empty member id", {"member_id": ""}),
        ("no id", {"member_id": "not an id"}),
        ("unknown group", {"group_id": "nobody's"}),
    ):
        yield label, s.member("C").look(**fields)
        yield f"acknowledges, {label}", s.member("D").acknowledge(Ack(0, 0, [ACCEPT]), **fields)


def acquire_modes(s: ShareStage) -> Steps:
    """An unknown acquire mode, which counts if something is to be read."""
    s.topic()
    s.fill(2)
    one = s.reader()
    part = {"partition_index": 0, "acknowledgement_batches": []}
    unknown = [{"topic_id": UNKNOWN_ID, "partitions": [part]}]
    wrong: dict[str, Any] = {"share_acquire_mode": 2, "max_wait": 300}
    yield "of an unknown topic", one.fetch_all(unknown, 0, **wrong)
    yield "of nothing", one.fetch_all([], 0, **wrong)
    yield "of a topic", one.fetch(epoch=1, **wrong)
    one.session = 2
    yield "with a wrong epoch", one.fetch(epoch=7, **wrong)
    yield "no records", one.look(max_records=0, **{**wrong, "share_acquire_mode": -1})
    one.session = 3
    yield "accepts, in the beginning", one.fetch(epoch=0, acks={0: [Ack(0, 1, [ACCEPT])]}, **wrong)
    yield "then", acquired(one.fetch())
    yield "the end", one.fetch(epoch=-1, **wrong)


def one_connection(s: ShareStage) -> Steps:
    """Two members at one connection, and one member at two."""
    s.topic()
    s.fill(6)
    one, two = s.reader(), s.member("B")
    two.join("t")
    two.by = one.by
    yield "one", acquired(one.fetch(max_records=2, share_acquire_mode=1))
    yield "two at the same", acquired(two.look(max_records=2, share_acquire_mode=1))
    yield "one again", acquired(one.look())
    one.by = "elsewhere"
    yield "one elsewhere", acquired(one.look(epoch=one.session))
    yield "one elsewhere, anew", acquired(one.look(epoch=0))


def gone_while_waiting(s: ShareStage) -> Steps:
    """A connection closes while its member waits for records, and then there are some."""
    s.topic()
    s.fill(1)
    one, two = s.reader(), s.member("B")
    two.join("t")
    yield "one", acquired(one.fetch())
    yield "one accepts", outcome(one.acknowledge(Ack(0, 0, [ACCEPT])))
    yield "two", acquired(two.look())
    one.begin_to_fetch()
    s.client(by=one.by).close()
    yield "two in between", acquired(two.look(max_wait=1000))
    s.fill(3)
    yield "two gets", acquired(two.fetch_some())
    yield "two accepts", outcome(two.acknowledge(Ack(1, 3, [ACCEPT])))
    yield "state", s.state()


def disconnected(s: ShareStage) -> Steps:
    """A connection closes: what its member had acquired is free."""
    s.topic()
    s.fill(3)
    one, two = s.reader(), s.member("B")
    two.join("t")
    yield "one", acquired(one.fetch())
    s.client(by=one.by).close()
    yield "two", acquired(two.fetch_some())
    yield "one, the old epoch", one.look()
    s.brokers.until(lambda: s.available() == 3, "the end of the session")
    yield "state", s.state()
    yield "two accepts", outcome(two.acknowledge(Ack(0, 2, [ACCEPT])))
    yield "state then", s.state()


def unknown_topics_with_an_authorizer(s: ShareStage) -> Steps:
    """Where brokers look for names of topics to ask an authorizer about, although everything is allowed."""
    s.topic()
    s.topic("gone")
    s.fill(6)
    s.fill(2, name="gone")
    one = s.reader("A", "g", "t", "gone")
    nothing = {"topic_id": UNKNOWN_ID, "partitions": of_partitions({0: []})}
    accepted = {"topic_id": UNKNOWN_ID, "partitions": of_partitions({0: [Ack(0, 0, [ACCEPT])]})}
    known = {"topic_id": s.topic_id(), "partitions": of_partitions({0: [Ack(0, 0, [ACCEPT])]})}
    yield "first", one.fetch(epoch=0, max_records=2, share_acquire_mode=1)
    yield "acknowledges an unknown topic", one.acknowledge_all([accepted], 1)
    yield "with a known one", one.acknowledge_all([known, accepted], 2)
    yield "without batches", one.acknowledge_all([nothing], 3)
    yield "then", one.acknowledge_all([known], 4)
    yield "state", s.state()
    fetch = {"max_wait": 300, "max_records": 1, "share_acquire_mode": 1}
    yield "a fetch that acknowledges it", one.fetch_all([accepted], 5, **fetch)
    yield "the epoch after it", one.fetch_all([], 6, **fetch)
    known = {"topic_id": s.topic_id(), "partitions": of_partitions({0: [Ack(1, 1, [ACCEPT])]})}
    yield "a fetch that acknowledges another", one.fetch_all([known], 7, **fetch)
    forget = [{"topic_id": UNKNOWN_ID, "partitions": [0]}]
    yield "a fetch that forgets it", one.fetch_all([], 8, **fetch, forgotten_topics_data=forget)
    yield "a fetch that names it", one.fetch_all([nothing], 9, **fetch)
    yield "a fetch that names nothing", one.fetch_all([], 10, **fetch)
    yield "state then", s.state()
    yield "the first of a session", one.fetch_all([nothing], 0, **fetch)
    other = {"topic_id": s.topic_id(), "partitions": of_partitions({0: []})}
    yield "the second", one.fetch_all([other], 1, **fetch)
    yield "ends, acknowledges it", one.acknowledge_all([accepted], -1)
    yield "has it ended?", one.acknowledge_all([], 2)
    one.look(name="gone", epoch=0)
    gone = {"topic_id": s.topic_id("gone"), "partitions": of_partitions({0: [Ack(0, 0, [ACCEPT])]})}
    s.ask("delete_topics", requests.delete_topics(s.named("gone")))
    s.brokers.until(lambda: not s.led(s.named("gone"), 1), "the topic to be gone")
    yield "acknowledges a deleted topic", one.acknowledge_all([gone], 1)
    yield "in a fetch", one.fetch_all([gone], 2, **fetch)
    yield "a fetch that names nothing", one.fetch_all([], 3, **fetch)
    yield "a fetch that ends it", one.fetch_all([accepted], -1, **{**fetch, "max_records": 0, "max_bytes": 0})
    yield "has it ended, too?", one.acknowledge_all([], 4)
