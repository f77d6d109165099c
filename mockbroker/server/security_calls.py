"""How clients log in to a running cluster, and what goes wrong with that."""

from functools import partial
from typing import TYPE_CHECKING, Any, Literal

from .contents import Contents

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from ..control.handshakes import HandshakeState
    from ..control.listeners import ListenerState
    from ..control.users import UserState
    from ..security import CertificateKind, HandshakeFault, TokenKind

__tracebackhide__ = True

ClientName = Literal[
    "confluent-kafka", "java", "aiokafka", "kafka-python", "kafkajs", "franz-go", "sarama", "kafka-go"
]


def with_context(client: str, found: dict[str, Any]) -> dict[str, Any]:
    """With an object in place of files, where a client takes no others: aiokafka."""
    if client != "aiokafka" or not found["security_protocol"].endswith("SSL"):
        return found
    import ssl

    context = ssl.create_default_context(cafile=found.pop("ssl_cafile", None))
    if certificate := found.pop("ssl_certfile", None):
        context.load_cert_chain(certificate, found.pop("ssl_keyfile", None))
    return {**found, "ssl_context": context}


class SecurityCalls(Contents):
    """Those of `RunningCluster` that are about listeners, certificates, users and what they may do."""

    def _act(self, verb: str, **given: Any) -> Any:
        """Does one of `mockbroker.verbs`; what the operation of control answers."""
        from ..control import verbs

        return self.do(verbs.do, verb, **given)

    def client_settings(
        self,
        client: "ClientName",
        *,
        user: str | None = None,
        listener: str | None = None,
        mechanism: str | None = None,
    ) -> dict[str, Any]:
        """What a client has to be configured with, as it spells it: addresses, certificates, a login. By
        default the first user logs in at the first listener by the best mechanism. Clients of Python that
        take tokens from code get a function or an object that asks the cluster for one. KeyError for a user
        or a listener that there is not; OptionError."""
        from ..control import clients

        found, holder = self.do(clients.in_code, client, user, listener, mechanism)
        if holder is not None:
            from .token_providers import provider

            ask = partial(self.do, lambda target: target.access.issue_to_client(holder))
            found |= provider(client, ask)
        return with_context(client, found)

    def show_certificate(
        self, certificate: "CertificateKind | str | Path", key: "str | Path | None" = None
    ) -> None:
        """Has brokers show another certificate to clients that connect from now on: "expired",
        "not-yet-valid", "another-host", "another-authority", or "valid" again; or a file of your own, in PEM.
        Connections that there are stay, as in Kafka when a certificate is changed while brokers run.
        ConflictError without TLS; OptionError."""
        from ..control import certificates

        self.do(certificates.show_certificate, str(certificate), None if key is None else str(key))

    def break_handshakes(
        self, how: "HandshakeFault", *, broker: int | None = None, times: int | None = None
    ) -> None:
        """Has TLS handshakes go wrong of clients that connect from now on, to one broker or all, so many
        times or for ever. "stall": the client gets no answer; "cut": the connection is closed in the midst;
        "plain-text": the answer is no TLS. ConflictError without TLS, or if they do so already; OptionError,
        KeyError."""
        from ..control import handshakes

        self.do(handshakes.break_, how, broker, times)

    def mend_handshakes(self) -> None:
        """Has TLS handshakes succeed again. ConflictError if they do."""
        from ..control import handshakes

        self.do(handshakes.mend)

    def handshakes(self) -> "HandshakeState":
        """How TLS handshakes go wrong, and how many did. ConflictError without TLS."""
        from ..control import handshakes

        return self.do(handshakes.show)

    def listener_states(self) -> "list[ListenerState]":
        """The listeners of every broker, and whether they are open."""
        from ..control import listeners

        return self.do(listeners.list_listeners)

    def close_listener(self, broker: int, listener: str) -> None:
        """Closes one of a broker's listeners: connections that came by it end, and nobody can connect there.
        The broker goes on with its other listeners, and clients are still told of this one. ConflictError if
        it is closed already; KeyError."""
        self._act("close-listener", broker=broker, listener=listener)

    def open_listener(self, broker: int, listener: str) -> None:
        """Opens a broker's listener again. ConflictError if it is open; KeyError."""
        self._act("open-listener", broker=broker, listener=listener)

    def acls(self) -> list[str]:
        """The ACLs, as `add_acl` reads them, in the order in which they were added."""
        from ..control import acls

        return self.do(acls.acls)

    def add_acl(self, acl: str) -> None:
        """Adds ACLs, as CreateAcls does: from now on clients may do more, or less. Written as in
        `Security.acls`, such as "alice allow read,write on topic:orders". ConflictError if they are there, or
        if the cluster has neither `acls` nor `super_users`; OptionError."""
        self._act("add-acl", acl=acl)

    def remove_acl(self, acl: str) -> None:
        """Removes ACLs, as DeleteAcls does, written as they were when they were added. ConflictError if none
        of them is there; OptionError."""
        self._act("remove-acl", acl=acl)

    def users(self) -> "list[UserState]":
        """The users who log in with passwords, and by which mechanisms each can log in."""
        from ..control import users

        return self.do(users.users)

    def set_password(self, user: str, password: str) -> None:
        """Sets what a user, perhaps a new one, logs in with from now on, by each mechanism. Sessions that
        there are last until the client has to log in again (`connections.max.reauth.ms`), as in Kafka.
        ConflictError if that is the password already, or nobody logs in with one; OptionError."""
        self._act("set-password", user=user, password=password)

    def remove_user(self, user: str) -> None:
        """Removes a user, who can not log in from now on. Sessions that there are last until the client has
        to log in again. ConflictError if there is no such user."""
        self._act("remove-user", user=user)

    def token(
        self,
        user: str,
        *,
        kind: "TokenKind" = "valid",
        expires_in: int = 3600,
        scope: str | None = None,
        claims: "Mapping[str, Any] | None" = None,
    ) -> str:
        """A token with which a client logs in by OAUTHBEARER, valid for `expires_in` seconds; or on purpose
        one with which it can't: "expired", "not-yet-valid", "another-key", "unknown-key", "another-issuer",
        "another-audience" or "unsigned". `claims` are in place of what it would say; None takes one away.
        ConflictError without OAUTHBEARER, or with a JWKS file of your own; OptionError."""
        said = claims or {}
        found = self.do(lambda target: target.access.issue(user, kind, expires_in, scope, said))
        return str(found.token)
