"""What clients have to be configured with, as each of them spells it."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any, Final, NamedTuple

from ..errors import OptionError
from ..nearest import nearest
from .access import Access
from .registry import operation
from .target import Target

Settings = dict[str, Any]
_OAUTH: Final = "OAUTHBEARER"
_UNSECURED: Final = "enable.sasl.oauthbearer.unsecure.jwt"
"""librdkafka makes such tokens itself."""
_JAVA: Final = "org.apache.kafka.common.security"
IN_PYTHON: Final = ("confluent-kafka", "aiokafka", "kafka-python")


class _Login(NamedTuple):
    mechanism: str
    user: str
    password: str


class _Way(NamedTuple):
    """How a client gets in: `login` is None without SASL. With `in_code`, it is given tokens otherwise."""

    servers: str
    protocol: str
    access: Access
    login: _Login | None
    in_code: bool = False

    @property
    def tls(self) -> bool:
        return self.protocol.endswith("SSL")

    def files(self, ca: str, certificate: str, key: str) -> Settings:
        """The files of PEM under these names."""
        access = self.access
        found = {ca: access.ca, certificate: access.client, key: access.client_key} if self.tls else {}
        return {name: str(path) for name, path in found.items() if path is not None}


@operation("clients settings", "GET", "/clients/settings/{client}")
def settings(
    target: Target,
    client: Annotated[
        str, "confluent-kafka, java, aiokafka, kafka-python, kafkajs, franz-go, sarama, kafka-go."
    ],
    user: Annotated[str | None, "Whose name and password; by default the first user's."] = None,
    listener: Annotated[str | None, "By which listener; by default the first."] = None,
    mechanism: Annotated[str | None, "By which mechanism of SASL; by default the best."] = None,
) -> dict[str, Any]:
    """Shows what a client has to be configured with, as it spells it: addresses, certificates, a login.
    For libraries of Go the names are those of options or fields, and certificates are files."""
    return _CLIENTS[_known(client)](_way(target.access, user, listener, mechanism))


def in_code(
    target: Target, client: str, user: str | None, listener: str | None, mechanism: str | None
) -> tuple[Settings, str | None]:
    """The same for a program in Python; and for whom it is to be given what asks for tokens, if anybody."""
    return settings_of(target.access, client, user, listener, mechanism)


def settings_of(
    access: Access,
    client: str,
    user: str | None = None,
    listener: str | None = None,
    mechanism: str | None = None,
) -> tuple[Settings, str | None]:
    """As `in_code`, of any cluster."""
    way = _way(access, user, listener, mechanism)
    code = way._replace(in_code=_known(client) in IN_PYTHON)
    found = _CLIENTS[client](code)
    given = (
        way.login is not None and way.login.mechanism == _OAUTH and code.in_code and _UNSECURED not in found
    )
    return found, way.login.user if way.login is not None and given else None


def _known(client: str) -> str:
    """OptionError."""
    if client not in _CLIENTS:
        raise OptionError(f"no client {client!r}{nearest(client, _CLIENTS)}")
    return client


def _way(access: Access, user: str | None, listener: str | None, mechanism: str | None) -> _Way:
    found = access.listener(listener)
    login = None
    if found.protocol.startswith("SASL"):
        chosen = access.mechanism(found.name, mechanism)
        login = _Login(chosen, *access.user(user, chosen))
    return _Way(found.servers, found.protocol, access, login)


def _librdkafka(way: _Way) -> Settings:
    found = {"bootstrap.servers": way.servers, "security.protocol": way.protocol}
    found |= way.files("ssl.ca.location", "ssl.certificate.location", "ssl.key.location")
    if way.login is None:
        return found
    mechanism, user, password = way.login
    if mechanism == _OAUTH and way.access.signed:
        found["sasl.mechanism"] = mechanism
        return found if way.in_code else found | _oidc(way, user)
    if mechanism == _OAUTH:
        unsecured = {_UNSECURED: "true"}
        claims = {"sasl.oauthbearer.config": f"principal={user} lifeSeconds=3600"}
        return {**found, "sasl.mechanism": mechanism, **unsecured, **claims}
    return {**found, "sasl.mechanism": mechanism, "sasl.username": user, "sasl.password": password}


def _java(way: _Way) -> Settings:
    access = way.access
    found = {"bootstrap.servers": way.servers, "security.protocol": way.protocol}
    if way.tls and access.truststore is not None:
        found |= _store("truststore", access.truststore, access.password)
    elif way.tls and access.ca is not None:
        found |= {"ssl.truststore.type": "PEM", "ssl.truststore.location": str(access.ca)}
    if way.tls and access.keystore is not None:
        found |= {**_store("keystore", access.keystore, access.password), "ssl.key.password": access.password}
    if way.login is None:
        return found
    mechanism, user, password = way.login
    named = f"username={_quoted(user)} password={_quoted(password)}"
    module = {"PLAIN": "plain.PlainLoginModule", _OAUTH: "oauthbearer.OAuthBearerLoginModule"}
    if mechanism == _OAUTH and access.signed:
        login = f"clientId={_quoted(user)} clientSecret={_quoted(access.token_secret)}"
        return {
            **found,
            "sasl.mechanism": mechanism,
            "sasl.jaas.config": f"{_JAVA}.{module[_OAUTH]} required {login};",
            "sasl.login.callback.handler.class": f"{_JAVA}.oauthbearer.OAuthBearerLoginCallbackHandler",
            "sasl.oauthbearer.token.endpoint.url": _token_url(way),
        }
    options = f"unsecuredLoginStringClaim_sub={_quoted(user)}" if mechanism == _OAUTH else named
    path = f"{_JAVA}.{module.get(mechanism, 'scram.ScramLoginModule')}"
    return {**found, "sasl.mechanism": mechanism, "sasl.jaas.config": f"{path} required {options};"}


def _oidc(way: _Way, user: str) -> Settings:
    """Of librdkafka, which asks for tokens itself."""
    return {
        "sasl.oauthbearer.method": "oidc",
        "sasl.oauthbearer.client.id": user,
        "sasl.oauthbearer.client.secret": way.access.token_secret,
        "sasl.oauthbearer.token.endpoint.url": _token_url(way),
    }


def _token_url(way: _Way) -> str:
    """OptionError."""
    if way.access.token_url is None:
        raise OptionError("this client asks for tokens by HTTP: give the cluster a control API")
    return way.access.token_url


def _store(kind: str, path: Path, password: str) -> Settings:
    names = f"ssl.{kind}.type", f"ssl.{kind}.location", f"ssl.{kind}.password"
    return dict(zip(names, ("PKCS12", str(path), password), strict=True))


def _quoted(text: str) -> str:
    """As JAAS reads it."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _python(way: _Way) -> Settings:
    """kafka-python and aiokafka."""
    found = {"bootstrap_servers": way.servers, "security_protocol": way.protocol}
    found |= way.files("ssl_cafile", "ssl_certfile", "ssl_keyfile")
    if way.login is None:
        return found
    mechanism, user, password = way.login
    if mechanism == _OAUTH:
        _refuse_tokens(way, "sasl_oauth_token_provider")
        return {**found, "sasl_mechanism": mechanism}
    login = {"sasl_plain_username": user, "sasl_plain_password": password}
    return {**found, "sasl_mechanism": mechanism, **login}


def _kafkajs(way: _Way) -> Settings:
    found: Settings = {"brokers": way.servers.split(",")}
    if way.tls:
        files = way.files("ca", "cert", "key")
        pem = {name: Path(path).read_text() for name, path in files.items()}
        found["ssl"] = {**pem, "ca": [pem["ca"]]} if "ca" in pem else True
    if way.login is not None:
        mechanism, user, password = way.login
        _refuse_tokens(way, "oauthBearerProvider")
        found["sasl"] = {"mechanism": mechanism.lower(), "username": user, "password": password}
    return found


def _go(
    seeds: str, tls: str, login: tuple[str, str, str], on: Mapping[str, str]
) -> Callable[[_Way], Settings]:
    """Of a library of Go: the names of addresses, of the TLS configuration, and of what is logged in with;
    and what switches TLS and SASL on."""

    def found(way: _Way) -> Settings:
        settings: Settings = {seeds: way.servers.split(",")}
        if way.tls:
            settings |= dict.fromkeys([on["tls"]] if "tls" in on else [], True)
            names = f"{tls}.RootCAs", f"{tls}.Certificates.certFile", f"{tls}.Certificates.keyFile"
            settings |= way.files(*names) or {tls: {}}
        if way.login is not None:
            _refuse_tokens(way, "a function that gives tokens")
            settings |= dict.fromkeys([on["sasl"]] if "sasl" in on else [], True)
            settings |= dict(zip(login, way.login, strict=True))
        return settings

    return found


def _refuse_tokens(way: _Way, instead: str) -> None:
    if way.login is not None and way.login.mechanism == _OAUTH and not way.in_code:
        raise OptionError(
            f"this client takes tokens from code of yours ({instead}), not from settings: POST /tokens and "
            "`mockbroker ctl tokens issue` give some"
        )


_CLIENTS: Final[Mapping[str, Callable[[_Way], Settings]]] = {
    "confluent-kafka": _librdkafka,
    "java": _java,
    "aiokafka": _python,
    "kafka-python": _python,
    "kafkajs": _kafkajs,
    "franz-go": _go("SeedBrokers", "DialTLSConfig", ("SASL.Mechanism", "SASL.User", "SASL.Pass"), {}),
    "sarama": _go(
        "Addrs",
        "Net.TLS.Config",
        ("Net.SASL.Mechanism", "Net.SASL.User", "Net.SASL.Password"),
        {"tls": "Net.TLS.Enable", "sasl": "Net.SASL.Enable"},
    ),
    "kafka-go": _go(
        "Brokers",
        "Transport.TLS",
        ("Transport.SASL.Mechanism", "Transport.SASL.Username", "Transport.SASL.Password"),
        {},
    ),
}
