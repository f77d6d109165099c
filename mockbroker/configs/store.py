"""The values that are set, in layers, and the effective values with their sources."""

import enum
import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Final, NamedTuple, Protocol, TypeVar

from ..nearest import nearest
from ..protocol.releases import NEWEST, Release, Unstable, facts, parse
from . import definitions, java
from .topic import TopicSettings, check_together, settings
from .values import OF_LISTENER, ConfigError, ConfigKey, Value

_NO_OVERRIDES: Final[Mapping[str, str]] = {}
_INTERNAL_SEGMENTS: Final = ("offsets.topic.segment.bytes", "transaction.state.log.segment.bytes")
_ONE_FORMAT_SINCE: Final = parse("3.0")
_KEPT: Final = 1_000
"""The settings of at most so many different topics are kept."""


class Source(enum.IntEnum):
    """The source of an effective value (`DescribeConfigsResponse.ConfigSource`)."""

    UNKNOWN = 0
    TOPIC = 1
    DYNAMIC_BROKER = 2
    DYNAMIC_DEFAULT_BROKER = 3
    STATIC_BROKER = 4
    DEFAULT = 5
    DYNAMIC_BROKER_LOGGER = 6
    CLIENT_METRICS = 7
    GROUP = 8


class Entry(NamedTuple):
    """One effective value of a configuration."""

    key: ConfigKey
    value: str | None
    source: Source


class Layer(NamedTuple):
    """Values of brokers from one source."""

    source: Source
    values: Mapping[str, str]


V = TypeVar("V", bound=Value)


class _Parsed(dict[tuple[str, int | None], V]):
    """Effective values by name and broker. Asking costs only a look-up; it holds what was asked before."""

    def __init__(self, parse: Callable[[str, int | None], V]) -> None:
        self._parse = parse

    def __missing__(self, key: tuple[str, int | None]) -> V:
        value = self[key] = self._parse(*key)
        return value


class Files(Protocol):
    """The files that brokers' configuration names."""

    def check(self, broker: int, values: Mapping[str, str]) -> None:
        """Whether a broker could use them with these values in place of those that were altered.
        ApiError."""

    def use(self, broker: int) -> None:
        """The configuration of a broker was altered: files are read again that have changed, too."""


class Configs:
    """The configuration of all brokers, and what topics inherit from it.

    `config` is the static configuration (`server.properties`) of every broker, which overrides
    `definitions.STATIC`. `cluster_wide` and `per_broker` are what was altered at run time (KIP-226); `groups`
    (KIP-848) and `client_metrics` (KIP-714) have what is set for each group and subscription, `loggers` the
    levels that are set for each broker (KIP-412). Call `changed` after altering what brokers have.
    ConfigError for names that no release has, for invalid values, and for values that contradict each other.
    """

    def __init__(self, config: Mapping[str, str], release: Release | None = None) -> None:
        self.release: Release = release or parse(NEWEST)
        self.static = {**definitions.STATIC, **{name: str(value) for name, value in config.items()}}
        self.cluster_wide: dict[str, str] = {}
        self.per_broker: dict[int, dict[str, str]] = {}
        self.groups: dict[str, dict[str, str]] = {}
        self.client_metrics: dict[str, dict[str, str]] = {}
        self.client_metrics_changes = 0
        self.formats = self.release < _ONE_FORMAT_SINCE
        """Whether `message.format.version` counts."""
        self.topic_keys = definitions.keys("topic", self.release)
        self.broker_keys = definitions.keys("broker", self.release)
        self.loggers: dict[int, dict[str, str]] = {}
        for name, value in self.static.items():
            self._static_key(name).parse(value)
        for name in _INTERNAL_SEGMENTS:
            self._check_segment(name)
        self.unstable = Unstable(
            *(self.static.get(f"unstable.{each}.versions.enable") == "true" for each in ("api", "feature"))
        )
        """The preview that brokers are configured to have."""
        self.files: Files | None = None
        """Of those that listen on sockets."""
        self.eligible_leader_replicas = False
        """Whether there are eligible leader replicas (KIP-966)."""
        self._parsed = _Parsed(self._parse)
        self._ints = _Parsed(self._parse_int)
        self._topic_defaults: dict[str, Value] | None = None
        self._topic_settings: dict[frozenset[tuple[str, str]], TopicSettings] = {}
        self._settings_of: dict[int, tuple[Mapping[str, str], TopicSettings]] = {}
        if any(name.startswith("group.") for name in config):
            from .together import check_brokers

            check_brokers(self.broker_keys, self.static, self.broker_int)
        if "eligible.leader.replicas.version" in facts(self.release).finalized_features:
            self.track_eligible_leader_replicas()

    def _check_segment(self, name: str) -> None:
        """A broker would start, and then have no coordinators: the controller refuses to create the topic."""
        value = self.static.get(name)
        if value is None:
            return
        try:
            self.topic_keys["segment.bytes"].parse(value)
        except ConfigError as error:
            raise ConfigError(
                f"{name}={value}: this release could not create the topic, so that there would be no "
                f"coordinator ({error})"
            ) from None

    def track_eligible_leader_replicas(self) -> None:
        """The feature is turned on: `min.insync.replicas` is set for the whole cluster, and for no single
        broker (`ConfigurationControlManager.maybeGenerateElrSafetyRecords`)."""
        self.eligible_leader_replicas = True
        name = "min.insync.replicas"
        for values in self.per_broker.values():
            values.pop(name, None)
        self.cluster_wide.setdefault(name, self.broker_text(name) or "1")
        self.changed()

    def changed(self) -> None:
        """Forgets what was derived from earlier values."""
        self._parsed.clear()
        self._ints.clear()
        self._topic_defaults = None
        self._topic_settings.clear()
        self._settings_of.clear()

    # Brokers

    def layers(self, broker: int | None = None) -> tuple[Layer, ...]:
        """The layers of broker configuration above the defaults, the one with the highest precedence first.

        With `broker` None, those that are valid for all brokers.
        """
        for_all = (
            Layer(Source.DYNAMIC_DEFAULT_BROKER, self.cluster_wide),
            Layer(Source.STATIC_BROKER, self.static),
        )
        if broker is None:
            return for_all
        return Layer(Source.DYNAMIC_BROKER, self.per_broker.get(broker, _NO_OVERRIDES)), *for_all

    def broker_text(self, name: str, broker: int | None = None) -> str | None:
        """The effective value; None if none is set and there is no default. ConfigError for an unknown
        name."""
        text = self._set_text(name, broker)
        return self.broker_key(name).default if text is None else text

    def _set_text(self, name: str, broker: int | None) -> str | None:
        """The strongest value that is set, None if none is."""
        for _, values in self.layers(broker):
            if name in values:
                return values[name]
        return None

    def broker_value(self, name: str, broker: int | None = None) -> Value:
        """The effective value, parsed."""
        return self._parsed[name, broker]

    def listener_text(
        self, name: str, listener: str, mechanism: str = "", broker: int | None = None
    ) -> str | None:
        """What is set for clients that come by a listener, and log in by a mechanism; None if nothing is."""
        from . import listeners

        for each in listeners.prefixed(name, listener, mechanism):
            if (text := self._set_text(each, broker)) is not None:
                return text
        return None

    def listener_own_text(self, name: str, listener: str) -> str | None:
        """What is set for one listener alone; None if nothing is."""
        from . import listeners

        own, _ = listeners.prefixed(name, listener)
        return self._set_text(own, None)

    def listener_value(
        self, name: str, listener: str, mechanism: str = "", broker: int | None = None
    ) -> Value:
        """The effective value for these clients, parsed."""
        text = self.listener_text(name, listener, mechanism, broker)
        return self._parsed[name, broker] if text is None else self.broker_key(name).parse(text)

    def listener_int(self, name: str, listener: str, mechanism: str = "", broker: int | None = None) -> int:
        value = self.listener_value(name, listener, mechanism, broker)
        assert isinstance(value, int), f"{name} is {value!r}"
        return value

    def broker_int(self, name: str, broker: int | None = None) -> int:
        return self._ints[name, broker]

    def broker_bool(self, name: str, broker: int | None = None) -> bool:
        value = self._parsed[name, broker]
        assert isinstance(value, bool), f"{name} is {value!r}"
        return value

    def _parse(self, name: str, broker: int | None) -> Value:
        text, key = self._set_text(name, broker), self.broker_key(name)
        return key.default_value if text is None else key.parse(text)

    def _parse_int(self, name: str, broker: int | None) -> int:
        value = self._parsed[name, broker]
        assert isinstance(value, int), f"{name} is {value!r}"
        return value

    def _static_key(self, name: str) -> ConfigKey:
        try:
            if name.startswith(OF_LISTENER):
                from . import listeners

                name = listeners.unprefixed(name)
            return self.broker_key(name)
        except ConfigError as error:
            # Somebody who configures a mock gets a more helpful message than clients.
            raise ConfigError(f"{error}{nearest(name, self.broker_keys)}") from None

    def broker_key(self, name: str) -> ConfigKey:
        """The definition; if this release does not have the name, that of the newest release that has.
        ConfigError."""
        key = self.broker_keys.get(name) or definitions.INTERNAL_BROKER_KEYS.get(name)
        key = key or definitions.ever_known("broker").get(name)
        if key is None and name.startswith(OF_LISTENER):
            return ConfigKey(name, "STRING")
        if key is None:
            raise ConfigError(f"Unknown broker config name: {name}")
        return key

    # Topics

    def topic_entries(self, overrides: Mapping[str, str], broker: int | None = None) -> list[Entry]:
        """A topic's effective configuration, as in the answer to its creation (`KafkaConfigSchema.java`).

        `broker` is the broker that sees it, None for the controller.
        """
        layers = self.layers(broker)
        return [
            Entry(key, overrides[name], Source.TOPIC) if name in overrides else self._inherited(key, layers)
            for name, key in self.topic_keys.items()
        ]

    def _inherited(self, key: ConfigKey, layers: Sequence[Layer]) -> Entry:
        """The value of a topic that does not set it: from the first layer that has it, and in that the first
        synonym."""
        synonyms = definitions.TOPIC_SYNONYMS.get(key.name, ())
        for source, values in layers:
            for synonym, factor in synonyms:
                if synonym in values:
                    text = values[synonym]
                    if factor != 1:
                        text = str(int(str(self.broker_key(synonym).parse(text))) * factor)
                    return Entry(key, text, source)
        return Entry(key, key.default, Source.DEFAULT)

    def topic_values(self, overrides: Mapping[str, str]) -> dict[str, Value]:
        """A topic's effective configuration, parsed. ConfigError, in Kafka's order of checks."""
        if unknown := [name for name in overrides if name not in self.topic_keys]:
            raise ConfigError(f"Unknown topic config name: {java.in_hash_order(unknown)[0]}")
        if self._topic_defaults is None:
            self._topic_defaults = dict(_release_defaults(self.release))
            layers = self.layers()
            for name, key in self.topic_keys.items():
                _, text, source = self._inherited(key, layers)
                if source is not Source.DEFAULT:
                    self._topic_defaults[name] = _topic_default(key, text)
        values = dict(self._topic_defaults)
        for name, key in self.topic_keys.items() if overrides else ():
            if name in overrides:
                values[name] = key.parse(overrides[name])
        if overrides:
            check_together(values, tiered_storage=self.tiered_storage)
        return values

    @property
    def tiered_storage(self) -> bool:
        return self.broker_text("remote.log.storage.system.enable") == "true"

    def topic_settings(self, overrides: Mapping[str, str]) -> TopicSettings:
        """ConfigError if a name is unknown or a value is invalid."""
        key = frozenset(overrides.items())
        found = self._topic_settings.get(key)
        if found is None:
            values, most_bytes = (
                self.topic_values(overrides),
                self.broker_int("mockbroker.max.decompressed.bytes"),
            )
            if len(self._topic_settings) >= _KEPT:
                self._topic_settings.clear()
            found = self._topic_settings[key] = settings(values, most_bytes, formats=self.formats)
        return found

    def settings_of(self, overrides: Mapping[str, str]) -> TopicSettings:
        """As `topic_settings`, for a mapping that never changes: it is known again by its identity."""
        found = self._settings_of.get(id(overrides))
        if found is None:
            if len(self._settings_of) >= _KEPT:
                self._settings_of.clear()
            found = self._settings_of[id(overrides)] = overrides, self.topic_settings(overrides)
        return found[1]


@functools.cache
def _release_defaults(release: Release) -> Mapping[str, Value]:
    """What topics have if nobody sets anything."""
    return {key.name: _topic_default(key, key.default) for key in definitions.keys("topic", release).values()}


def _topic_default(key: ConfigKey, text: str | None) -> Value:
    """A broker's value as a topic inherits it: any negative retention time means "no limit"."""
    if key.name == "retention.ms" and text is not None and text.startswith("-"):
        return -1
    return None if text is None else key.parse(text)
