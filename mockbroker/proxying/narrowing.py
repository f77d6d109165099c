"""The release as which a cluster is shown: which versions and features clients may use."""

from collections.abc import Mapping
from typing import Final

from ..apis.advertised import advertised
from ..protocol.api_keys import CODEC_VERSIONS
from ..protocol.messages.api_versions import ApiVersion, ApiVersionsResponse, FinalizedFeatureKey
from ..protocol.messages.api_versions import SupportedFeatureKey as Supported
from ..protocol.releases import Release, facts

Range = tuple[int, int]

_READABLE: Final[Mapping[int, Range]] = {int(key): versions for key, versions in CODEC_VERSIONS.items()}


def narrow(answer: ApiVersionsResponse, release: Release | None) -> None:
    """Leaves what brokers of `release` advertise, too. Without one, all is left that the proxy can read: in
    other versions it would not find addresses."""
    known = _READABLE if release is None else advertised(release, telemetry=True)
    answer.api_keys = [
        ApiVersion(each.api_key, *found)
        for each in answer.api_keys
        if (found := _both((each.min_version, each.max_version), known.get(each.api_key)))
    ]
    if release is not None:
        _narrow_features(answer, facts(release).supported_features)


def _narrow_features(answer: ApiVersionsResponse, known: Mapping[str, Range]) -> None:
    """Clients act on a finalized level: with `transaction.version` 2 they do not add partitions any more."""
    answer.supported_features = [
        Supported(each.name, *found)
        for each in answer.supported_features
        if (found := _both((each.min_version, each.max_version), known.get(each.name)))
    ]
    answer.finalized_features = [
        FinalizedFeatureKey(each.name, min(each.max_version_level, high), min(each.min_version_level, high))
        for each in answer.finalized_features
        if (high := known.get(each.name, (0, 0))[1])
    ]
    if not known:
        answer.finalized_features_epoch = -1


def _both(one: Range, other: Range | None) -> Range | None:
    if other is None:
        return None
    low, high = max(one[0], other[0]), min(one[1], other[1])
    return (low, high) if low <= high else None
