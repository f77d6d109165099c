"""What a history consists of, as data: drawn from a seed, kept in a file, shrunk, run again."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Final

from ..plan_files import Schema
from .consumer_setting import Commit, ConsumerSetting, Reset
from .group_setting import GroupSetting
from .producer_setting import Generation, ProducerSetting
from .share_setting import ShareSetting

HISTORIES: Final = Schema("mockbroker-history", 1, "a history", needs=("consumer", "producers", "steps"))
WEEK_MS: Final = 7 * 24 * 60 * 60_000
DELETE, COMPACT, BOTH = CLEANUPS = ("delete", "compact", "compact,delete")
"""The values of `cleanup.policy`."""


@dataclass(frozen=True, slots=True)
class Step:
    """A step at a time, in ms since the start; `do` is its name in `steps.STEPS`."""

    at_ms: int
    do: str
    args: dict[str, Any] = field(default_factory=dict)

    @property
    def in_words(self) -> str:
        """The step in words."""
        return " ".join([self.do, *(f"{name}={value}" for name, value in self.args.items())])


@dataclass(frozen=True, slots=True)
class Plan:
    """A history before it is run. At the end, everything runs undisturbed for `quiet_ms`."""

    seed: int
    kafka: str
    policies: dict[str, str] = field(default_factory=dict)
    consumer: ConsumerSetting = field(default_factory=ConsumerSetting)
    producers: tuple[ProducerSetting, ...] = (ProducerSetting(),)
    consumers: int = 2
    topics: int = 1
    unclean: bool = False
    min_insync: int = 1
    delay_ms: int = 10
    replica_fetch_bytes: int = 1 << 20
    commit_rate: float = 0.3
    purges: bool = False
    """Whether the records that the group has committed are deleted, as Kafka Streams does with repartition
    topics."""
    cleanup: str = DELETE
    """`cleanup.policy` of the topics."""
    delete_retention_ms: int = 60_000
    offsets_retention_minutes: int = 7 * 24 * 60
    """`offsets.retention.minutes`."""
    log_roll_ms: int = WEEK_MS
    """`log.roll.ms`, for internal topics."""
    group: GroupSetting = field(default_factory=GroupSetting)
    """The group whose coordinator assigns partitions."""
    shares: ShareSetting = field(default_factory=ShareSetting)
    """The share group."""
    steps: tuple[Step, ...] = ()
    quiet_ms: int = 5_000

    @property
    def compacted(self) -> bool:
        """Whether records have keys, and log cleaners run."""
        return self.cleanup != DELETE

    def with_steps(self, steps: tuple[Step, ...]) -> "Plan":
        """The same plan with other steps."""
        return replace(self, steps=steps)

    @property
    def in_words(self) -> str:
        """The settings, in two lines."""
        producers = ", ".join(
            f"{each.generation}{' transactional' * each.transactional} acks={each.acks}"
            f"{f' in flight {each.in_flight}' * (each.in_flight > 1)}"
            for each in self.producers
        )
        policies = "".join(f" {name}={answer}" for name, answer in self.policies.items())
        return (
            f"seed {self.seed}, Kafka {self.kafka}{policies}\n"
            f"consumers commit {self.consumer.commit}, reset to {self.consumer.reset}; producer {producers}; "
            f"min.insync.replicas {self.min_insync}{', unclean elections' * self.unclean}"
            f"{f', cleanup.policy {self.cleanup}' * self.compacted}"
            f"{f'{chr(10)}{self.group.in_words}' if self.group.members else ''}"
            f"{f'{chr(10)}{self.shares.in_words}' if self.shares.members else ''}"
        )

    def to_json(self) -> str:
        """The text of its file, always the same for the same plan."""
        return HISTORIES.text(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> "Plan":
        """PlanError says what is wrong with the text."""
        row, _ = HISTORIES.read(text)
        return HISTORIES.built(cls, row)


@dataclass(frozen=True, slots=True)
class Options:
    """What all histories of an exploration have in common; with None each seed chooses. With `slow_metadata`
        brokers learn late what the controller decides, a few times in each history. With `offsets_topic` the
        group's coordinator moves, and offsets expire; with `newer_commits`, which only matter then,
        `__consumer_offsets` also has records that brokers can't parse. With `consumer_groups` there is
    another group, to whose members the coordinator assigns partitions, and with `expressions` they may
    subscribe to regular expressions. With `share_groups` there is a share group."""

    kafka: str = "4.4"
    policies: Mapping[str, str] = field(default_factory=dict)
    commit: Commit | None = None
    reset: Reset | None = None
    producer: Generation | None = None
    transactional: bool | None = None
    compacted: bool | None = None
    slow_metadata: bool = False
    offsets_topic: bool = False
    newer_commits: bool = False
    consumer_groups: bool = False
    expressions: bool = False
    share_groups: bool = False
