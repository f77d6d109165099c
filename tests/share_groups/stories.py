"""What share groups do, asked by request."""

from pathlib import Path
from typing import Final

from mockbroker.rig.setup import BROKER_CONFIG, SHARE_CONFIG
from mockbroker.rig.stories import Setting, Told, named

from ..acls.stories import AUTHORIZING
from . import (
    acknowledging,
    acquiring,
    dead_letters,
    membership,
    mended,
    offsets,
    sessions,
    state,
    transactions,
)
from .stage import ShareStage

STORIES: Final = Told(
    Path(__file__).parent,
    {
        **named(membership.joining, membership.epochs, membership.wrong_fields, membership.subscriptions),
        **named(membership.several_members, membership.other_kinds, membership.described_twice),
        **named(membership.topics_change, membership.later_partition, membership.given_up),
        "unknown_to_the_group": membership.unknown_members,
        **named(sessions.begins_and_ends, sessions.wrong_epochs, sessions.ends_with_acknowledgements),
        **named(sessions.forgotten, sessions.unknown_partitions, sessions.one_connection),
        **named(sessions.acquire_modes, sessions.refused_partitions),
        **named(sessions.disconnected, sessions.gone_while_waiting),
        **named(sessions.unknown_topics_with_an_authorizer),
        "unknown_to_sessions": sessions.unknown_members,
        **named(acquiring.limits, acquiring.shared_out, acquiring.delivery_counts, acquiring.resets),
        **named(acquiring.delivery_counts_in_batches, acquiring.after_deletion, acquiring.compacted),
        **named(acknowledging.ranges_of_one_batch, acknowledging.ranges_of_batches, acknowledging.pairs),
        **named(acknowledging.with_fetches, acknowledging.of_another, acknowledging.after_leaving),
        **named(acknowledging.after_the_lock, acknowledging.late_acknowledgement, acknowledging.renewals),
        **named(acknowledging.renewed_locks, acknowledging.before_the_start),
        **named(acknowledging.renewals_forbidden),
        **named(mended.log_start_within_a_batch, mended.released_beside_anothers),
        **named(mended.read_again_within_a_batch, mended.log_start_in_a_gap),
        **named(mended.altered_while_a_leader_knows),
        **named(dead_letters.rejected, dead_letters.worn, dead_letters.copied, dead_letters.routed),
        **named(dead_letters.nowhere, dead_letters.made, dead_letters.too_large, dead_letters.resumed),
        **named(dead_letters.without_the_feature, dead_letters.lost),
        **named(transactions.uncommitted, transactions.committed, transactions.level_changes),
        **named(offsets.describing, offsets.altering, offsets.deleting, offsets.other_groups),
        **named(state.keeping, state.merging, state.wrong_requests, state.finding, state.advertised),
        **named(state.negative_epochs, state.of_a_new_group, state.many_batches),
    },
    ShareStage,
    Setting(1, {**BROKER_CONFIG, **SHARE_CONFIG}),
    {
        "compacted": {"log.cleaner.backoff.ms": "100"},
        "unknown_topics_with_an_authorizer": AUTHORIZING,
    },
)
