"""Configurations as DescribeConfigs shows them: effective values, sources and synonyms (`ConfigHelper`)."""

import functools
import json
import pkgutil
from collections.abc import Iterable, Iterator, Mapping
from typing import Final, NamedTuple

from ..protocol.releases import parse
from . import definitions, listeners
from .store import Configs, Source
from .values import OF_LISTENER, ConfigError, ConfigKey

_CLIENT_METRICS_WHOLE_SINCE: Final = parse("4.1")
_GROUPS_INHERIT_SINCE: Final = parse("4.3")


class Synonym(NamedTuple):
    """One source that has a value for a configuration."""

    name: str
    value: str | None
    source: Source


class Described(NamedTuple):
    """One configuration of a resource; `key` is None if it has no definition."""

    name: str
    value: str | None
    source: Source
    synonyms: list[Synonym]
    key: ConfigKey | None
    read_only: bool = False


@functools.cache
def documentation() -> Mapping[str, str]:
    """The documentation of each topic configuration."""
    text = pkgutil.get_data(__package__, "topic_documentation.json") or b""
    return json.loads(text)  # type: ignore[no-any-return]


def topic(configs: Configs, overrides: Mapping[str, str], broker: int) -> Iterator[Described]:
    """A topic's configurations as `broker` sees them."""
    values = {entry.key.name: entry.value for entry in configs.topic_entries(overrides, broker)}
    for name, key in configs.topic_keys.items():
        value = None if key.sensitive else key.text(values[name])
        synonyms = []
        if name in overrides:
            synonyms.append(Synonym(name, value, Source.TOPIC))
        if name in definitions.TOPIC_SYNONYMS:
            synonyms += _synonyms(configs, definitions.TOPIC_SYNONYMS[name][0][0], broker)
        yield Described(name, value, _source(synonyms), synonyms, key)


def broker(configs: Configs, broker_id: int, own: Mapping[str, str]) -> Iterator[Described]:
    """All of a broker's configurations; `own` is its own static configuration, such as its id and
    listeners."""
    altered = [*configs.per_broker.get(broker_id, ()), *configs.cluster_wide]
    of_listeners = (name for name in configs.static if name.startswith(OF_LISTENER))
    for name in dict.fromkeys([*configs.broker_keys, *of_listeners, *altered]):
        key = _key(configs, name)
        synonyms = _synonyms(configs, name, broker_id, own)
        value = synonyms[0].value if synonyms and synonyms[0].name == name else key.default if key else None
        if key is not None:
            value = None if key.sensitive else key.text(value)
        # Even stores of listeners, which can be altered.
        read_only = name.startswith(OF_LISTENER) or key is None or key.dynamic is None
        yield Described(name, value, _source(synonyms), synonyms, key, read_only)


def cluster_wide(configs: Configs) -> Iterator[Described]:
    """What is set for all brokers at run time."""
    for name, value in configs.cluster_wide.items():
        key = configs.broker_keys.get(name)
        synonyms = [
            each for each in _synonyms(configs, name, None) if each.source == Source.DYNAMIC_DEFAULT_BROKER
        ]
        shown = None if key is not None and key.sensitive else value
        yield Described(name, shown, _source(synonyms), synonyms, key, key is None or key.dynamic is None)


def group(configs: Configs, overrides: Mapping[str, str], broker_id: int) -> Iterator[Described]:
    for name, key in definitions.keys("group", configs.release).items():
        synonyms = _synonyms(configs, definitions.group_synonym(name, configs.release), broker_id)
        value = key.text(overrides.get(name, synonyms[0].value if synonyms else key.default))
        if not synonyms:
            # No configuration of brokers is for this one.
            synonyms = [Synonym(name, key.text(key.default), Source.DEFAULT)]
        if configs.release < _GROUPS_INHERIT_SINCE:
            synonyms = [] if name in overrides else [Synonym(name, value, Source.DEFAULT)]
        if name in overrides:
            synonyms.insert(0, Synonym(name, value, Source.GROUP))
        yield Described(name, value, _source(synonyms), synonyms, key)


def client_metrics(configs: Configs, overrides: Mapping[str, str]) -> Iterator[Described]:
    """Up to 4.0 only what is set, without type or synonyms."""
    if configs.release < _CLIENT_METRICS_WHOLE_SINCE:
        for each, text in overrides.items():
            yield Described(each, text, Source.CLIENT_METRICS, [], None)
        return
    for each, key in definitions.keys("client_metrics", configs.release).items():
        value = key.text(overrides.get(each, key.default))
        synonyms = [Synonym(each, value, Source.CLIENT_METRICS)] if each in overrides else []
        yield Described(each, value, _source(synonyms), synonyms, key)


def _source(synonyms: list[Synonym]) -> Source:
    return synonyms[0].source if synonyms else Source.DEFAULT


def _synonyms(
    configs: Configs, name: str, broker_id: int | None, own: Mapping[str, str] | None = None
) -> list[Synonym]:
    """All values for a broker configuration, the one in force first.

    As in Kafka, values under other names are left out up to the first under this very name.
    """
    names = definitions.broker_synonyms(name)
    key = _key(configs, name)
    hidden = key is not None and key.sensitive
    found: list[Synonym] = []
    for source, values in configs.layers(broker_id):
        layer = {**values, **own} if own and source == Source.STATIC_BROKER else values
        found += [Synonym(each, None if hidden else layer[each], source) for each in names if each in layer]
    found += [
        Synonym(each, None if hidden else default, Source.DEFAULT)
        for each, default in _defaults(configs, names)
    ]
    start = next((index for index, each in enumerate(found) if each.name == name), len(found))
    return found[start:]


def _key(configs: Configs, name: str) -> ConfigKey | None:
    """That of a listener's is the one without the listener's name."""
    if name.startswith(OF_LISTENER):
        try:
            name = listeners.unprefixed(name)
        except ConfigError:
            *_, name = definitions.broker_synonyms(name)
    return configs.broker_keys.get(name)


def _defaults(configs: Configs, names: Iterable[str]) -> Iterator[tuple[str, str]]:
    for name in names:
        key = configs.broker_keys.get(name)
        if key is not None and key.default is not None:
            yield name, key.default
