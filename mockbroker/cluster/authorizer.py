"""Who may do what: the authorizer of brokers, if they have one (KIP-11, KIP-801)."""

from typing import Final

from ..acls import AclTable, Operation, Permission, ResourceType
from ..acls.acl import CLUSTER_NAME, OPERATIONS
from ..configs import ConfigError, Configs
from ..outcome import Client
from ..security import AUTHORIZER
from .broker import Broker
from .notes import Notes, Refused

CLASSES: Final = (
    AUTHORIZER,
    "kafka.security.authorizer.AclAuthorizer",
    "kafka.security.auth.SimpleAclAuthorizer",
)
"""Kafka's own: with KRaft, with ZooKeeper, and before 2.4."""
_NAME: Final = "authorizer.class.name"
_UNDENIABLE: Final = "hardcode"
"""The resource that Kafka asks for to learn who may do anything (`Authorizer.authorizeByResourceType`)."""


class Authorizer:
    """`super_users` may do everything. `by_default` is whether everybody may do what no ACL is about
    (`allow.everyone.if.no.acl.found`)."""

    def __init__(self, super_users: frozenset[str], *, by_default: bool) -> None:
        self.super_users = super_users
        self.by_default = by_default

    @classmethod
    def of(cls, configs: Configs) -> "Authorizer | None":
        """As brokers are configured. ConfigError."""
        name = configs.broker_text(_NAME)
        if not name:
            return None
        if name not in CLASSES:
            raise ConfigError(f"{_NAME}={name}: there is only Kafka's own, {CLASSES[0]}")
        users = (configs.broker_text("super.users") or "").split(";")
        found = frozenset(each.strip() for each in users if each.strip())
        for each in found:
            if ":" not in each:
                raise ConfigError(f"super.users={each}: write User:{each}; several are separated by ';'")
        return cls(found, by_default=configs.broker_bool("allow.everyone.if.no.acl.found"))


class Asker:
    """The client of a request, as an authorizer sees it. Of super users nobody asks."""

    __slots__ = ("_authorizer", "_broker", "_client_id", "_notes", "host", "principal")

    def __init__(
        self, authorizer: Authorizer, broker: Broker, client: Client, client_id: str | None, notes: Notes
    ) -> None:
        self._authorizer = authorizer
        self._broker = broker
        self._client_id = client_id
        self._notes = notes
        self.principal = client.principal
        self.host = client.host.removeprefix("/")

    @property
    def _acls(self) -> AclTable:
        """Those that the broker has learned of."""
        return self._broker.image.acls

    def may(
        self,
        operation: Operation,
        kind: ResourceType,
        name: str = CLUSTER_NAME,
        *,
        quietly: bool = False,
    ) -> bool:
        """Whether the client may do that with a resource. If not, that is noted, unless it is asked `quietly`
        because the client does not need it, or did not ask for it (`Action.logIfDenied`)."""
        found = self._acls.decides(self.principal, self.host, operation, kind, name)
        allowed = self._authorizer.by_default if found is None else found is Permission.ALLOW
        if not allowed and not quietly:
            self._notes.not_allowed(self._client_id, self._named(operation, kind, name))
        elif allowed and self._notes.refused:
            self._notes.refused.pop(self._named(operation, kind, name), None)
        return allowed

    def _named(self, operation: Operation, kind: ResourceType, name: str) -> Refused:
        return Refused(self.principal, operation, kind, name)

    def sees(self, kind: ResourceType, name: str) -> bool:
        """Whether the client is shown something that it did not name."""
        return self.may(Operation.DESCRIBE, kind, name, quietly=True)

    def may_some(self, operation: Operation, kind: ResourceType) -> bool:
        """Whether there may be a resource of that type with which the client may do that."""
        return self.may(operation, kind, _UNDENIABLE, quietly=True) or self._acls.allows_some(
            self.principal, self.host, operation, kind
        )

    def operations(self, kind: ResourceType, name: str = CLUSTER_NAME, mask: int = -1) -> int:
        """The bits of what the client may do with a resource (KIP-430), of those in `mask`."""
        asked = [each for each in OPERATIONS[kind] if mask >> each & 1]
        return sum(1 << each for each in asked if self.may(each, kind, name, quietly=True))
