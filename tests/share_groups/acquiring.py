"""Which records a fetch acquires."""

from mockbroker.rig import batches
from mockbroker.rig.stories import Steps

from .stage import ACCEPT, GAP, RELEASE, Ack, ShareStage, acquired, outcome


def limits(s: ShareStage) -> Steps:
    """`max_records`, `batch_size`, `max_bytes` and the acquire mode, over batches of 5, 1, 10 and 4."""
    s.topic()
    s.fill(5, 1, 10, 4)
    for number, fields in enumerate(
        (
            {},
            {"max_records": 1},
            {"max_records": 5},
            {"max_records": 6},
            {"max_records": 8},
            {"max_records": 0},
            {"max_records": -1},
            {"batch_size": 1},
            {"batch_size": 3},
            {"batch_size": 6},
            {"batch_size": 0},
            {"max_records": 8, "batch_size": 3},
            {"max_bytes": 1},
            {"max_bytes": 200},
            {"max_bytes": 0},
            {"min_bytes": 100_000, "max_wait": 300},
            {"max_records": 1, "share_acquire_mode": 1},
            {"max_records": 8, "share_acquire_mode": 1},
            {"max_records": 8, "batch_size": 3, "share_acquire_mode": 1},
            {"max_records": 100, "share_acquire_mode": 1},
            {"max_records": 8, "share_acquire_mode": 2},
        )
    ):
        one = s.reader("A", f"g{number}")
        label = ", ".join(f"{name} {value}" for name, value in fields.items()) or "no limits"
        first = one.look(**fields)
        yield label, acquired(first)
        yield (
            f"{label}: records",
            [
                part["records"] and [[each["base_offset"], each["count"]] for each in part["records"]]
                for topic in first.get("responses", [])
                for part in topic["partitions"]
            ],
        )
        yield f"{label}: then", acquired(one.look(**fields)) if first["error_code"] == "NONE" else None
        one.fetch_all([], epoch=-1) if one.session else None


def shared_out(s: ShareStage) -> Steps:
    """Two members take what there is in turn."""
    s.topic()
    s.fill(3, 3, 3)
    one, two = s.reader(), s.member("B")
    two.join("t")
    yield "one", acquired(one.fetch(max_records=3))
    yield "two", acquired(two.fetch(max_records=3))
    yield "one again", acquired(one.fetch(max_records=100))
    yield "two, nothing left", acquired(two.look())
    yield "one releases the first", outcome(one.acknowledge(Ack(0, 2, [RELEASE])))
    yield "two", acquired(two.fetch())
    yield "one accepts the last", outcome(one.acknowledge(Ack(6, 8, [ACCEPT])))
    yield "state", s.state()
    yield "offsets", s.offsets("g", "t")
    yield "two accepts all", outcome(two.acknowledge(Ack(0, 2, [ACCEPT]), Ack(3, 5, [ACCEPT])))
    yield "state then", s.state()
    yield "offsets then", s.offsets("g", "t")


def delivery_counts(s: ShareStage) -> Steps:
    """Records are released until they may not be delivered again."""
    s.topic()
    s.fill(4)
    one = s.reader()
    for number in range(1, 20):
        found = acquired(one.look())
        yield f"fetch {number}", found
        if not found:
            break
        if number == 1:
            yield "accepts 0", outcome(one.acknowledge(Ack(0, 0, [ACCEPT])))
        released = [Ack(max(first, 1), last, [RELEASE]) for first, last, _ in found]
        yield f"releases {number}", outcome(one.acknowledge(*released))
        yield f"state {number}", s.state()
    s.fill(1)
    yield "a new record", acquired(one.fetch())
    yield "offsets", s.offsets("g", "t")


def delivery_counts_in_batches(s: ShareStage) -> Steps:
    """One record of a batch is released again and again, so that counts differ (KAFKA-19953)."""
    s.topic()
    s.fill(5, 5)
    one = s.reader()
    yield "all", acquired(one.fetch())
    yield "releases one", outcome(one.acknowledge(Ack(2, 2, [RELEASE])))
    for number in range(2, 7):
        yield f"fetch {number}", acquired(one.look())
        yield f"releases {number}", outcome(one.acknowledge(Ack(2, 2, [RELEASE])))
    yield "state", s.state()
    yield (
        "releases all others",
        outcome(one.acknowledge(Ack(0, 1, [RELEASE]), Ack(3, 4, [RELEASE]), Ack(5, 9, [RELEASE]))),
    )
    yield "state then", s.state()
    yield "last", acquired(one.fetch())
    yield "again", acquired(one.look())


def resets(s: ShareStage) -> Steps:
    """`share.auto.offset.reset`."""
    s.topic()
    s.fill(3)
    s.produce(batches.batch([batches.Record(timestamp=s.brokers.now_ms())]))
    for number, reset in enumerate(
        ("earliest", "latest", "by_duration:PT1H", "by_duration:P36500D", "by_duration:PT0S", "none", "")
    ):
        group = f"g{number}"
        set_to = s.configure(group, share_auto_offset_reset=reset)
        yield f"set to {reset}", set_to
        if set_to["error_code"] != "NONE":
            continue
        one = s.member("A", group)
        one.join("t")
        yield f"{reset}: state before", s.state(group)
        yield f"{reset}: fetched", acquired(one.look(max_wait=1000))
        yield f"{reset}: state", s.state(group)
    s.member("A", "default").join("t")
    yield "state before, not set", s.state("default")


def after_deletion(s: ShareStage) -> Steps:
    """Records are deleted below and among those that are in flight."""
    s.topic()
    s.fill(3, 3, 3)
    one = s.reader()
    yield "the first", acquired(one.fetch(max_records=3))
    target = {"name": s.named("t"), "partitions": [{"partition_index": 0, "offset": 4}]}
    s.ask("delete_records", {"topics": [target], "timeout": 20_000})
    yield "acknowledges what is gone", outcome(one.acknowledge(Ack(0, 2, [ACCEPT])))
    yield "then", acquired(one.fetch())
    yield "state", s.state()
    yield "accepts from 4 on", outcome(one.acknowledge(Ack(4, 5, [ACCEPT]), Ack(6, 8, [ACCEPT])))
    yield "state then", s.state()


def compacted(s: ShareStage) -> Steps:
    """A log with holes: of 0 to 4 compaction leaves 4, of 5 to 7 nothing, and of 8 and 9 both."""
    s.topic(cleanup_policy="compact", min_cleanable_dirty_ratio="0.0", segment_ms="1000")
    for keys in ("abacb", "aaa", "ac"):
        s.produce(batches.batch([batches.Record(key=each.encode()) for each in keys]))
    now = batches.Record(key=b"z", timestamp=s.brokers.now_ms())
    s.produce(batches.batch([now]))
    s.brokers.until(lambda: s.count() == 4, "compaction")
    one = s.reader()
    first = one.fetch(max_records=100)
    yield "acquired", acquired(first)
    found = first["responses"][0]["partitions"][0]["records"]
    yield "batches", [[each["base_offset"], each["last_offset"], each["count"]] for each in found]
    yield "accepts only what is there", outcome(one.acknowledge(Ack(4, 4, [ACCEPT])))
    yield "state", s.state()
    yield "gaps", outcome(one.acknowledge(Ack(0, 3, [GAP])))
    yield "state then", s.state()
    yield "offsets", s.offsets("g", "t")
    yield "next", acquired(one.fetch())
    two = s.reader("B", "g2")
    yield "another group", acquired(two.fetch())
    yield "accepts all, with the holes", outcome(two.acknowledge(Ack(0, 9, [ACCEPT])))
    yield "state of the other", s.state("g2")
    yield "releases the rest", outcome(two.acknowledge(Ack(8, 9, [RELEASE])))
    yield "next of the other", acquired(two.look())
