"""Definitions by release, values, and what topics inherit from brokers."""

import contextlib
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mockbroker.configs import ConfigError, Configs, Source, TopicSettings, definitions
from mockbroker.configs.values import ConfigKey, to_text
from mockbroker.protocol.releases import names, parse

from . import together

NEWEST = parse("4.4")


@pytest.mark.parametrize("release", names())
def test_every_default_is_a_valid_value(release: str) -> None:
    for kind in ("topic", "broker", "group", "client_metrics"):
        for key in definitions.keys(kind, parse(release)).values():
            if key.default is not None:
                key.parse(key.default)


@pytest.mark.parametrize("release", names())
def test_a_topic_without_overrides_has_settings_in_every_release(release: str) -> None:
    settings = Configs({}, parse(release)).topic_settings({})
    assert (settings.retention_ms, settings.deletable, settings.compacted) == (604800000, True, False)


def test_the_settings_defaults_are_those_of_the_newest_release() -> None:
    assert Configs({}).topic_settings({}) == TopicSettings()


@pytest.mark.parametrize(("release", "count"), [("3.9", 36), ("4.0", 33), ("4.4", 37)])
def test_releases_have_different_topic_configurations(release: str, count: int) -> None:
    assert len(definitions.keys("topic", parse(release))) == count


def test_what_a_release_dropped_is_unknown_to_it() -> None:
    configs = Configs({}, NEWEST)
    with pytest.raises(ConfigError, match=r"^Unknown topic config name: message\.format\.version$"):
        configs.topic_settings({"message.format.version": "2.8"})


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        (
            "retention.ms",
            "soon",
            "Invalid value soon for configuration retention.ms: Not a number of type LONG",
        ),
        ("retention.ms", "", "Invalid value  for configuration retention.ms: Not a number of type LONG"),
        ("retention.ms", "-2", "Invalid value -2 for configuration retention.ms: Value must be at least -1"),
        (
            "max.message.bytes",
            "2147483648",
            "Invalid value 2147483648 for configuration max.message.bytes: Not a number of type INT",
        ),
        (
            "min.cleanable.dirty.ratio",
            "1.5",
            "Invalid value 1.5 for configuration min.cleanable.dirty.ratio: Value must be no more than 1",
        ),
        (
            "preallocate",
            "yes",
            "Invalid value yes for configuration preallocate: Expected value to be either true or false",
        ),
        (
            "cleanup.policy",
            "shrink",
            "Invalid value shrink for configuration cleanup.policy: String must be one of: compact, delete",
        ),
        (
            "compression.gzip.level",
            "10",
            (
                "Invalid value 10 for configuration compression.gzip.level: "
                "Value must be between 1 and 9 or equal to -1"
            ),
        ),
    ],
)
def test_invalid_values_are_refused_in_kafkas_words(name: str, value: str, message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        Configs({}, NEWEST).topic_settings({name: value})
    assert str(caught.value) == message


def test_values_that_do_not_go_together_are_refused() -> None:
    with pytest.raises(
        ConfigError, match=r"min\.compaction\.lag\.ms \(10\) > max\.compaction\.lag\.ms \(5\)"
    ):
        Configs({}, NEWEST).topic_settings({"min.compaction.lag.ms": "10", "max.compaction.lag.ms": "5"})


def test_spaces_and_capitals_are_taken_as_kafka_takes_them() -> None:
    settings = Configs({}).topic_settings({"retention.ms": " 60000 ", "cleanup.policy": "compact, delete"})
    assert (settings.retention_ms, settings.compacted, settings.deletable) == (60000, True, True)
    assert Configs({}).topic_settings({"preallocate": "TRUE"}).preallocate


def test_a_topic_inherits_the_first_synonym_that_is_set_in_its_unit() -> None:
    configs = Configs({"log.retention.hours": "2", "log.retention.minutes": "3"})
    assert configs.topic_settings({}).retention_ms == 180000
    entry = next(each for each in configs.topic_entries({}) if each.key.name == "retention.ms")
    assert (entry.value, entry.source) == ("180000", Source.STATIC_BROKER)


def test_altered_values_win_over_static_ones_once_told() -> None:
    configs = Configs({"log.retention.ms": "1"})
    assert configs.topic_settings({}).retention_ms == 1
    configs.cluster_wide["log.retention.ms"] = "2"
    configs.changed()
    assert configs.topic_settings({}).retention_ms == 2
    configs.per_broker[2] = {"log.retention.ms": "3"}
    configs.changed()
    assert configs.broker_int("log.retention.ms", broker=2) == 3
    assert configs.broker_int("log.retention.ms", broker=1) == 2


def test_one_timestamp_limit_stands_for_both_up_to_3_9() -> None:
    settings = Configs({}, parse("3.9")).topic_settings({"message.timestamp.difference.max.ms": "5"})
    assert (settings.timestamp_before_max_ms, settings.timestamp_after_max_ms) == (5, 5)


def test_a_misspelt_broker_configuration_is_refused_at_once() -> None:
    told = "Unknown broker config name: num.partition: did you mean 'num.partitions'?"
    with pytest.raises(ConfigError, match=f"^{re.escape(told)}$"):
        Configs({"num.partition": "3"})
    with pytest.raises(ConfigError, match="Not a number of type INT"):
        Configs({"num.partitions": "three"})


@pytest.mark.parametrize("release", ["3.9", "4.4"])
def test_a_configuration_of_other_releases_is_accepted(release: str) -> None:
    configs = Configs({"zookeeper.connect": "localhost", "group.share.max.size": "10"}, parse(release))
    assert configs.broker_text("zookeeper.connect") == "localhost"


@pytest.mark.parametrize(
    ("value", "text"), [(0.5, "0.5"), (1.0, "1.0"), (1e7, "1.0E7"), (1.5e-5, "1.5E-5"), (0.001, "0.001")]
)
def test_doubles_are_shown_as_java_shows_them(value: float, text: str) -> None:
    assert to_text(value) == text


@given(st.integers(-(2**63), 2**63 - 1))
def test_numbers_survive_being_shown(value: int) -> None:
    key = ConfigKey("a.number", "LONG")
    assert key.parse(key.text(str(value))) == value


@given(st.sampled_from(names()), st.sampled_from(["topic", "broker"]), st.text(max_size=20))
def test_any_text_is_a_value_or_a_config_error(release: str, kind: str, text: str) -> None:
    for key in definitions.keys(kind, parse(release)).values():
        with contextlib.suppress(ConfigError):
            key.parse(text)


@pytest.mark.parametrize("name", ["offsets.topic.segment.bytes", "transaction.state.log.segment.bytes"])
def test_internal_topics_that_could_not_be_created_are_refused_at_once(name: str) -> None:
    with pytest.raises(ConfigError, match=rf"^{re.escape(name)}=1000: .*at least 1048576"):
        Configs({name: "1000"}, parse("4.4"))
    assert Configs({name: "1000"}, parse("3.9")).broker_text(name) == "1000"


@pytest.mark.parametrize("release", sorted(each.stem for each in together.RECORDED.glob("*.json")))
def test_brokers_do_not_start_with_what_real_ones_do_not_start_with(release: str) -> None:
    """The first contradiction is told, in Kafka's words, and what to do about it."""
    for asked, said in together.recorded(release):
        if not said:
            Configs(asked, parse(release))
            continue
        with pytest.raises(ConfigError) as caught:
            Configs(asked, parse(release))
        words, _, advice = str(caught.value).partition(": ")
        assert words == said, asked
        assert advice


def test_a_contradiction_says_what_to_set() -> None:
    with pytest.raises(ConfigError) as caught:
        Configs({"group.share.max.share.sessions": "100"})
    assert str(caught.value) == (
        "group.share.max.share.sessions must be greater than or equal to group.share.max.size: "
        "group.share.max.share.sessions is 100 and group.share.max.size is 200 by default; "
        "set group.share.max.share.sessions to 200 or more, or group.share.max.size to 100 or less"
    )


def test_what_a_release_does_not_have_contradicts_nothing() -> None:
    Configs({"group.share.max.share.sessions": "100"}, parse("3.9"))
