"""The ACLs of a cluster, and what they decide."""

from collections.abc import Iterator
from typing import Final

from .acl import ANYBODY, WILDCARD, Acl, Operation, PatternType, Permission, ResourceType

_IMPLYING: Final = {
    Operation.DESCRIBE: frozenset(
        (
            Operation.DESCRIBE,
            Operation.READ,
            Operation.WRITE,
            Operation.DELETE,
            Operation.ALTER,
            Operation.ALL,
        )
    ),
    Operation.DESCRIBE_CONFIGS: frozenset(
        (Operation.DESCRIBE_CONFIGS, Operation.ALTER_CONFIGS, Operation.ALL)
    ),
}
"""What allows an operation, where that is not only the operation itself
(`StandardAuthorizerData.IMPLIES_DESCRIBE`)."""

_Place = tuple[ResourceType, PatternType, str]
_Entries = dict[str, list[Acl]]
"""By principal."""


class AclTable:
    """ACLs in the order in which they were added. A check costs two look-ups and one for each length that a
    prefix has, however many ACLs there are (`StandardAuthorizerData.java`)."""

    __slots__ = ("_acls", "_by_place", "_lengths")

    def __init__(self) -> None:
        self._acls: dict[Acl, None] = {}
        self._by_place: dict[_Place, _Entries] = {}
        self._lengths: dict[ResourceType, dict[int, int]] = {}
        """By type and length of a prefix, how many prefixes there are."""

    def copy(self) -> "AclTable":
        found = AclTable()
        found._acls = dict(self._acls)
        found._by_place = {
            place: {principal: list(acls) for principal, acls in entries.items()}
            for place, entries in self._by_place.items()
        }
        found._lengths = {kind: dict(lengths) for kind, lengths in self._lengths.items()}
        return found

    def __iter__(self) -> Iterator[Acl]:
        return iter(self._acls)

    def __len__(self) -> int:
        return len(self._acls)

    def __contains__(self, acl: Acl) -> bool:
        return acl in self._acls

    def add(self, acl: Acl) -> None:
        """Adds one that is not there yet."""
        self._acls[acl] = None
        place = acl.resource_type, acl.pattern_type, acl.resource_name
        entries = self._by_place.get(place)
        if entries is None:
            entries = self._by_place[place] = {}
            if acl.pattern_type is PatternType.PREFIXED:
                lengths = self._lengths.setdefault(acl.resource_type, {})
                lengths[len(acl.resource_name)] = lengths.get(len(acl.resource_name), 0) + 1
        entries.setdefault(acl.principal, []).append(acl)

    def remove(self, acl: Acl) -> None:
        """KeyError."""
        del self._acls[acl]
        place = acl.resource_type, acl.pattern_type, acl.resource_name
        entries = self._by_place[place]
        entries[acl.principal].remove(acl)
        if entries[acl.principal]:
            return
        del entries[acl.principal]
        if entries:
            return
        del self._by_place[place]
        if acl.pattern_type is PatternType.PREFIXED:
            lengths = self._lengths[acl.resource_type]
            lengths[len(acl.resource_name)] -= 1
            if not lengths[len(acl.resource_name)]:
                del lengths[len(acl.resource_name)]

    def _concerning(self, kind: ResourceType, name: str) -> Iterator[_Entries]:
        by_place = self._by_place
        for literal in (name, WILDCARD):
            if entries := by_place.get((kind, PatternType.LITERAL, literal)):
                yield entries
        for length in self._lengths.get(kind, ()):
            if length <= len(name) and (entries := by_place.get((kind, PatternType.PREFIXED, name[:length]))):
                yield entries

    def decides(
        self, principal: str, host: str, operation: Operation, kind: ResourceType, name: str
    ) -> Permission | None:
        """Whether a resource's ACLs allow an operation to a principal at an address: DENY also if none of
        them fits. None if there are no ACLs for the resource."""
        allowing = _IMPLYING.get(operation, (operation, Operation.ALL))
        decided: Permission | None = None
        allowed = False
        for entries in self._concerning(kind, name):
            decided = Permission.DENY
            for who in (principal, ANYBODY):
                for acl in entries.get(who, ()):
                    if acl.host not in (WILDCARD, host):
                        continue
                    if acl.permission is Permission.ALLOW:
                        allowed = allowed or acl.operation in allowing
                    elif acl.operation in (operation, Operation.ALL):
                        return Permission.DENY
        return Permission.ALLOW if allowed else decided

    def allows_some(self, principal: str, host: str, operation: Operation, kind: ResourceType) -> bool:
        """Whether there may be a resource of that type with which an operation is allowed
        (`Authorizer.authorizeByResourceType`)."""
        allowed: list[Acl] = []
        denied: set[tuple[PatternType, str]] = set()
        for (its_kind, pattern, name), entries in self._by_place.items():
            if its_kind is not kind:
                continue
            for acl in (*entries.get(principal, ()), *entries.get(ANYBODY, ())):
                if acl.host not in (WILDCARD, host) or acl.operation not in (operation, Operation.ALL):
                    continue
                if acl.permission is Permission.ALLOW:
                    allowed.append(acl)
                else:
                    denied.add((pattern, name))
        if (PatternType.LITERAL, WILDCARD) in denied:
            return False
        return any(not self._outdone(acl, denied) for acl in allowed)

    @staticmethod
    def _outdone(acl: Acl, denied: set[tuple[PatternType, str]]) -> bool:
        """Whether everything that an ACL allows is denied by others."""
        name = acl.resource_name
        if acl.pattern_type is PatternType.LITERAL:
            if name == WILDCARD:
                return False
            if (PatternType.LITERAL, name) in denied:
                return True
        return any((PatternType.PREFIXED, name[:length]) in denied for length in range(1, len(name) + 1))
