"""What a share group was given of a partition, and has said of it."""

from dataclasses import dataclass, field

from ..cluster.call import Call
from ..cluster.led_share import LedShare

ACCEPTED, REJECTED = "accept", "reject"


@dataclass(slots=True)
class Given:
    """A record that was delivered: by which leader last, as it had read the state (`by`), to whom, and until
    when it is locked at least. `times` are all deliveries that brokers answered, `count` is the last delivery
    count, and `written` the last that is sure to be in `__share_group_state`."""

    times: int = 0
    apart: int = 0
    """The highest delivery count of a leader that was cut off: it may be written once it is back."""
    count: int = 0
    written: int = 0
    by: LedShare | None = None
    member: str = ""
    until_ms: int = 0
    final: str = ""
    """What was acknowledged and answered without an error: `ACCEPTED` or `REJECTED`."""
    asked: set[Call] = field(default_factory=set)
    """The requests for one of these that may have got it."""

    @property
    def settled(self) -> bool:
        """Whether it may be the last that was heard of it, however often it may be delivered."""
        return bool(self.final or self.asked)


@dataclass(slots=True)
class SharedPlace:
    """A partition as the group knows it. Start offsets were judged up to `checked`; `led` is the leader's
    state that was seen last, and `start` the start offset that it had."""

    given: dict[int, Given] = field(default_factory=dict)
    checked: int = 0
    led: LedShare | None = None
    start: int = 0
    began: bool = False
    """Whether it is sure where the group begins: it is written, or the first record."""
    altered: int | None = None
    """The offset at which the group was told to begin anew."""
    stale: list[LedShare] = field(default_factory=list)
    """What leaders had read before."""
    unsure: list[LedShare] = field(default_factory=list)
    """What they have read meanwhile, before or after."""
    altering: dict[Call, list[LedShare]] = field(default_factory=dict)
    """Requests to alter it of which nobody knows whether they did, and what leaders had read before."""

    def of(self, offset: int) -> Given:
        found = self.given.get(offset)
        if found is None:
            found = self.given[offset] = Given()
        return found

    def begins_anew(self, offset: int, before: list[LedShare], now: list[LedShare]) -> None:
        """It was told to."""
        self.given.clear()
        self.checked, self.led, self.began, self.altered = offset, None, True, offset
        self.stale += before
        self.unsure += [each for each in now if each not in self.stale]

    def is_judged(self, led: LedShare | None) -> bool:
        """Whether a leader is sure to know what was said of the partition before."""
        return led is not None and led not in self.stale and led not in self.unsure
