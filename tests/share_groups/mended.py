"""What earlier releases did wrong."""

from mockbroker.rig.stories import Steps

from . import state
from .stage import ACCEPT, RELEASE, Ack, ShareStage, acquired, outcome


def log_start_within_a_batch(s: ShareStage) -> Steps:
    """The log start comes to lie in a batch that is in flight, of which the first records are done, and then
    the first record from there on is accepted: the start offset moves back (KAFKA-19859)."""
    s.topic()
    s.fill(10, 5)
    one, two = s.reader(), s.member("B")
    two.join("t")
    yield "the first batch", acquired(one.fetch(max_records=10))
    yield "accepts 0 and 1, releases 3", outcome(one.acknowledge(Ack(0, 1, [ACCEPT]), Ack(3, 3, [RELEASE])))
    yield "state", s.state()
    target = {"name": s.named("t"), "partitions": [{"partition_index": 0, "offset": 5}]}
    s.ask("delete_records", {"topics": [target], "timeout": 20_000})
    yield "reads on", acquired(one.look())
    yield "another reads on", acquired(two.look())
    yield "accepts 5", outcome(one.acknowledge(Ack(5, 5, [ACCEPT])))
    yield "accepts 7", outcome(one.acknowledge(Ack(7, 7, [ACCEPT])))
    yield "state then", s.state()
    yield "offsets", s.offsets("g", "t")
    yield "releases 8", outcome(one.acknowledge(Ack(8, 8, [RELEASE])))
    yield "another has 8", acquired(two.fetch_some())
    yield "state at last", s.state()


def released_beside_anothers(s: ShareStage) -> Steps:
    """Two members have acquired records of one batch, in turn, and one's session ends: what it has behind the
    other's stays locked (KAFKA-19953)."""
    s.topic()
    s.fill(6)
    one, two, three = s.reader(), s.member("B"), s.member("C")
    two.join("t")
    three.join("t")
    yield "one has all", acquired(one.fetch())
    yield "one releases 1 and 4", outcome(one.acknowledge(Ack(1, 1, [RELEASE]), Ack(4, 4, [RELEASE])))
    yield "two has these", acquired(two.fetch_some())
    yield "one ends", one.acknowledge(epoch=-1)["error_code"]
    s.brokers.until(lambda: s.available() > 0, "the end of the session")
    yield "state", s.state()
    yield "three", acquired(three.fetch_some())
    yield "state then", s.state()
    yield "two accepts", outcome(two.acknowledge(Ack(1, 1, [ACCEPT]), Ack(4, 4, [ACCEPT])))
    yield "state at last", s.state()


def read_again_within_a_batch(s: ShareStage) -> Steps:
    """A leader reads the state of a share partition again whose start offset is in the midst of a batch of
    the log, and then the start offset moves on in it. (KAFKA-19954, by which records are acquired twice
    then, was in no release.)"""
    s.topic()
    s.fill(10)
    one = s.reader()
    yield "one has all", acquired(one.fetch())
    yield "accepts 0 and 1", outcome(one.acknowledge(Ack(0, 1, [ACCEPT])))
    s.client(by=one.by).close()
    s.brokers.until(lambda: s.available() == 8, "the end of the session")
    yield "state", s.state()
    two, three = s.member("B"), s.member("C")
    two.join("t")
    three.join("t")
    yield "two", acquired(two.fetch_some())
    yield (
        "two accepts 2 and 3, releases 6",
        outcome(two.acknowledge(Ack(2, 3, [ACCEPT]), Ack(6, 6, [RELEASE]))),
    )
    yield "state in between", s.state()
    yield "three", acquired(three.fetch_some())
    yield "two accepts the rest", outcome(two.acknowledge(Ack(4, 5, [ACCEPT]), Ack(7, 9, [ACCEPT])))
    yield "three accepts 6", outcome(three.acknowledge(Ack(6, 6, [ACCEPT])))
    yield "state then", s.state()


def log_start_in_a_gap(s: ShareStage) -> Steps:
    """A leader reads a state that knows nothing of the first records, and these are deleted before it
    delivers them: it goes on asking for the first one, which is out of range, and nothing is delivered."""
    s.topic()
    s.fill(10, 10)
    for group in ("g", "h"):
        one = s.reader(group=group)
        state.ask(s, "initialize", {"state_epoch": 9, "start_offset": 0}, group=group)
        known = {"state_epoch": 9, "leader_epoch": 0, "start_offset": 0, "delivery_complete_count": 5}
        state.ask(s, "write", {**known, "state_batches": [state.batch(10, 14, 2)]}, group=group)
        yield "state", s.state(group)
        if group == "g":
            yield "reads what it does not know", acquired(one.fetch())
            continue
        target = {"name": s.named("t"), "partitions": [{"partition_index": 0, "offset": 5}]}
        s.ask("delete_records", {"topics": [target], "timeout": 20_000})
        for number in range(3):
            yield f"after deletion, {number}", acquired(one.look())
        s.fill(3)
        yield "after more records", acquired(one.look())
        s.client(by=one.by).close()
        two = s.member("B", group)
        two.join("t")
        yield "another", acquired(two.look(epoch=0))
        yield "another reads on", acquired(two.look())
        yield "state then", s.state(group)


def altered_while_a_leader_knows(s: ShareStage) -> Steps:
    """A group has read everything and is empty, but its leader still has the state that it read, because the
    connection of the member goes on. It sees altered offsets once it fails to write."""
    s.topic()
    s.fill(4)
    one, two = s.reader(), s.member("B")
    yield "one has all", acquired(one.fetch())
    yield "one accepts", outcome(one.acknowledge(Ack(0, 3, [ACCEPT])))
    yield "one ends", one.acknowledge(epoch=-1)["error_code"]
    yield "one leaves", one.leave()["error_code"]
    part = {"partition_index": 0, "start_offset": 0}
    asked = {"group_id": s.named("g"), "topics": [{"topic_name": s.named("t"), "partitions": [part]}]}
    yield "altered", s.say("alter_share_group_offsets", asked)["error_code"]
    yield "state", s.state()
    two.join("t")
    yield "two", acquired(two.look())
    yield "two again", acquired(two.look())
    s.fill(2)
    yield "two has new ones", acquired(two.look())
    yield "two accepts", outcome(two.acknowledge(Ack(4, 5, [ACCEPT])))
    yield "two reads on", acquired(two.look())
    yield "two reads on again", acquired(two.look())
    yield "state then", s.state()
