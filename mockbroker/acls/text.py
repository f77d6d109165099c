"""ACLs as people write them: `alice allow read,write on topic:orders`."""

import re
from collections.abc import Iterator
from typing import Final, TypeVar

from ..errors import OptionError
from ..nearest import nearest
from .acl import (
    CLUSTER_NAME,
    OPERATIONS,
    WILDCARD,
    Acl,
    Operation,
    PatternType,
    Permission,
    ResourceType,
)

HOW: Final = (
    "write WHO allow|deny OPERATION[,OPERATION] on TYPE:NAME, such as "
    "'alice allow read,write on topic:orders' or 'User:* deny all on topic:pay-* from 10.0.0.7'"
)
_TYPES: Final = {each.name.lower(): each for each in OPERATIONS}
_SHAPE: Final = re.compile(r"(\S+) +(allow|deny) +([\w,]+) +on +(\S+)(?: +from +(\S+))?", re.IGNORECASE)
T = TypeVar("T", Operation, ResourceType)


def read(text: str) -> list[Acl]:
    """The ACLs that a text means, one for each operation. A name that ends in `*` is a prefix; `*` alone
    means every resource of that type. Without a type a principal is a `User`. OptionError."""
    return list(_read(text))


def _read(text: str) -> Iterator[Acl]:
    found = _SHAPE.fullmatch(text.strip())
    if found is None:
        raise OptionError(f"{text!r} is no ACL: {HOW}")
    who, permission, operations, resource, host = found.groups()
    principal = who if ":" in who else f"User:{who}"
    kind, name, pattern = _resource(text, resource)
    for each in operations.split(","):
        operation = _named(
            text, each.lower(), {one.name.lower(): one for one in _possible(kind)}, "operation"
        )
        allows = Permission[permission.upper()]
        yield Acl(kind, name, pattern, principal, host or WILDCARD, operation, allows)


def _possible(kind: ResourceType) -> tuple[Operation, ...]:
    return (*OPERATIONS[kind], Operation.ALL)


def _resource(text: str, resource: str) -> tuple[ResourceType, str, PatternType]:
    word, _, name = resource.partition(":")
    kind = _named(text, word.lower().replace("-", "_"), _TYPES, "resource type")
    if kind is ResourceType.CLUSTER:
        if name not in ("", CLUSTER_NAME):
            raise OptionError(f"{text!r}: the cluster has no other name: write 'on cluster'")
        return kind, CLUSTER_NAME, PatternType.LITERAL
    if not name:
        raise OptionError(f"{text!r} does not say which {word}: {HOW}")
    if name.endswith(WILDCARD) and name != WILDCARD:
        return kind, name.removesuffix(WILDCARD), PatternType.PREFIXED
    return kind, name, PatternType.LITERAL


def _named(text: str, given: str, known: dict[str, T], what: str) -> T:
    try:
        return known[given]
    except KeyError:
        raise OptionError(f"{text!r}: no {what} {given!r}{nearest(given, known)}") from None
