"""Which APIs and versions a broker of a release advertises."""

import functools

from ..protocol.api_keys import CODEC_VERSIONS, ApiKey
from ..protocol.releases import Release, facts
from .registry import REGISTERED


@functools.cache
def advertised(release: Release) -> dict[int, tuple[int, int]]:
    """The versions that the release had, that there is a codec for, and whose API has a handler.

    Versions that a release advertises but does not answer (Produce 0 to 2 on 4.x, KAFKA-18659) are advertised
    and not answered here too.
    """
    ranges = {}
    for key, (low, high) in sorted(facts(release).apis.items()):
        if key not in REGISTERED:
            continue
        codec_low, codec_high = CODEC_VERSIONS[ApiKey(key)]
        lowest = low if _beyond_itself(release, key) else max(low, codec_low)
        if max(low, codec_low) <= min(high, codec_high):
            ranges[key] = (lowest, min(high, codec_high))
    return ranges


def answered(release: Release, api_key: int, version: int) -> bool:
    """Whether a request of that version is answered; the connection is closed otherwise."""
    low, high = advertised(release).get(api_key, (0, -1))
    return low <= version <= high and version >= CODEC_VERSIONS[ApiKey(api_key)][0]


def _beyond_itself(release: Release, api_key: int) -> bool:
    return api_key == 0 and release.number >= (4, 0)
