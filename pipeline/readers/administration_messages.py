"""Log messages of controllers with KRaft, and of brokers, about what administrators alter.

Comments name the classes that log them.
"""

import re
from typing import Final

from .log_entries import Entry
from .log_messages import END, Values, message

_NONE: Final = ("null", "[]")
NOTHING: Final = "none"
"""The detail of a row about a group of which nothing is set any more."""
ELR: Final = "all brokers: eligible.leader.replicas.version = 1"
"""The detail of a row that a controller turned them on."""
_BETWEEN: Final = re.compile(r",(?=[\w.]{1,100} -> )")
_LOGGER: Final = re.compile(r" \([\w.]{1,200}\)$")
_ENTITY: Final = r"ClientQuotaEntity\(entries=\{(?P<entity>[^}\n]*)\}\)"


def _set(_: Entry, found: re.Match[str]) -> Values:
    return {"detail": f"{found['name']} = {found['value']}"}


def _set_of_brokers(_: Entry, found: re.Match[str]) -> Values:
    whose = f"broker {found['whose']}" if found["whose"] else "all brokers"
    return {"detail": f"{whose}: {found['name']} = {found['value']}"}


def _set_of_group(_: Entry, found: re.Match[str]) -> Values:
    """However long the rest of the line is."""
    rest = _LOGGER.sub("", found.string[found.end() :].partition("\n")[0])
    told = (each.split(" -> ", 1) for each in _BETWEEN.split(rest) if " -> " in each)
    return {"detail": ", ".join(map(" = ".join, told)) or NOTHING}


def _quota(_: Entry, found: re.Match[str]) -> Values:
    value = found.groupdict().get("value", "none")
    return {"detail": f"{found['entity'].replace('=null', '=default')}: {found['name']} = {value}"}


def _moves(_: Entry, found: re.Match[str]) -> Values:
    changes = [
        f"{verb} {found[verb].strip('[]')}" for verb in ("adding", "removing") if found[verb] not in _NONE
    ]
    return {"detail": ", ".join(changes) or "completed"}


MESSAGES: Final = (
    # ConfigurationControlManager
    message(
        "config",
        "Replayed ConfigRecord for",
        r"ConfigResource\(type=TOPIC, name='(?P<topic>[^']+)'\) which set configuration (?P<name>\S+) to "
        rf"(?P<value>[^\n]*?){END}",
        _set,
    ),
    message(
        "config",
        "Replayed ConfigRecord for",
        r"ConfigResource\(type=BROKER, name='(?P<whose>\d*)'\) which set configuration (?P<name>\S+) to "
        rf"(?P<value>[^\n]*?){END}",
        _set_of_brokers,
    ),
    # FeatureControlManager
    message(
        "config",
        "feature eligible.leader.replicas.version to 1",
        r"Replayed a FeatureLevelRecord setting feature eligible\.leader\.replicas\.version to 1\b",
        lambda _, found: {"detail": ELR},
    ),
    # DynamicConfigPublisher: all that is set, each time. A controller hides these values.
    message(
        "config",
        "Updating group",
        r"Updating group (?P<group>[^\n]{1,300}?) with new configuration : ?",
        _set_of_group,
    ),
    # ClientQuotaControlManager
    message(
        "quota",
        "Replayed ClientQuotaRecord for",
        rf"Replayed ClientQuotaRecord for {_ENTITY} setting (?P<name>\S+) to (?P<value>[^\n]*?)\.?{END}",
        _quota,
    ),
    message(
        "quota",
        "Replayed ClientQuotaRecord for",
        rf"Replayed ClientQuotaRecord for {_ENTITY} removing (?P<name>\S+?)\.?{END}",
        _quota,
    ),
    # ReplicationControlManager
    message(
        "reassignment",
        "Replayed partition assignment change",
        r"PartitionChangeRecord\(partitionId={partition}, .*?[ (]replicas=(?:\[{replicas}\]|null), "
        r"removingReplicas=(?P<removing>\[[\d, ]*\]|null), addingReplicas=(?P<adding>\[[\d, ]*\]|null)"
        r"[^\n]*? for topic (?P<topic>[\w.-]*\w)",
        _moves,
    ),
)
