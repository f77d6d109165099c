"""ACLs as people write them: `alice allow read,write on topic:orders`."""

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
_PERMISSIONS: Final = {"allow": Permission.ALLOW, "deny": Permission.DENY}
_TYPES: Final = {each.name.lower(): each for each in OPERATIONS}
T = TypeVar("T", Operation, ResourceType)


def read(text: str) -> list[Acl]:
    """The ACLs that a text means, one for each operation. A name that ends in `*` is a prefix; `*` alone
    means every resource of that type. Without a type a principal is a `User`. OptionError."""
    return list(_read(text))


def _read(text: str) -> Iterator[Acl]:
    words = text.split()
    at = next((index for index, word in enumerate(words) if word.lower() in _PERMISSIONS), 0)
    rest = [word.lower() if index % 2 else word for index, word in enumerate(words[at + 1 :])]
    if not at or len(rest) not in (3, 5) or rest[1::2] not in (["on"], ["on", "from"]):
        raise OptionError(f"{text!r} is no ACL: {HOW}")
    who, permission = " ".join(words[:at]), _PERMISSIONS[words[at].lower()]
    operations, resource, host = rest[0], rest[2], rest[4] if len(rest) == 5 else WILDCARD
    principal = who if ":" in who else f"User:{who}"
    kind, name, pattern = _resource(text, resource)
    for each in operations.split(","):
        operation = _named(
            text, each.lower(), {one.name.lower(): one for one in _possible(kind)}, "operation"
        )
        yield Acl(kind, name, pattern, principal, host, operation, permission)


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
