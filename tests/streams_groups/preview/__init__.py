"""What streams groups did in 4.1, where they had to be turned on."""

from dataclasses import replace
from pathlib import Path
from typing import Final

from mockbroker.rig.stories import Told

from ..stage import StreamsStage
from ..stories import STORIES as LATER

UNSTABLE: Final = {"unstable.api.versions.enable": "true", "unstable.feature.versions.enable": "true"}
_NAMES: Final = (
    "listing",
    "epochs",
    "unknown_members",
    "wrong_fields",
    "described_fields",
    "static_members",
    "task_offsets",
    "client_tags",
    "partition_counts",
)
"""Those that are answered here as by 4.1.1. Of the others, 11 are not, because of who gets which task, of
standbys and of endpoints (docs/left-out.md), and 7 were never asked of it."""
STORIES: Final[Told[StreamsStage]] = replace(
    LATER,
    folder=Path(__file__).parent,
    stories={name: LATER.stories[name] for name in _NAMES},
    setting=LATER.setting.with_config(UNSTABLE),
)
