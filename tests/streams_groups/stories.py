"""What streams groups do, asked by request."""

from pathlib import Path
from typing import Final

from mockbroker.rig.setup import BROKER_CONFIG, STREAMS_CONFIG
from mockbroker.rig.stories import Setting, Told, named

from . import descriptions, membership, offsets, topologies
from .stage import StreamsStage

STORIES: Final = Told(
    Path(__file__).parent,
    {
        **named(membership.joining, membership.listing, membership.epochs, membership.unknown_members),
        **named(membership.wrong_fields, membership.several_members, membership.threads),
        **named(membership.standbys, membership.moving, membership.delayed, membership.shutdown),
        **named(membership.endpoints, membership.described_fields, membership.static_members),
        **named(membership.task_offsets, membership.client_tags, membership.roles),
        **named(membership.reachable_without_topics),
        **named(topologies.missing_topics, topologies.partition_counts, topologies.refused),
        **named(topologies.changes, topologies.growing),
        **named(descriptions.describing, descriptions.deleted),
        **named(offsets.committing, offsets.fetching, offsets.deleting, offsets.other_kinds),
    },
    StreamsStage,
    Setting(1, {**BROKER_CONFIG, **STREAMS_CONFIG}),
    {"describing": descriptions.PLUGIN, "deleted": descriptions.PLUGIN},
)
