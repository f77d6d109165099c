"""The decisions of a broker: one module per behaviour, chosen by release or by name."""

from collections.abc import Mapping
from types import ModuleType
from typing import Any, Final

from ..nearest import nearest
from ..protocol.releases import Release
from . import (
    active_controller,
    adding_sequence,
    auto_created_topic,
    broker_session,
    commit_below_min_isr,
    commit_to_unknown_group,
    completing_heartbeat,
    consumer_read_limit,
    described_assignments,
    diverging_fetch,
    duplicate_window,
    election,
    empty_epochs,
    empty_group_cleanup,
    end_txn_epoch,
    epoch_below_first,
    epoch_bump,
    epoch_lookup,
    epoch_not_given,
    fenced_error,
    fetch_below_log_start,
    fetch_log_start_offset,
    fetch_of_no_groups,
    fetch_of_unknown_partition,
    fetch_past_end,
    fetcher_failure,
    follower_ahead,
    follower_log_start_offset,
    follower_reads,
    follower_truncation,
    group_operations,
    high_watermark_below_min_isr,
    isr_entry,
    isr_shrink_epoch,
    large_creation,
    last_epoch,
    last_stable_offset,
    leader_epoch_entry,
    loaded_offsets,
    marker_only_producer,
    marker_timestamp,
    missed_epoch,
    missing_sync,
    new_leader_end,
    offset_retention_start,
    pending_member_leave,
    preferred_replica,
    preferred_replica_wait,
    producer_state_retention,
    reassignment_epoch,
    repeated_partitions,
    restart_epoch,
    retention_limit,
    scope,
    session_leader_epoch,
    session_use,
    share_coordinator,
    stale_duplicate,
    sync_session,
    tied_protocols,
    time_retention,
    too_many_new_partitions,
    transaction_completion,
    transaction_timeout_fencing,
    transaction_verification,
    unaligned_log_start,
    undefined_epoch,
    unknown_producer,
    unreadable_subscription,
    unsubscribed_offsets,
    verified_compression,
    verified_sequence,
)
from .behaviour import Behaviour, UnknownPolicyError
from .own import OwnPolicyError
from .scope import EVERYWHERE, Scope, Source

CATALOGUE: Final[dict[str, Behaviour[Any]]] = {
    module.BEHAVIOUR.name: module.BEHAVIOUR
    for _, module in sorted(vars().items())
    if isinstance(module, ModuleType) and hasattr(module, "BEHAVIOUR")
}
"""Every behaviour that is imported above, by name."""

NARROWER_KEPT: Final = 1_000
"""For so many topics and brokers it is remembered which answers hold there: topics come and go."""


class Policies:
    """The answers in force, each an attribute: those of `release`, but for `overrides`, whose keys are a
    behaviour and maybe a scope (`undefined-epoch@topic:orders@broker:1`). With `fixed`, every fix that there
    is or was proposed takes the place of the release's answer.

    The attributes are those of the whole cluster; `at` has those of a topic or a broker, where the narrowest
    scope wins, a topic before a broker. `set` changes them while the cluster runs.
    UnknownPolicyError for names that do not exist.
    """

    def __init__(
        self, release: Release, overrides: Mapping[str, Any] | None = None, *, fixed: bool = False
    ) -> None:
        self.release = release
        self._fixes = fixes() if fixed else {}
        self._overrides: dict[Scope, dict[str, Any]] = {}
        self._narrower: dict[Scope, Policies] = {}
        self._alike: dict[tuple[Scope, ...], Policies] = {}
        self._scoped = False
        for text, answer in (overrides or {}).items():
            name, where = scope.parse(text)
            self._override(name, answer, where)
        self._choose(self._in_force(EVERYWHERE))

    def at(self, topic: str | None = None, broker: int | None = None) -> "Policies":
        """The answers for `topic` on `broker`. Ask anew each time: they may change."""
        if not self._scoped:
            return self
        where = Scope(topic, broker)
        found = self._narrower.get(where)
        return self._narrow(where) if found is None else found

    def _narrow(self, where: Scope) -> "Policies":
        """Most topics and brokers have no answers of their own: they share what holds for them."""
        if len(self._narrower) >= NARROWER_KEPT:
            self._narrower.clear()
        covering = tuple(self._covering(where))
        found = self._alike.get(covering)
        if found is None:
            found = self._alike[covering] = Policies(self.release)
            found._choose(self._in_force(where))
        self._narrower[where] = found
        return found

    def set(self, name: str, answer: Any, *, topic: str | None = None, broker: int | None = None) -> None:
        """Gives behaviour `name` another answer from now on. UnknownPolicyError, and nothing is changed."""
        self._override(name, answer, Scope(topic, broker))
        self._changed()

    def reset(self, name: str, *, topic: str | None = None, broker: int | None = None) -> None:
        """Takes back what was `set` for just this scope. UnknownPolicyError."""
        known(name)
        where = Scope(topic, broker)
        chosen = self._overrides.get(where, {})
        chosen.pop(name, None)
        if not chosen:
            self._overrides.pop(where, None)
        self._changed()

    def answer(self, name: str, *, topic: str | None = None, broker: int | None = None) -> str:
        """The name of the answer in force, or of a user's own function or class. UnknownPolicyError."""
        behaviour = known(name)
        given = self._in_force(Scope(topic, broker)).get(name, behaviour.default(self.release))
        return given if isinstance(given, str) else getattr(given, "__name__", type(given).__name__)

    def source(self, name: str, *, topic: str | None = None, broker: int | None = None) -> Source:
        """Where the answer in force comes from. UnknownPolicyError."""
        behaviour, where = known(name), Scope(topic, broker)
        for each in reversed(self._covering(where)):
            if name in self._overrides[each]:
                given = self._overrides[each][name]
                named = isinstance(given, str) and given in behaviour.answers
                return Source("chosen" if named else "own", each)
        return Source("fixed" if name in self._fixes else "release", EVERYWHERE)

    def overrides(self, name: str) -> dict[Scope, str]:
        """The answers that were chosen for a behaviour, by scope. UnknownPolicyError."""
        known(name)
        return {
            where: self.answer(name, topic=where.topic, broker=where.broker)
            for where, chosen in self._overrides.items()
            if name in chosen
        }

    @property
    def scopes(self) -> "list[Scope]":
        """Every scope that has an answer of its own."""
        return [where for where, chosen in self._overrides.items() if chosen]

    def _override(self, name: str, answer: Any, where: Scope) -> None:
        known(name).choose(self.release, {name: answer})
        self._scoped = self._scoped or where != EVERYWHERE
        self._overrides.setdefault(where, {})[name] = answer

    def _changed(self) -> None:
        self._narrower.clear()
        self._alike.clear()
        self._scoped = any(where != EVERYWHERE for where in self._overrides)
        self._choose(self._in_force(EVERYWHERE))

    def _in_force(self, where: Scope) -> dict[str, Any]:
        """What takes the place of the release's answers there, by behaviour."""
        found: dict[str, Any] = dict(self._fixes)
        for each in self._covering(where):
            found.update(self._overrides[each])
        return found

    def _covering(self, where: Scope) -> list[Scope]:
        """The scopes with answers that hold there, the widest first."""
        wide_to_narrow = sorted(self._overrides, key=lambda s: (s.topic is not None, s.broker is not None))
        return [each for each in wide_to_narrow if each.covers(where)]

    def _choose(self, chosen: Mapping[str, Any]) -> None:
        release = self.release
        self.new_leader_hides_end = new_leader_end.BEHAVIOUR.choose(release, chosen)
        self.high_watermark_stays_below_min_isr = high_watermark_below_min_isr.BEHAVIOUR.choose(
            release, chosen
        )
        self.one_active_controller = active_controller.BEHAVIOUR.choose(release, chosen)
        self.auto_created_topic = auto_created_topic.BEHAVIOUR.choose(release, chosen)
        self.refuse_commit_below_min_isr = commit_below_min_isr.BEHAVIOUR.choose(release, chosen)
        self.commit_to_unknown_group = commit_to_unknown_group.BEHAVIOUR.choose(release, chosen)
        self.describe_assignments_always = described_assignments.BEHAVIOUR.choose(release, chosen)
        self.duplicate_window = duplicate_window.BEHAVIOUR.choose(release, chosen)
        self.empty_group_dies_at_once = empty_group_cleanup.BEHAVIOUR.choose(release, chosen)
        self.unclean_election = election.BEHAVIOUR.choose(release, chosen)
        self.enter_epoch_at_append = leader_epoch_entry.BEHAVIOUR.choose(release, chosen)
        self.reassignment_bumps_epoch = reassignment_epoch.BEHAVIOUR.choose(release, chosen)
        self.live_log_start_offset = fetch_log_start_offset.BEHAVIOUR.choose(release, chosen)
        self.follower_log_start_offset = follower_log_start_offset.BEHAVIOUR.choose(release, chosen)
        self.failure_stops_thread = fetcher_failure.BEHAVIOUR.choose(release, chosen)
        self.follower_truncation = follower_truncation.BEHAVIOUR.choose(release, chosen)
        self.truncates_in_fetch = self.follower_truncation is follower_truncation.by_diverging_epoch
        self.keep_empty_epochs = empty_epochs.BEHAVIOUR.choose(release, chosen)
        self.isr_entry_at_high_watermark = isr_entry.BEHAVIOUR.choose(release, chosen)
        self.missed_epoch_goes_on = missed_epoch.BEHAVIOUR.choose(release, chosen)
        self.follower_ahead_halts = follower_ahead.BEHAVIOUR.choose(release, chosen)
        self.diverging_fetch_counts = diverging_fetch.BEHAVIOUR.choose(release, chosen)
        self.consumers_read_to_end = consumer_read_limit.BEHAVIOUR.choose(release, chosen)
        self.diverge_below_log_start = fetch_below_log_start.BEHAVIOUR.choose(release, chosen)
        self.retention_passes_high_watermark = retention_limit.BEHAVIOUR.choose(release, chosen)
        self.sessions_keep_epoch = session_leader_epoch.BEHAVIOUR.choose(release, chosen)
        self.requests_use_session = session_use.BEHAVIOUR.choose(release, chosen)
        self.refuse_unaligned_start = unaligned_log_start.BEHAVIOUR.choose(release, chosen)
        self.preferred_replica = preferred_replica.BEHAVIOUR.choose(release, chosen)
        self.wait_to_prefer_replica = preferred_replica_wait.BEHAVIOUR.choose(release, chosen)
        self.refuse_completing_heartbeat = completing_heartbeat.BEHAVIOUR.choose(release, chosen)
        self.loaded_offsets_expire = loaded_offsets.BEHAVIOUR.choose(release, chosen)
        self.dismiss_without_sync = missing_sync.BEHAVIOUR.choose(release, chosen)
        self.unsubscribed_offsets_expire = unsubscribed_offsets.BEHAVIOUR.choose(release, chosen)
        self.producer_retention = producer_state_retention.BEHAVIOUR.choose(release, chosen)
        self.end_txn_epoch_exact = end_txn_epoch.BEHAVIOUR.choose(release, chosen)
        self.epoch_bump = epoch_bump.BEHAVIOUR.choose(release, chosen)
        self.fenced_since = fenced_error.BEHAVIOUR.choose(release, chosen)
        self.keep_last_epoch = last_epoch.BEHAVIOUR.choose(release, chosen)
        self.marker_only_producer = marker_only_producer.BEHAVIOUR.choose(release, chosen)
        self.markers_renew_producers = marker_timestamp.BEHAVIOUR.choose(release, chosen)
        self.stale_duplicate = stale_duplicate.BEHAVIOUR.choose(release, chosen)
        self.markers_are_sent = transaction_completion.BEHAVIOUR.choose(release, chosen)
        self.timeout_fencing = transaction_timeout_fencing.BEHAVIOUR.choose(release, chosen)
        self.transaction_verification = transaction_verification.BEHAVIOUR.choose(release, chosen)
        self.verified_compression = verified_compression.BEHAVIOUR.choose(release, chosen)
        self.adds_at_zero = adding_sequence.BEHAVIOUR.choose(release, chosen)
        self.lowest_sequence_first = verified_sequence.BEHAVIOUR.choose(release, chosen)
        self.broker_session_config = broker_session.BEHAVIOUR.choose(release, chosen)
        self.aborted_of_unknown_partition = fetch_of_unknown_partition.BEHAVIOUR.choose(release, chosen)
        self.fetch_past_end = fetch_past_end.BEHAVIOUR.choose(release, chosen)
        self.isr_shrink_bumps_epoch = isr_shrink_epoch.BEHAVIOUR.choose(release, chosen)
        self.tell_last_stable_offset = last_stable_offset.BEHAVIOUR.choose(release, chosen)
        self.restart_bumps_epoch = restart_epoch.BEHAVIOUR.choose(release, chosen)
        self.followers_serve = follower_reads.BEHAVIOUR.choose(release, chosen)
        self.epoch_lookup_exact = epoch_lookup.BEHAVIOUR.choose(release, chosen)
        self.epoch_below_first = epoch_below_first.BEHAVIOUR.choose(release, chosen)
        self.epoch_not_given = epoch_not_given.BEHAVIOUR.choose(release, chosen)
        self.answer_fetch_of_no_groups = fetch_of_no_groups.BEHAVIOUR.choose(release, chosen)
        self.group_operations = group_operations.BEHAVIOUR.choose(release, chosen)
        self.offsets_expire_from_commit = offset_retention_start.BEHAVIOUR.choose(release, chosen)
        self.pending_leave_rebalances = pending_member_leave.BEHAVIOUR.choose(release, chosen)
        self.answer_partitions_once = repeated_partitions.BEHAVIOUR.choose(release, chosen)
        self.share_coordinator = share_coordinator.BEHAVIOUR.choose(release, chosen)
        self.sync_renews_session = sync_session.BEHAVIOUR.choose(release, chosen)
        self.tied_protocols = tied_protocols.BEHAVIOUR.choose(release, chosen)
        self.retention_by_file_time = time_retention.BEHAVIOUR.choose(release, chosen)
        self.large_creation = large_creation.BEHAVIOUR.choose(release, chosen)
        self.too_many_new_partitions = too_many_new_partitions.BEHAVIOUR.choose(release, chosen)
        self.undefined_epoch = undefined_epoch.BEHAVIOUR.choose(release, chosen)
        self.unreadable_subscription_fails = unreadable_subscription.BEHAVIOUR.choose(release, chosen)
        self.unknown_producer = unknown_producer.BEHAVIOUR.choose(release, chosen)


def fixes() -> dict[str, str]:
    """The answer of every fix that there is or was proposed, by behaviour."""
    return {name: each.fixed for name, each in CATALOGUE.items() if each.fixed is not None}


def known(name: str) -> Behaviour[Any]:
    """The behaviour of that name. UnknownPolicyError names the nearest, or those there are."""
    if name not in CATALOGUE:
        suggestion = nearest(name, CATALOGUE) or f": choose one of {', '.join(CATALOGUE)}"
        raise UnknownPolicyError(f"no behaviour {name!r}{suggestion}")
    return CATALOGUE[name]


__all__ = [
    "CATALOGUE",
    "EVERYWHERE",
    "Behaviour",
    "OwnPolicyError",
    "Policies",
    "Scope",
    "Source",
    "UnknownPolicyError",
    "fixes",
]
