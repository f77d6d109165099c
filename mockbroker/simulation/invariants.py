"""The invariants. Those that need quiet are checked here, the others while the history happens."""

from collections import Counter
from typing import Final

from ..log.log import Log
from ..replication.states import FollowerState
from . import batches, compacted
from .consumer import ModelConsumer, State
from .ledger import Ending
from .scene import MEMBERS
from .world import World

INVARIANTS: Final = {
    "acknowledged-record-lost": "no record that was acknowledged by all in-sync replicas is lost, except by "
    "an unclean election or a loss of power",
    "written-twice": "no record of an idempotent producer is in the log twice",
    "read-again-after-commit": "no group reads records again whose offsets it has committed, except after a "
    "loss",
    "reset-without-loss": "no consumer gives up its position while the log still holds all that it has read",
    "read-out-of-order": "no consumer that reads on gets a record of an idempotent producer twice, or its "
    "records in another order than they were sent in",
    "group-offset-back": "no group is given an older offset than the last that was acknowledged to it",
    "group-offset-lost": "no group is told that it has committed no offset while one that was acknowledged "
    "to it has not expired",
    "unread-record-skipped": "no group skips records after its committed offset, except after a loss",
    "spurious-out-of-order": "no producer is told that records were lost while none was",
    "follower-fetcher-dead": "no follower's fetcher dies",
    "replicas-disagree": "in-sync replicas hold the same records below the high watermark",
    "newest-record-cleaned": "no log cleaner removes the newest record of a key, unless it is a tombstone "
    "whose time is over",
    "aborted-record-committed": "no record is committed unless its producer committed its transaction",
    "committed-record-aborted": "no record of a committed transaction is aborted",
    "aborted-record-read": "no read_committed consumer reads a record that was not committed",
    "committed-record-skipped": "no read_committed consumer skips a record that was committed",
    "last-stable-offset-stuck": "the last stable offset reaches the high watermark",
    "partition-owned-twice": "no two members of a consumer group own a partition at once, unless one may "
    "have been fenced without having heard of it",
    "revoked-partition-read": "no member reads a partition that was taken away from it",
    "member-epoch-back": "no member is told an older epoch than before, unless it joins again",
    "group-epoch-back": "no member joins with an older epoch than others were told, as long as the group "
    "lives",
    "committed-offset-back": "no member commits an older offset than its group has committed, except after a "
    "loss",
    "skipped-below-committed": "no consumer group skips a record below the offset that it has committed",
    "group-unsettled": "once nothing happens any more, a consumer group comes to rest: epochs stay, and "
    "every partition has an owner",
    "consumer-stuck": "a consumer reads on to the end of the log",
    "share-record-skipped": "no share group's start offset moves past a record that was not accepted, "
    "rejected, or delivered as often as it may be",
    "share-group-stuck": "once nothing happens any more, every record is delivered to a share group until it "
    "is accepted, rejected, or was delivered as often as it may be",
    "share-start-back": "no leader moves the start offset of a share group back, unless the group is told to "
    "begin anew",
    "acquired-twice": "no record is given to two members of a share group within a lock",
    "delivery-count-wrong": "each delivery of a record counts, and is the next one; no more are made than "
    "the group allows",
    "last-delivery-shared": "the last delivery of a record is of that record alone, so that it takes no "
    "other with it",
    "delivered-after-accept": "no record is delivered that was accepted",
    "delivered-after-reject": "no record is delivered that was rejected",
    "locked-after-session": "what a member of a share group has is free once its share session has ended",
    "altered-offset-ignored": "a share group that was told to begin anew begins there",
}
"""What each says, by name."""


_AT_REST_MS: Final = 2_000
_NOT_COMMITTED: Final = (Ending.OPEN, Ending.ABORTED)


def check_fetchers(world: World) -> None:
    """No follower's fetcher may be dead."""
    for topic in world.cluster.topics.values():
        for partition in topic.partitions:
            for follower in partition.followers.values():
                if follower.state is FollowerState.FAILED:
                    subject = f"{topic.name}-{partition.index} broker {follower.broker}"
                    if not any(v[0] == "follower-fetcher-dead" and v[2] == subject for v in world.violations):
                        world.violated("follower-fetcher-dead", subject, follower.failure)


def check_end(world: World) -> None:
    """Everything that has to hold at the end of a history, when it is quiet."""
    check_fetchers(world)
    _check_records(world)
    for topic in world.cluster.topics.values():
        if topic.internal:
            continue
        for partition in topic.partitions:
            name, log = f"{topic.name}-{partition.index}", partition.log
            if partition.leader < 0:
                continue
            logs = partition.logs
            for broker in partition.isr:
                other = logs[broker]
                upto = min(log.high_watermark, other.high_watermark)
                start = max(log.start_offset, other.start_offset)
                if world.plan.compacted:
                    # A record that a lost one had replaced may be gone from one replica only.
                    values = not _may_lose(world)
                    if differ := compacted.difference(log, other, start, upto, values):
                        brokers = f"brokers {partition.leader} and {broker}"
                        world.violated("replicas-disagree", name, f"{brokers} disagree: {differ}")
                elif upto > start and log.shared_end(other) < upto:
                    world.violated(
                        "replicas-disagree",
                        name,
                        f"brokers {partition.leader} and {broker} agree up to {log.shared_end(other)}, "
                        f"below the high watermark {upto}",
                    )
            if log.last_stable_offset < log.high_watermark and not _may_lose(world):
                world.violated(
                    "last-stable-offset-stuck",
                    name,
                    f"the last stable offset is {log.last_stable_offset}, the high watermark "
                    f"{log.high_watermark}",
                )
    if world.ledger.transactions:
        _check_transactions(world)
    _check_consumer(world)
    if world.members:
        _check_group(world)
        _check_committed(world)
    if world.sharing is not None:
        world.sharing.check_end()


def _check_records(world: World) -> None:
    acknowledged, excused = world.ledger.acknowledged, world.ledger.real_loss
    held = world.held()
    lost = [number for number in world.lost_records(held) if acknowledged[number].acks == -1]
    lost = [number for number in lost if acknowledged[number].place not in excused]
    lost = [number for number in lost if world.ledger.counts(number)]
    if lost and not world.plan.unclean:
        told = acknowledged[lost[0]]
        world.violated(
            "acknowledged-record-lost",
            f"{told.place[0]}-{told.place[1]}",
            f"records {lost[0]} to {lost[-1]} ({len(lost)}) of {told.writer} are not in the log",
        )
    for place, numbers in held.items():
        deleted = world.ledger.deleted.get(place, {})
        cleaned = {} if _may_lose(world) else world.ledger.cleaned.get(place, {})
        twice = [
            number
            for number, offsets in numbers.items()
            if number in world.ledger.once
            and world.ledger.counts(number)
            and len({*offsets, deleted.get(number, offsets[0]), *cleaned.get(number, ())}) > 1
        ]
        if twice:
            world.violated(
                "written-twice",
                f"{place[0]}-{place[1]}",
                f"{len(twice)} records of an idempotent producer, from {twice[0]} on, are there twice",
            )


def _check_transactions(world: World) -> None:
    transactions = world.ledger.transactions
    if _may_lose(world):
        return
    for topic, index in world.places:
        committed, aborted = decided(world.partition((topic, index)).log)
        _tell(
            world,
            "aborted-record-committed",
            f"{topic}-{index}",
            [n for n in committed if n in transactions and transactions[n].outcome in _NOT_COMMITTED],
        )
        _tell(
            world,
            "committed-record-aborted",
            f"{topic}-{index}",
            [n for n in aborted if n in transactions and transactions[n].outcome is Ending.COMMITTED],
        )
    if not world.plan.consumer.read_committed:
        return
    for (group, (topic, index)), reading in world.ledger.readings.items():
        read = [number for number, _ in reading.read.values() if number in transactions]
        _tell(
            world,
            "aborted-record-read",
            f"{group} {topic}-{index}",
            [n for n in read if transactions[n].outcome in _NOT_COMMITTED],
        )
        _tell(
            world,
            "committed-record-skipped",
            f"{group} {topic}-{index}",
            [n for n in sorted(reading.skipped) if transactions[n].outcome is Ending.COMMITTED],
        )


def _may_lose(world: World) -> bool:
    """Whether records may be lost, and with them transaction markers and the coordinator's state."""
    return world.plan.unclean or bool(world.ledger.real_loss)


def _tell(world: World, invariant: str, subject: str, numbers: list[int]) -> None:
    if numbers:
        transaction = world.ledger.transactions[numbers[0]]
        world.violated(
            invariant,
            subject,
            f"{len(numbers)} records, from {numbers[0]} of {transaction.writer} on; of their transaction "
            f"the producer knows: {transaction.outcome.value}",
        )


def decided(log: Log) -> tuple[list[int], list[int]]:
    """The numbers of the transactional records that a log holds as committed, and of those that it holds as
    aborted."""
    found: tuple[list[int], list[int]] = [], []
    for _, number, committed in batches.outcomes(log):
        if committed is not None:
            found[not committed].append(number)
    return found


def _check_consumer(world: World) -> None:
    for reader in [world.owner, *(each for member in world.members for each in member.readers.values())]:
        if reader is not None:
            _check_reader(world, reader)


def _check_reader(world: World, reader: ModelConsumer) -> None:
    if reader.state is State.FAILED or world.partition(reader.place).leader < 0:
        return
    log = world.partition(reader.place).log
    end = log.last_stable_offset if reader.setting.read_committed else log.high_watermark
    if reader.position is None or reader.position.offset < end:
        offset = reader.position.offset if reader.position else "none"
        world.violated(
            "consumer-stuck",
            f"{reader.group} {reader.place[0]}-{reader.place[1]}",
            f"{reader.name} is at {offset} ({reader.state.value}), it could read up to {end}",
        )


def _check_group(world: World) -> None:
    """Every partition has one owner, and no epoch has begun for a while."""
    ownership = world.ownership
    if world.cluster.now_ms - ownership.changed_ms < _AT_REST_MS:
        ownership.unsettled(f"epoch {ownership.epoch} has only just begun, though nothing happens any more")
        return
    behind = [each for each in world.members if each.epoch != ownership.epoch]
    if behind:
        ownership.unsettled(f"{behind[0].name} is in epoch {behind[0].epoch}, others in {ownership.epoch}")
        return
    owners = Counter(place for member in world.members for place in member.readers)
    for place in world.assigned:
        wanted = any(place[0] in member.subscribed for member in world.members)
        if owners[place] != wanted:
            ownership.unsettled(f"{place[0]}-{place[1]} has {owners[place]} owners")
            return


def _check_committed(world: World) -> None:
    """Everything below the offset that the group has committed was read. In a compacted topic it may have
    been replaced on the leader that was read from."""
    if world.plan.compacted or world.plan.unclean:
        return
    for topic, index in world.assigned:
        place, reading = (topic, index), world.ledger.reading(MEMBERS, (topic, index))
        if reading.committed is None or reading.excused or place in world.ledger.real_loss:
            continue
        start = max(reading.began, world.ledger.deleted_upto.get(place, 0))
        skipped = [
            number
            for number, offsets in world.numbers_in(world.partition(place)).items()
            if start <= offsets[0] < reading.committed and offsets[0] not in reading.read
        ]
        if skipped:
            world.violated(
                "skipped-below-committed",
                f"{MEMBERS} {topic}-{index}",
                f"{len(skipped)} records below {reading.committed} were never read, from {skipped[0]} on",
            )
