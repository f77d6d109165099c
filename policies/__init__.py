"""The decisions of a broker: one module per behaviour, chosen by release or by name."""

from collections.abc import Mapping
from types import ModuleType
from typing import Any, Final

from ..protocol.releases import Release
from . import (
    auto_created_topic,
    broker_session,
    commit_to_unknown_group,
    described_assignments,
    duplicate_window,
    election,
    empty_group_cleanup,
    epoch_below_first,
    epoch_lookup,
    epoch_not_given,
    fetch_of_no_groups,
    fetch_of_unknown_partition,
    fetch_past_end,
    follower_reads,
    group_operations,
    isr_shrink_epoch,
    last_stable_offset,
    leader_epoch_entry,
    offset_retention_start,
    pending_member_leave,
    producer_state_retention,
    reassignment_epoch,
    repeated_partitions,
    restart_epoch,
    share_coordinator,
    sync_session,
    tied_protocols,
    time_retention,
    too_many_new_partitions,
    undefined_epoch,
    unknown_producer,
)
from .behaviour import Behaviour, UnknownPolicyError

CATALOGUE: Final[dict[str, Behaviour[Any]]] = {
    module.BEHAVIOUR.name: module.BEHAVIOUR
    for _, module in sorted(vars().items())
    if isinstance(module, ModuleType) and hasattr(module, "BEHAVIOUR")
}
"""Every behaviour that is imported above, by name."""


class Policies:
    """The answers in force: those of `release`, then `overrides` by behaviour name.

    UnknownPolicyError for names that do not exist.
    """

    def __init__(self, release: Release, overrides: Mapping[str, str] | None = None) -> None:
        overrides = overrides or {}
        for name in overrides:
            if name not in CATALOGUE:
                raise UnknownPolicyError(f"no behaviour {name!r}: choose one of {', '.join(CATALOGUE)}")
        self.auto_created_topic = auto_created_topic.BEHAVIOUR.choose(release, overrides)
        self.broker_session_config = broker_session.BEHAVIOUR.choose(release, overrides)
        self.commit_to_unknown_group = commit_to_unknown_group.BEHAVIOUR.choose(release, overrides)
        self.describe_assignments_always = described_assignments.BEHAVIOUR.choose(release, overrides)
        self.duplicate_window = duplicate_window.BEHAVIOUR.choose(release, overrides)
        self.empty_group_dies_at_once = empty_group_cleanup.BEHAVIOUR.choose(release, overrides)
        self.unclean_election = election.BEHAVIOUR.choose(release, overrides)
        self.enter_epoch_at_append = leader_epoch_entry.BEHAVIOUR.choose(release, overrides)
        self.reassignment_bumps_epoch = reassignment_epoch.BEHAVIOUR.choose(release, overrides)
        self.followers_serve = follower_reads.BEHAVIOUR.choose(release, overrides)
        self.epoch_lookup_exact = epoch_lookup.BEHAVIOUR.choose(release, overrides)
        self.epoch_below_first = epoch_below_first.BEHAVIOUR.choose(release, overrides)
        self.epoch_not_given = epoch_not_given.BEHAVIOUR.choose(release, overrides)
        self.answer_fetch_of_no_groups = fetch_of_no_groups.BEHAVIOUR.choose(release, overrides)
        self.aborted_of_unknown_partition = fetch_of_unknown_partition.BEHAVIOUR.choose(release, overrides)
        self.fetch_past_end = fetch_past_end.BEHAVIOUR.choose(release, overrides)
        self.group_operations = group_operations.BEHAVIOUR.choose(release, overrides)
        self.isr_shrink_bumps_epoch = isr_shrink_epoch.BEHAVIOUR.choose(release, overrides)
        self.tell_last_stable_offset = last_stable_offset.BEHAVIOUR.choose(release, overrides)
        self.offsets_expire_from_commit = offset_retention_start.BEHAVIOUR.choose(release, overrides)
        self.pending_leave_rebalances = pending_member_leave.BEHAVIOUR.choose(release, overrides)
        self.forget_producer_with_records = producer_state_retention.BEHAVIOUR.choose(release, overrides)
        self.answer_partitions_once = repeated_partitions.BEHAVIOUR.choose(release, overrides)
        self.restart_bumps_epoch = restart_epoch.BEHAVIOUR.choose(release, overrides)
        self.share_coordinator = share_coordinator.BEHAVIOUR.choose(release, overrides)
        self.sync_renews_session = sync_session.BEHAVIOUR.choose(release, overrides)
        self.tied_protocols = tied_protocols.BEHAVIOUR.choose(release, overrides)
        self.retention_by_file_time = time_retention.BEHAVIOUR.choose(release, overrides)
        self.too_many_new_partitions = too_many_new_partitions.BEHAVIOUR.choose(release, overrides)
        self.undefined_epoch = undefined_epoch.BEHAVIOUR.choose(release, overrides)
        self.unknown_producer = unknown_producer.BEHAVIOUR.choose(release, overrides)


__all__ = ["CATALOGUE", "Behaviour", "Policies", "UnknownPolicyError"]
