"""What is asked: `python -m mockbroker.rig record tests.old_formats`."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from mockbroker.rig.setup import BROKER_CONFIG
from mockbroker.rig.stories import Setting, Steps, Told

from ..acls.stories import AUTHORIZING
from . import asking, fetching, keeping, producing, storing
from .stage import OldStage

_STORIES: Final[Mapping[str, Callable[[OldStage], Steps]]] = {
    f"{module.__name__.rpartition('.')[2]}/{story.__name__}": story
    for module, stories in (
        (
            producing,
            (
                producing.formats,
                producing.newer,
                producing.odd,
                producing.several,
                producing.contradicting,
                producing.configured,
            ),
        ),
        (fetching, (fetching.formats, fetching.limits, fetching.mixed, fetching.markers, fetching.refused)),
        (storing, (storing.formats, storing.odd, storing.as_sent)),
        (
            keeping,
            (
                keeping.changing,
                keeping.compressed,
                keeping.limits,
                keeping.sizes,
                keeping.deleting,
                keeping.compacting,
                keeping.of_brokers,
            ),
        ),
        (
            asking,
            (
                asking.listing,
                asking.committing,
                asking.topics,
                asking.describing,
                asking.log_dirs,
                asking.epochs,
                asking.tokens,
                asking.acls,
            ),
        ),
    )
    for story in stories
}
STORIES: Final = Told(
    folder=Path(__file__).parent,
    stories=_STORIES,
    stage=OldStage,
    setting=Setting(config=BROKER_CONFIG),
    configs={"asking/acls": AUTHORIZING, "keeping/of_brokers": {"log.message.format.version": "0.10.2"}},
)
