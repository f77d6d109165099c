"""The ways in which a consumer's position may come to be refused; each ends with an Outcome."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from ..clients import Consumer
from .case import Outcome
from .lab import TOPIC, Lab


@dataclass(frozen=True)
class Mechanism:
    """`set_up` tells the steps; `run` walks them."""

    key: str
    title: str
    run: Callable[[Lab], Outcome]
    follows_commit: bool = True
    """Whether what was committed matters."""
    by_chance: tuple[str, ...] = ()
    """Settings with which it depends on the broker that the consumer happens to ask."""

    @property
    def set_up(self) -> str:
        return " ".join((self.run.__doc__ or "").split())


def _retention_to_position(lab: Lab) -> Outcome:
    """A reads 100 records of epoch 0. Broker 3 becomes the leader (epoch 1), A notices, leaves and commits.
    100 records more are appended, then retention deletes the 100 of epoch 0: the log starts at 100, where
    the group stands. B takes over."""
    lab.create_topic()
    lab.produce(100, days_ago=30)
    a = lab.read_all()
    lab.lead(3)
    lab.notice(a)
    lab.close(a)
    lab.produce(100)
    lab.retain(days=7, log_start=100)
    return lab.take_over()


def _retention_beyond_position(lab: Lab) -> Outcome:
    """The same, but retention deletes 50 records that the group has not read: the log starts at 150."""
    lab.create_topic()
    lab.produce(100, days_ago=30)
    a = lab.read_all()
    lab.lead(3)
    lab.notice(a)
    lab.close(a)
    lab.produce(50, days_ago=20)
    lab.produce(50)
    lab.retain(days=7, log_start=150)
    return lab.take_over()


def _diverge(lab: Lab) -> Consumer:
    """100 records of epoch 0 on all replicas, 50 of epoch 1 on broker 3 only; A has read all of them."""
    lab.create_topic(unclean=True)
    lab.produce(100)
    lab.lead(3)
    lab.alone(1, 2)
    lab.produce(49)
    return lab.read_all()


def _truncation_under_consumer(lab: Lab) -> Outcome:
    """100 records of epoch 0 are on all replicas. Broker 3 leads in epoch 1, alone in the ISR, and appends 50
    more, which A reads: its position is 150. Broker 3 goes down; broker 2, whose log ends at 100, is elected
    uncleanly and appends 20. A goes on."""
    a = _diverge(lab)
    lab.cluster.stop_broker(3)
    lab.produce(20)
    return lab.watch(a, (150, 1), already=150)


def _truncation_below_position(lab: Lab) -> Outcome:
    """The same, but A leaves before broker 3 goes down and commits 150; B takes over when the new log ends at
    120."""
    lab.close(_diverge(lab))
    lab.cluster.stop_broker(3)
    lab.produce(20)
    return lab.take_over()


def _truncation_and_more(lab: Lab) -> Outcome:
    """The same, but B takes over when the new log has grown past 150, to 200."""
    lab.close(_diverge(lab))
    lab.cluster.stop_broker(3)
    lab.produce(100)
    return lab.take_over()


def _old_client(lab: Lab) -> Outcome:
    """As 2b, but the group's offset was committed by a client of before 2.1 (OffsetCommit v5, which has no
    field for an epoch)."""
    lab.close(_diverge(lab))
    lab.commit_from_outside(150)
    lab.cluster.stop_broker(3)
    lab.produce(20)
    return lab.take_over()


def _epoch_never_seen(lab: Lab) -> Outcome:
    """As 2b, but B asks before the new leader has appended anything, and the leader enters its epoch only
    then (`leader-epoch-entry` = `at-append`, as brokers up to 1.1 do): all it knows is epoch 0."""
    lab.cluster.run(lambda core: core.policies.set("leader-epoch-entry", "at-append"))
    lab.close(_diverge(lab))
    lab.cluster.stop_broker(3)
    return lab.take_over()


def _topic_made_again(lab: Lab) -> Outcome:
    """The group's offset, (150, epoch 1), outlives its topic (offsets restored from a backup, or kept
    elsewhere): the new topic of that name is in epoch 0 and has 200 records."""
    lab.close(_diverge(lab))
    position = lab.committed()
    lab.make_again()
    lab.produce(200)
    lab.commit_from_outside(*position)
    return lab.take_over()


def _cut_off_leader(lab: Lab) -> Outcome:
    """A group of three. Broker 2 leads in epoch 0, A has read 100 records. Broker 2 is cut off from the
    controller and the other brokers, but not from the consumers: it takes two records more, which nobody else
    gets; broker 3 is elected (epoch 1) and appends 150. A refreshes its metadata, reads these, leaves and
    commits 250. B takes over with the metadata it has: for B the leader is broker 2, whose log ends at 102.
    Once B has settled, broker 2 comes back and truncates its log to 100. (B's `metadata.max.age.ms` is 8
    seconds, not 5 minutes.)"""
    others = {"of-a": 3, "of-b": 2, "of-c": 1}
    lab.create_topic()
    for topic, leader in others.items():
        lab.create_topic(topic, leader=leader)
        lab.produce(1, topic=topic)
    lab.produce(100)
    lab.begin_at_start(TOPIC, *others)
    c = lab.open("c", ["of-c"])  # the first leads the group: who leads refreshes metadata at a rebalance
    lab.catch_up(c, "of-c")
    a = lab.open("a", [TOPIC, "of-a"], {"metadata.max.age.ms": "100"})
    lab.catch_up(a, TOPIC, "of-a")  # so it is connected to broker 3, and can ask it for metadata
    b = lab.open("b", [TOPIC, "of-b"], {"metadata.max.age.ms": "8000"})
    lab.catch_up(b, "of-b")
    lab.cut_off_leader()
    lab.produce(2, broker=2)
    lab.produce(150)
    lab.catch_up(a)
    lab.close(a)
    position = lab.committed()
    settled = lab.rejoin(b)
    return lab.watch(b, position, waited=not settled)


def _staying_at_cut_off_leader(lab: Lab) -> Outcome:
    """The same with a single consumer. It knows of no other leader, and stays with broker 2 until that broker
    truncates its log."""
    lab.create_topic()
    lab.produce(100)
    a = lab.read_all()
    lab.cut_off_leader()
    lab.produce(2, broker=2)
    lab.produce(150)
    lab.cluster.rejoin(2)
    return lab.watch(a, (100, 0), already=100)


def _elections_and_retention(lab: Lab) -> Outcome:
    """Twelve times over: 20 records, another leader, the group changes hands, retention deletes everything
    that was read. The table shows the first turn in which a consumer does not just go on, or else the last
    one."""
    lab.create_topic()
    lab.commit_from_outside(0)
    lab.days_ago = 30
    for turn in range(12):
        lab.produce(20)
        outcome = lab.take_over()
        if outcome.verdict != "goes on":
            break
        lab.lead((3, 1, 2)[turn % 3])
        lab.close_all()
        lab.retain(days=7, log_start=lab.committed()[0])
    return outcome


MECHANISMS: Final = {
    mechanism.key: mechanism
    for mechanism in (
        Mechanism("1a", "Retention removes the epoch, up to the position", _retention_to_position),
        Mechanism("1b", "Retention removes the epoch and more than was read", _retention_beyond_position),
        Mechanism(
            "2a", "Truncation under a running consumer", _truncation_under_consumer, follows_commit=False
        ),
        Mechanism("2b", "Truncation, then a takeover above the log end", _truncation_below_position),
        Mechanism("2c", "Truncation, then a takeover within the new log", _truncation_and_more),
        Mechanism("3a", "The leader never saw the epoch", _epoch_never_seen),
        Mechanism("3b", "The topic was made again", _topic_made_again),
        Mechanism("4", "An offset of an old client, then truncation", _old_client, follows_commit=False),
        Mechanism(
            "5a",
            "A leader cut off from the controller, then a takeover",
            _cut_off_leader,
            by_chance=("fresh metadata",),
        ),
        Mechanism(
            "5b",
            "A leader cut off from the controller, and a consumer that stays",
            _staying_at_cut_off_leader,
            follows_commit=False,
        ),
        Mechanism("6", "Continuous elections and aggressive retention", _elections_and_retention),
    )
}
"""By the key that the page and the command use."""
