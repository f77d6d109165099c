"""Which members of a consumer group own which partitions, and in which epochs, as they are told."""

from dataclasses import dataclass, field

from .ledger import Place
from .scene import Scene


@dataclass(slots=True)
class Claim:
    """What a member owns, with whether it may still read that, and the epoch that it was told last, by which
    broker.

    The coordinator may take everything away without telling it at `session_ms`, and at `give_up_by_ms` if it
    has to give up partitions.
    """

    places: dict[Place, bool] = field(default_factory=dict)
    epoch: int = 0
    coordinator: int = -1
    cut_off: bool = False
    """Whether that broker was cut off then."""
    session_ms: int = 0
    give_up_by_ms: int | None = None

    def holds(self, now_ms: int) -> bool:
        """Whether nothing can have been taken away yet."""
        return now_ms < self.session_ms and (self.give_up_by_ms is None or now_ms < self.give_up_by_ms)


class Ownership:
    """Of one group. `epoch` is the highest that any member was told, and `changed_ms` when that was."""

    def __init__(self, scene: Scene, group: str) -> None:
        self._scene, self.group = scene, group
        self._claims: dict[str, Claim] = {}
        self.epoch = 0
        self.changed_ms = 0

    def claim(self, member: str) -> Claim:
        found = self._claims.get(member)
        if found is None:
            found = self._claims[member] = Claim()
        return found

    def floor(self) -> int:
        """The epoch below which a member that joins now can't begin; 0 if the group may be gone, because no
        session is sure to go on."""
        now_ms = self._scene.cluster.now_ms
        return self.epoch if any(each.holds(now_ms) for each in self._claims.values()) else 0

    def answered(self, member: str, broker: int) -> None:
        """A broker has answered a heartbeat."""
        claim = self.claim(member)
        claim.coordinator, claim.cut_off = broker, bool(self._scene.cluster.brokers[broker].unreachable)

    def entered(self, member: str, epoch: int, floor: int | None, session_ms: int) -> None:
        """An answer has an epoch, and the session goes on until `session_ms` at least. `floor` is that of the
        time when the member asked to join, None if it had joined before."""
        claim = self.claim(member)
        claim.session_ms = session_ms
        if epoch < claim.epoch:
            self._violated(
                "member-epoch-back", f"{member} is told epoch {epoch}, after it was told {claim.epoch}"
            )
        if floor is not None and epoch < floor:
            self._violated(
                "group-epoch-back", f"{member} joins with epoch {epoch}, after others were told {floor}"
            )
        claim.epoch = epoch
        # Who hears it so late may have been fenced since, and the group may be another one of that name.
        if claim.holds(self._scene.cluster.now_ms) and (epoch > self.epoch or floor == 0):
            if epoch != self.epoch:
                self.changed_ms = self._scene.cluster.now_ms
            self.epoch = epoch

    def takes(self, member: str, place: Place) -> None:
        """A member begins to read a partition. If its session may be over, others may have it."""
        now_ms = self._scene.cluster.now_ms
        sure = self.claim(member).holds(now_ms)
        for name, claim in self._claims.items():
            if name != member and sure and place in claim.places and claim.holds(now_ms):
                mine, other = self.claim(member).coordinator, claim.coordinator
                told = f"broker {mine} gives {_name(place)} to {member}, though {name} still owns it"
                if mine != other:
                    told += f", as it heard from broker {other}{', which was cut off' * claim.cut_off}"
                self._violated("partition-owned-twice", told)
        self.claim(member).places[place] = True

    def stops(self, member: str, place: Place) -> None:
        """A member may not read a partition any more, but nobody else may yet."""
        self.claim(member).places[place] = False

    def gives_up(self, member: str, place: Place) -> None:
        self.claim(member).places.pop(place, None)

    def ends(self, member: str) -> None:
        """A member has left, or has heard that it was fenced."""
        self._claims[member] = Claim()

    def reads(self, member: str, place: Place) -> None:
        if not self.claim(member).places.get(place):
            self._violated(
                "revoked-partition-read", f"{member} reads {_name(place)}, which was taken away from it"
            )

    def unsettled(self, text: str) -> None:
        self._violated("group-unsettled", text)

    def _violated(self, invariant: str, text: str) -> None:
        self._scene.violated(invariant, self.group, text)


def _name(place: Place) -> str:
    return f"{place[0]}-{place[1]}"
