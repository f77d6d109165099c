"""The log directories of a broker, by its configuration; all logs are in the first."""

from typing import Final, NamedTuple

from ..configs import Configs

_CORDONED: Final = "cordoned.log.dirs"


class LogDirs(NamedTuple):
    """`all` has each directory once; `cordoned` those that take no more replicas (KIP-1066)."""

    all: list[str]
    cordoned: frozenset[str]

    @classmethod
    def of(cls, configs: Configs, broker: int) -> "LogDirs":
        found = list(
            dict.fromkeys(_listed(configs, "log.dirs", broker) or _listed(configs, "log.dir", broker))
        )
        known = _CORDONED in configs.broker_keys
        cordoned = _listed(configs, _CORDONED, broker) if known else []
        return cls(found, frozenset(found if "*" in cordoned else cordoned))


def _listed(configs: Configs, key: str, broker: int) -> list[str]:
    text = configs.broker_text(key, broker) or ""
    return [each.strip() for each in text.split(",") if each.strip()]
