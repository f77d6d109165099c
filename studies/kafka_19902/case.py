"""One experiment and its result."""

from dataclasses import dataclass
from typing import Final

from ..clients import Commit

UNDEFINED_EPOCH: Final = "undefined-epoch"
BELOW_FIRST: Final = "epoch-below-first"


@dataclass(frozen=True)
class Case:
    """A mechanism, how the consumer is set, and the broker's answers to the two questions about epochs."""

    mechanism: str
    commit: Commit = Commit.POSITION
    reset: str = "earliest"
    undefined_epoch: str = "undefined"
    below_first: str = "requested-epoch"
    setting: str = ""
    """One of `settings.SETTINGS`, or none."""

    @property
    def policies(self) -> dict[str, str]:
        return {UNDEFINED_EPOCH: self.undefined_epoch, BELOW_FIRST: self.below_first}

    @property
    def plain(self) -> bool:
        """Whether the broker answers as Kafka 3.9 and the consumer has no special setting."""
        return not self.setting and self == Case(self.mechanism, self.commit, self.reset)

    @property
    def variant(self) -> str:
        """What distinguishes it among those of a mechanism, but for `reset`."""
        said = [self.commit.name.lower().replace("_", "-")]
        usual = Case(self.mechanism).policies
        said += [f"{name}={answer}" for name, answer in self.policies.items() if answer != usual[name]]
        return " ".join([*said, *([self.setting] if self.setting else [])])


@dataclass(frozen=True)
class Outcome:
    """What the consumer did that took the partition over, or went on with it.

    `position` is (offset, leader epoch) as committed, or held; `answer` (leader epoch, end offset) is what
    the leader says of that epoch; `first` the offset of the first record read after; `log` the client's own
    words about its position.
    """

    position: tuple[int, int]
    answer: tuple[int, int] | None
    first: int | None
    again: int
    """Records read that had been read before."""
    lost: int
    """Records in the log, at the end, that nobody read."""
    reset: bool
    raised: str | None
    stuck: bool
    waited: bool = False
    """Whether it had to wait until a broker that was cut off came back."""
    log: tuple[str, ...] = ()

    @property
    def verdict(self) -> str:
        """In a word or two."""
        if self.raised:
            return f"raises {self.raised}"
        if self.stuck:
            return "reads nothing"
        if self.reset:
            return f"resets to {self.first}"
        return "goes on" if self.first == self.position[0] else f"set back to {self.first}"

    @property
    def harm(self) -> str:
        """What it costs."""
        if self.raised or self.stuck:
            return ""
        told = [f"{self.again} again"] if self.again else []
        return ", ".join([*told, f"{self.lost} lost"] if self.lost else told)
