"""Which APIs and versions a broker of a release advertises."""

import functools
from typing import Final

from ..protocol.api_keys import CODEC_VERSIONS, ApiKey
from ..protocol.releases import STABLE, Release, Unstable, facts, parse
from .registry import REGISTERED

_TELEMETRY: Final = (ApiKey.GET_TELEMETRY_SUBSCRIPTIONS, ApiKey.PUSH_TELEMETRY)
_TELEMETRY_SINCE: Final = parse("3.7")
_PRODUCE_SINCE: Final = 3
"""The oldest version that brokers of 4.x answer."""


@functools.cache
def advertised(
    release: Release, *, telemetry: bool = False, unstable: Unstable = STABLE
) -> dict[int, tuple[int, int]]:
    """The versions that the release had, that there is a codec for, and whose API has a handler; with
    `telemetry`, as of brokers that have a plugin for clients' metrics (KIP-714).

    Versions that a release advertises but does not answer (Produce 0 to 2 on 4.x, KAFKA-18659) are advertised
    and not answered here too.
    """
    ranges = {}
    had = dict(facts(release, unstable).apis)
    if telemetry and release >= _TELEMETRY_SINCE:
        had |= dict.fromkeys(_TELEMETRY, (0, 0))
    for key, (low, high) in sorted(had.items()):
        if key not in REGISTERED:
            continue
        codec_low, codec_high = CODEC_VERSIONS[ApiKey(key)]
        if max(low, codec_low) <= min(high, codec_high):
            ranges[key] = (max(low, codec_low), min(high, codec_high))
    return ranges


def answered(release: Release, api_key: int, version: int, unstable: Unstable = STABLE) -> bool:
    """Whether a request of that version is answered; the connection is closed otherwise."""
    low, high = served(release, api_key, unstable) or (0, -1)
    return low <= version <= high


def served(release: Release, api_key: int, unstable: Unstable = STABLE) -> tuple[int, int] | None:
    """The lowest and highest version that is answered; None if none is. Telemetry is, even if it is not
    advertised; and the oldest versions of Produce, which 4.x advertises for librdkafka, are not
    (KAFKA-18659)."""
    found = advertised(release, telemetry=True, unstable=unstable).get(api_key)
    if found is None or api_key != ApiKey.PRODUCE or release.number < (4, 0):
        return found
    return max(found[0], _PRODUCE_SINCE), found[1]
