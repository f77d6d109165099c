"""One change of a partition by the controller: its ISR, its leader, its replicas
(`PartitionChangeBuilder.java`)."""

import enum
from collections.abc import Sequence
from typing import Final

from ..metadata.records import NO_LEADER, RECOVERING, PartitionChangeRecord
from ..policies.controller.election import election
from ..policies.controller.reassignment_end import reassignment_end
from ..policies.epochs.reassignment_epoch import reassignment_epoch
from ..protocol.api_error import ApiError
from ..protocol.errors import ErrorCode
from . import eligible
from .partition import ControlledPartition


class Election(enum.Enum):
    """Which replicas may lead if the leader can't."""

    PREFERRED = "the first replica if it is in sync, even in place of a leader that could stay"
    ONLINE = "a replica in sync"
    UNCLEAN = "any replica that is online, if none in sync is"


class PartitionChange:
    """The wanted state of a partition; `make` decides what follows from it, and writes that."""

    def __init__(self, partition: ControlledPartition) -> None:
        before = partition.registered
        self._partition: Final = partition
        self._before: Final = before
        self.policies: Final = partition.policies
        self.isr: Sequence[int] = before.isr
        self.replicas: Sequence[int] = before.replicas
        self.adding: Sequence[int] = before.adding_replicas
        self.removing: Sequence[int] = before.removing_replicas
        self.unclean_shutdown: int | None = None
        """A broker that is back after it was killed."""
        self.shrink_bumps_epoch = False
        """Whether the leader epoch is bumped when the ISR loses a member."""
        self.completes = True
        """Whether a reassignment ends now, if it can."""
        self.steps = 0
        """How often a reassignment bumps the leader epoch on its way, if each step does so."""
        self._election: Election | None = None
        self._ended = False

    @property
    def election(self) -> Election:
        """By default what the policy and the topic's configuration say."""
        if self._election is None:
            unclean = self.policies[election] == "unclean" or self._partition.settings.unclean_leader_election
            self._election = Election.UNCLEAN if unclean else Election.ONLINE
        return self._election

    @election.setter
    def election(self, chosen: Election) -> None:
        self._election = chosen

    def make(self) -> bool:
        """Writes the records. False if nothing changes."""
        records = self.records()
        if self._ended:
            with self._partition.reasons.because("its reassignment ended"):
                self._partition.write(records)
        else:
            self._partition.write(records)
        return bool(records)

    def records(self) -> list[PartitionChangeRecord]:
        """The records for the change: one for each leader epoch on the way, or none."""
        partition, before = self._partition, self._before
        if self.completes:
            self._complete_reassignment()
        elr = eligible.after(partition, before, self.isr, self.unclean_shutdown)
        leader, clean = self._leader(elr)
        if not clean:
            self.isr, elr = [leader], []
        elif leader in elr:
            self.isr, elr = [leader], [each for each in elr if each != leader]
        elif not self.isr and not eligible.tracked(partition):
            self.isr = before.isr
        rises = self._epoch_rises(leader)
        last_known_elr = eligible.last_known(partition, before, leader if rises else None)
        place = partition.topic_id, partition.index
        made = PartitionChangeRecord(
            *place,
            isr=_changed(self.isr, before.isr),
            leader=leader if rises else None,
            replicas=_changed(self.replicas, before.replicas),
            removing_replicas=_changed(self.removing, before.removing_replicas),
            adding_replicas=_changed(self.adding, before.adding_replicas),
            eligible_leader_replicas=_changed(elr, before.eligible_leader_replicas),
            last_known_elr=_changed(last_known_elr, before.last_known_elr),
            leader_recovery_state=RECOVERING if rises and not clean else None,
        )
        if made.count(None) == len(made) - len(place):
            return []
        more = [PartitionChangeRecord(*place, leader=leader)] * (rises - 1) if rises > 1 else []
        return [made, *more]

    def _complete_reassignment(self) -> None:
        """Ends a reassignment once the new replicas, or all that stay, are in sync."""
        if not self.adding and not self.removing:
            return
        isr = [each for each in self.isr if each not in self.removing]
        replicas = [each for each in self.replicas if each not in self.removing]
        policies = self.policies
        awaited = {*replicas}
        if policies[reassignment_end] == "added-in-sync":
            awaited = {*self.adding, *(replicas if len(self.adding) < len(self.removing) else ())}
        if isr and replicas and awaited <= {*isr}:
            if policies[reassignment_epoch].at_each_step:
                self.steps = max(self.steps, 1) + len(self.isr) - len(isr)
            self.replicas, self.isr = replicas, isr
            self.adding = self.removing = ()
            self._ended = True

    def _leader(self, elr: Sequence[int]) -> tuple[int, bool]:
        """The leader after the change, and whether it was in sync."""
        state, before = self._partition.state, self._before

        def valid(broker: int) -> bool:
            if broker not in (self.isr or elr):
                return False
            if broker not in before.replicas:
                # A replica that was removed can be eligible still. The controller fails when it looks up its
                # directory (`PartitionRegistration.directory`).
                raise ApiError(ErrorCode.UNKNOWN_SERVER_ERROR)
            # A leader that is silent remains until its session has timed out, but a silent broker is never
            # elected.
            stays = broker == before.leader and not state.is_fenced(broker)
            return stays or state.may_lead(broker)

        candidates = [before.leader, *self.replicas]
        if self._election is Election.PREFERRED:
            candidates = [self.replicas[0], before.leader, *self.replicas[1:]]
        for broker in candidates:
            if valid(broker):
                return broker, True
        if not self.isr and not elr and len(before.last_known_elr) == 1 and eligible.tracked(self._partition):
            (last,) = before.last_known_elr
            if last in self.replicas and state.may_lead(last):
                return last, False
        if self.election is Election.UNCLEAN:
            for broker in self.replicas:
                if state.may_lead(broker):
                    return broker, False
        return NO_LEADER, True

    def _epoch_rises(self, leader: int) -> int:
        """By how much the change bumps the leader epoch."""
        before = self._before
        if leader != before.leader:
            return max(self.steps, 1)
        if leader == NO_LEADER or self.steps:
            return self.steps
        if not set(before.replicas).issubset(self.replicas) and self.policies[reassignment_epoch].on_removal:
            return 1
        return int(self.shrink_bumps_epoch and not set(before.isr).issubset(self.isr))


def _changed(wanted: Sequence[int], before: Sequence[int]) -> Sequence[int] | None:
    """`wanted`, None if it is the same as before."""
    return None if wanted is before or list(wanted) == list(before) else wanted
