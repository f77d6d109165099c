"""`group-operations`: which operations on a group there are to be authorized for (KIP-430, KIP-848).

Without an authorizer, a client that asks DescribeGroups for authorized operations sees all operations: up to
3.9 Read, Delete and Describe; since 4.0 also DescribeConfigs and AlterConfigs.
"""

from typing import Final

from ..behaviour import Behaviour

_READ, _DELETE, _DESCRIBE, _DESCRIBE_CONFIGS, _ALTER_CONFIGS = (1 << code for code in (3, 6, 8, 10, 11))
"""Bits: one for each code of `AclOperation`."""

_WITHOUT_CONFIGS: Final = _READ | _DELETE | _DESCRIBE

group_operations: Final = Behaviour[int](
    name="group-operations",
    summary="the operations on a group that DescribeGroups reports as authorized",
    answers={
        "without-configs": _WITHOUT_CONFIGS,
        "with-configs": _WITHOUT_CONFIGS | _DESCRIBE_CONFIGS | _ALTER_CONFIGS,
    },
    history=(("0.11", "without-configs"), ("4.0", "with-configs")),
    ids=("KIP-430", "KIP-848"),
)
