"""What is advertised, against the ApiVersions answers of real brokers."""

import pytest

from mockbroker.apis import HANDLERS
from mockbroker.apis.advertised import advertised, answered
from mockbroker.apis.registry import REGISTERED
from mockbroker.protocol.api_keys import CODEC_VERSIONS, ApiKey
from mockbroker.protocol.releases import UnknownReleaseError, facts, names, parse


@pytest.mark.parametrize("kafka", names())
def test_ranges_are_those_of_the_release_as_far_as_there_are_codecs(kafka: str) -> None:
    release = parse(kafka)
    recorded = facts(release).apis
    ranges = advertised(release)
    for key in REGISTERED:
        if key not in recorded:
            assert key not in ranges
            continue
        (low, high), (codec_low, codec_high) = recorded[key], CODEC_VERSIONS[key]
        if codec_low > high:
            assert key not in ranges
        elif release.number >= (4, 0):
            assert ranges[key] == (low, min(high, codec_high))
        else:
            assert ranges[key] == (max(low, codec_low), min(high, codec_high))


def test_the_newest_versions_of_all_apis_are_served() -> None:
    newest = parse("4.4")
    clipped = {
        ApiKey(key): (recorded[1], advertised(newest)[key][1])
        for key, recorded in facts(newest).apis.items()
        if key in REGISTERED and advertised(newest)[key][1] != recorded[1]
    }
    assert not clipped
    assert {
        key for key in advertised(newest) if facts(newest).apis[key][0] != advertised(newest)[key][0]
    } == set()


def test_produce_versions_that_4_x_advertises_only_for_show_are_not_answered() -> None:
    newest = parse("4.4")
    assert advertised(newest)[ApiKey.PRODUCE] == (0, 13)
    assert [answered(newest, ApiKey.PRODUCE, version) for version in (0, 2, 3, 13, 14)] == [
        False,
        False,
        True,
        True,
        False,
    ]
    assert not answered(newest, 9999, 0)


@pytest.mark.parametrize("key", sorted(REGISTERED), ids=lambda key: key.name)
def test_every_registered_api_has_a_handler(key: ApiKey) -> None:
    assert callable(HANDLERS[key])


@pytest.mark.parametrize(
    ("text", "expected"), [("3.9", "3.9"), ("3.9.2", "3.9"), ("0.11.0.3", "0.11"), ("v4.4", "4.4")]
)
def test_releases_by_name(text: str, expected: str) -> None:
    assert str(parse(text)) == expected


@pytest.mark.parametrize(
    ("text", "near"), [("3.99", "3.9"), ("4", "4.4"), ("0.10", "0.11"), ("2.9", "2.8"), ("3.x", "3.0")]
)
def test_an_unknown_release_is_answered_with_the_nearest(text: str, near: str) -> None:
    with pytest.raises(UnknownReleaseError, match=f"did you mean '{near}'"):
        parse(text)


@pytest.mark.parametrize("text", ["", "5.0", "three"])
def test_an_unknown_release_is_answered_with_those_that_exist(text: str) -> None:
    with pytest.raises(UnknownReleaseError, match=r"choose one of 0\.11, .*4\.4"):
        parse(text)
