"""The table of operations."""

from collections.abc import Mapping
from typing import Final

from ..nearest import nearest
from . import (
    acls,
    brokers,
    certificates,
    clients,
    configs,
    faults,
    group_offsets,
    group_waits,
    groups,
    handshakes,
    hints,
    partitions,
    policies,
    records,
    telemetry,
    time,
    tokens,
    topics,
    transactions,
    users,
    verbs,
)
from .registry import REGISTERED, Operation

_MODULES: Final = (
    *(brokers, clients, topics, records, partitions, verbs, groups, group_waits, group_offsets, configs),
    *(transactions, telemetry, acls, users, tokens, certificates, handshakes, policies, faults, time, hints),
)
OPERATIONS: Final[Mapping[str, Operation]] = {
    name: REGISTERED[name]
    for module in _MODULES
    for name in REGISTERED
    if REGISTERED[name].function.__module__ == module.__name__
}
"""By name, in the order in which they are listed."""


def find(name: str) -> Operation:
    """The operation of that name, such as `brokers stop`. ValueError names the nearest."""
    if name not in OPERATIONS:
        raise ValueError(f"no operation {name!r}{nearest(name, OPERATIONS)}")
    return OPERATIONS[name]
