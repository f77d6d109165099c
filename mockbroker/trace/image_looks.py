"""What brokers know otherwise than the controller, found by comparing their metadata images."""

from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING, Final

from ..metadata.image import MetadataImage
from .events import Image
from .looks import Change

if TYPE_CHECKING:
    from ..cluster.cluster import Cluster

MOST_PARTITIONS: Final = 200
"""How many partitions an event of an image has at most."""
_UNKNOWN: Final = (-1, -1)


class ImageLooks:
    """What there is of images. They are compared again only once one of the two has changed."""

    def __init__(self, cluster: "Cluster") -> None:
        self._cluster = cluster
        self._compared: dict[int, tuple[tuple[int, int], Change]] = {}

    def look(self) -> Iterator[tuple[tuple[type[Image], int], Change]]:
        """One for each running broker that has not learned of everything."""
        metadata = self._cluster.controller.metadata
        before, self._compared = self._compared, {}
        for broker, behind in metadata.behind.items():
            offsets = (behind.image.offset, metadata.image.offset)
            missing = offsets[1] - offsets[0]
            if not missing or not self._cluster.brokers[broker].online:
                continue
            seen, change = before.get(broker, (None, None))
            if change is None or seen != offsets:
                known = tuple(islice(_differences(behind.image, metadata.image), MOST_PARTITIONS))
                change = Change(Image, (broker, missing, known))
            self._compared[broker] = offsets, change
            yield (Image, broker), change


def _differences(own: MetadataImage, other: MetadataImage) -> Iterator[tuple[str, int, int, int]]:
    # Of many partitions, those of internal topics are the ones to leave out.
    for name in sorted(own.topics | other.topics, key=lambda each: each.startswith("__")):
        mine, its = own.topics.get(name), other.topics.get(name)
        # Images share the topics that neither has changed.
        if mine is its:
            continue
        known = [] if mine is None else [(each.leader, each.leader_epoch) for each in mine.partitions]
        true = [] if its is None else [(each.leader, each.leader_epoch) for each in its.partitions]
        is_other = mine is not None and its is not None and mine.id != its.id
        for index in range(max(len(known), len(true))):
            seen = known[index] if index < len(known) else _UNKNOWN
            if is_other or index >= len(true) or seen != true[index]:
                yield (name, index, *seen)
