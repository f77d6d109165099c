"""How clients reach brokers and prove who they are: listeners, TLS and logins. The same on the command line,
in Python and in files."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Final, Literal, get_args

from .acls import Acl, text
from .errors import OptionError, UnknownOptionError
from .nearest import nearest

CertificateKind = Literal["valid", "expired", "not-yet-valid", "another-host", "another-authority"]
"""What is the matter with a broker's certificate."""
TokenKind = Literal[
    "valid",
    "expired",
    "not-yet-valid",
    "another-key",
    "unknown-key",
    "another-issuer",
    "another-audience",
    "unsigned",
]
"""What is the matter with a token of OAUTHBEARER."""
HandshakeFault = Literal["stall", "cut", "plain-text"]
"""How a TLS handshake goes wrong."""
HANDSHAKE_FAULTS: Final = get_args(HandshakeFault)
HOUR_S: Final = 3600
ClientAuth = Literal["none", "requested", "required"]
PROTOCOLS: Final = ("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL")
SCRAM: Final = ("SCRAM-SHA-256", "SCRAM-SHA-512")
AUTHORIZER: Final = "org.apache.kafka.metadata.authorizer.StandardAuthorizer"
MECHANISMS: Final = ("PLAIN", *SCRAM, "OAUTHBEARER")


@dataclass(frozen=True, kw_only=True)
class Security:
    """How clients reach brokers and prove who they are. OptionError.

    - `tls`: clients use TLS. A certificate authority for this cluster alone is made, and its files are named
      at the start; that needs the extra `security`. Or give your own files.
    - `sasl`: the mechanisms by which clients log in, as Kafka names them, in small letters too.
    - `users`: their names and passwords, for PLAIN and for each mechanism of SCRAM that there is.
    - `listeners`: names and protocols of several listeners on each broker, such as `{"INTERNAL": "PLAINTEXT",
      "PUBLIC": "SASL_SSL"}`. Clients are told the addresses of the listener by which they came. By default
      there is one, whose protocol is what `tls` and `sasl` say.
    - `client_auth`: whether clients have to show a certificate (`ssl.client.auth`).
    - `certificate`, `key`, `ca`: PEM files: the brokers' certificate, its key (by default in the same file),
      and the authorities that clients' certificates are checked with.
    - `acls`: what users may do, such as `"alice allow read,write on topic:orders"` or
      `"User:* deny all on topic:pay-* from 10.0.0.7"`; nobody may do more, but for `super_users`, who may do
      everything. Without both, everybody may do everything.
    - `signed_tokens`: tokens of OAUTHBEARER are signed, as with Kafka's OAuthBearerValidatorCallbackHandler
      (KIP-768). A key for this cluster alone is made, whose JWKS file is named at the start; that needs the
      extra `security`. Or `jwks` is a file of your own.
    - `issuer`, `audience`: what signed tokens have to have (`sasl.oauthbearer.expected.issuer` and
      `.audience`); by default they may have any issuer. `scope_claim` and `sub_claim` are the claims that
      have the scope and the user.
    - `token_expires_in`: for how many seconds tokens of OAUTHBEARER are valid that clients ask for.
    - `folder`: where the files of the authority, and the JWKS file, are written; by default in a folder that
      is removed at the end.
    """

    tls: bool = False
    sasl: str | Sequence[str] = ()
    users: Mapping[str, str] = field(default_factory=dict, repr=False)
    listeners: Mapping[str, str] = field(default_factory=dict)
    client_auth: ClientAuth | str = "none"
    certificate: str | Path | None = None
    key: str | Path | None = None
    ca: str | Path | None = None
    folder: str | Path | None = None
    signed_tokens: bool = False
    jwks: str | Path | None = None
    issuer: str | None = None
    audience: str | Sequence[str] = ()
    scope_claim: str = "scope"
    sub_claim: str = "sub"
    token_expires_in: int = HOUR_S
    acls: Sequence[str] = ()
    super_users: Sequence[str] = ()

    @classmethod
    def of(cls, given: "Security | Mapping[str, Any] | None") -> "Security | None":
        """From what a user wrote. OptionError, UnknownOptionError."""
        if given is None or isinstance(given, cls):
            return given
        if not isinstance(given, Mapping):
            raise OptionError(f"security is {given!r}: give a mockbroker.Security, or a dict")
        known = [each.name for each in fields(cls)]
        for name in given:
            if name not in known:
                raise UnknownOptionError(f"security has no option {name!r}{nearest(str(name), known)}")
        return cls(**given)

    def __post_init__(self) -> None:
        for name in ("tls", "signed_tokens"):
            if not isinstance(getattr(self, name), bool):
                raise OptionError(f"{name} is {getattr(self, name)!r}: give True or False")
        for name in ("users", "listeners"):
            found = getattr(self, name)
            if not isinstance(found, Mapping) or not all(
                isinstance(each, str) for each in (*found, *found.values())
            ):
                # Passwords are not shown.
                raise OptionError(f"{name} of security: give a dict of texts")
        if "" in (*self.users, *self.users.values()):
            raise OptionError("a user of security has no name or no password")
        for mechanism in self.mechanisms:
            if mechanism not in MECHANISMS:
                raise OptionError(f"no mechanism {mechanism!r}{nearest(mechanism, MECHANISMS)}")
        for name, protocol in self.protocols.items():
            if not name or not name.replace("_", "").isalnum() or not name.isascii():
                raise OptionError(f"listener {name!r}: use letters, digits and _")
            if protocol not in PROTOCOLS:
                raise OptionError(f"listener {name} has the protocol {protocol!r}: {', '.join(PROTOCOLS)}")
        if self.client_auth not in get_args(ClientAuth):
            raise OptionError(f"client_auth is {self.client_auth!r}: {', '.join(get_args(ClientAuth))}")
        for name in ("issuer", "scope_claim", "sub_claim"):
            if (found := getattr(self, name)) is not None and not (isinstance(found, str) and found.strip()):
                raise OptionError(f"{name} is {found!r}: give a text")
        if not all(isinstance(each, str) and each.strip() and "," not in each for each in self.audiences):
            raise OptionError(f"audience is {self.audience!r}: give a text without commas, or a list of them")
        for name in ("acls", "super_users"):
            found = getattr(self, name)
            if isinstance(found, str) or not all(isinstance(each, str) for each in found):
                raise OptionError(f"{name} is {found!r}: give a list of texts")
        self.entries()
        self._check_together()

    def _check_together(self) -> None:
        tls, sasl = self.uses_tls, self.uses_sasl
        if sasl and not self.mechanisms:
            raise OptionError("a listener has SASL: say by which mechanisms clients log in, as sasl='PLAIN'")
        if self.mechanisms and not sasl:
            raise OptionError("sasl is given, but no listener has SASL: SASL_PLAINTEXT or SASL_SSL")
        if self.users and not {"PLAIN", *SCRAM} & set(self.mechanisms):
            raise OptionError("users have passwords for PLAIN and SCRAM only: add one of these to sasl")
        if "PLAIN" in self.mechanisms and not self.users:
            raise OptionError("nobody could log in by PLAIN: give users, as {'alice': 'secret'}")
        if self.tls and not tls:
            raise OptionError("tls is given, but no listener has TLS: SSL or SASL_SSL")
        if not tls and (self.client_auth != "none" or self.certificate):
            raise OptionError("client_auth and certificate are for TLS: add tls=True")
        self._check_tokens()
        if self.certificate is None and (self.key or self.ca):
            raise OptionError("give the brokers' certificate too, not only a key or an authority")
        makes_files = (tls and self.certificate is None) or (self.signed_tokens and self.jwks is None)
        if self.folder is not None and not makes_files:
            raise OptionError(
                "no files are written: leave out the folder, or add tls=True or signed_tokens=True, without "
                "files of your own"
            )
        if self.certificate is not None and self.client_auth != "none" and self.ca is None:
            raise OptionError("clients' certificates can't be checked: give ca, the authorities' file")

    def _check_tokens(self) -> None:
        expires = self.token_expires_in
        if not isinstance(expires, int) or isinstance(expires, bool) or expires < 1:
            raise OptionError(f"token_expires_in is {expires!r}: give seconds, 1 or more")
        if expires != HOUR_S and "OAUTHBEARER" not in self.mechanisms:
            raise OptionError("token_expires_in is for OAUTHBEARER: add it to sasl")
        if self.signed_tokens and "OAUTHBEARER" not in self.mechanisms:
            raise OptionError("signed_tokens are for OAUTHBEARER: add it to sasl")
        if self.signed_tokens:
            return
        said = (self.jwks, self.issuer, self.audiences, self.scope_claim != "scope", self.sub_claim != "sub")
        if any(said):
            raise OptionError(
                "jwks, issuer, audience, scope_claim and sub_claim are about signed tokens: add "
                "signed_tokens=True"
            )

    @property
    def audiences(self) -> tuple[str, ...]:
        """Each once."""
        given = [self.audience] if isinstance(self.audience, str) else self.audience
        return tuple(dict.fromkeys(given))

    @property
    def mechanisms(self) -> tuple[str, ...]:
        """As Kafka names them, each once."""
        given = [self.sasl] if isinstance(self.sasl, str) else self.sasl
        return tuple(dict.fromkeys(str(each).upper() for each in given))

    @property
    def protocols(self) -> dict[str, str]:
        """By name of the listener, its protocol."""
        if self.listeners:
            return dict(self.listeners)
        protocol = "SASL_" * bool(self.mechanisms) + ("SSL" if self.tls else "PLAINTEXT")
        return {protocol: protocol}

    @property
    def uses_tls(self) -> bool:
        return any(each.endswith("SSL") for each in self.protocols.values())

    @property
    def uses_sasl(self) -> bool:
        return any(each.startswith("SASL") for each in self.protocols.values())

    def entries(self) -> list[Acl]:
        """The ACLs that `acls` mean."""
        return [acl for each in self.acls for acl in text.read(each)]

    def config(self, given: Mapping[str, str]) -> dict[str, str]:
        """The configuration of brokers that follows, with what is `given` besides."""
        found = {}
        if self.client_auth != "none":
            found["ssl.client.auth"] = self.client_auth
            for name, protocol in self.protocols.items():
                own = f"listener.name.{name.lower()}.ssl.client.auth"
                # Kafka asks nobody at SASL_SSL who is not to be asked at this very listener (KIP-684).
                if protocol == "SASL_SSL" and own not in given:
                    found[own] = self.client_auth
        if self.mechanisms:
            found["sasl.enabled.mechanisms"] = ",".join(self.mechanisms)
        if self.signed_tokens:
            found |= self._token_config()
        if self.acls or self.super_users:
            found["authorizer.class.name"] = AUTHORIZER
        if self.super_users:
            users = [each if ":" in each else f"User:{each}" for each in self.super_users]
            found["super.users"] = ";".join(users)
        for name, value in found.items():
            if given.get(name, value) != value:
                raise OptionError(f"config has {name}={given[name]}, but security says {value}")
        return {**given, **found}

    def _token_config(self) -> dict[str, str]:
        found = {
            "expected.issuer": self.issuer,
            "expected.audience": ",".join(self.audiences),
            "scope.claim.name": self.scope_claim if self.scope_claim != "scope" else None,
            "sub.claim.name": self.sub_claim if self.sub_claim != "sub" else None,
        }
        return {f"sasl.oauthbearer.{name}": value for name, value in found.items() if value}
