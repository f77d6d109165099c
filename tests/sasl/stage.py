"""Where a story is told: connections to the listener with SASL."""

import struct
from typing import Any, Final

from mockbroker.rig import stage
from mockbroker.rig.client import Client, DisconnectedError, encode, flexible, key_of
from mockbroker.rig.sasl_listener import bearer, unsecured
from mockbroker.rig.scene import CLOSED

from ..driving.scram import ScramClient, salted

SALT: Final = b"a salt of a test"
ITERATIONS: Final = 4096
DIGESTS: Final = {1: "sha256", 2: "sha512"}
_NEWEST: Final = {"sasl_handshake": 1, "sasl_authenticate": 2, "api_versions": 3, "metadata": 8}
_READ_S: Final = 5


class SaslStage(stage.Stage):
    """Logins on one broker."""

    def begin(self) -> None:
        self._logins: list[Login] = []

    def close(self) -> None:
        for each in self._logins:
            each.client.close()
        super().close()

    def login(self) -> "Login":
        """A new connection."""
        found = Login(self.brokers.client(self.online[0], sasl=True))
        self._logins.append(found)
        return found

    def set_scram(self, user: str, password: str, mechanism: int) -> None:
        """At the plain listener."""
        key = salted(password, SALT, ITERATIONS, DIGESTS[mechanism])
        upsertion = {"name": user, "mechanism": mechanism, "iterations": ITERATIONS, "salt": SALT}
        fields = {"deletions": [], "upsertions": [{**upsertion, "salted_password": key}]}
        (result,) = self.ask("alter_user_scram_credentials", fields)["results"]
        assert result["error_code"] == "NONE", result
        wanted = {"users": [{"name": user}]}
        self.brokers.until(lambda: self._knows(wanted, mechanism), f"the password of {user}")

    def _knows(self, wanted: Any, mechanism: int) -> bool:
        (found,) = self.ask("describe_user_scram_credentials", wanted)["results"]
        return any(int(each["mechanism"]) == mechanism for each in found["credential_infos"])

    def token(self, **claims: Any) -> bytes:
        """The client's first message of OAUTHBEARER with an unsecured token. `exp` and `iat` are seconds from
        now."""
        now_s = self.brokers.now_ms() // 1000
        for name in {"exp", "iat"} & set(claims):
            if isinstance(claims[name], int):
                claims[name] += now_s
        return bearer(unsecured(claims))


class Login:
    """A connection to the listener with SASL."""

    def __init__(self, client: Client) -> None:
        self.client = client
        client.timeout = _READ_S

    def ask(self, api: str, version: int | None = None, **fields: Any) -> Any:
        """The answer, in short: of ApiVersions and Metadata only the error or whether there is an answer."""
        asked = _NEWEST[api] if version is None else version
        try:
            answer = self.client.call(api, asked, fields)
        except DisconnectedError:
            return CLOSED
        if api in ("api_versions", "metadata"):
            return answer.get("error_code", "answered")
        if isinstance(answer.get("auth_bytes"), bytes):
            answer["auth_bytes"] = answer["auth_bytes"].decode()
        return answer

    def ask_unknown_version(self, api: str, version: int) -> str:
        """Whether a version that brokers don't have gets an answer."""
        _, header = self.client.header(key_of(api), version, flexible(api, _NEWEST[api]))
        body = encode(api, _NEWEST[api], {})
        found = self.write(struct.pack(">i", len(header + body)) + header + body)
        return CLOSED if found is CLOSED else "answered"

    def shake(self, mechanism: str, version: int = 1) -> Any:
        """SaslHandshake; mechanisms come in the order of hash tables."""
        answer = self.ask("sasl_handshake", version, mechanism=mechanism)
        if answer is not CLOSED:
            answer["mechanisms"] = sorted(answer["mechanisms"])
        return answer

    def say(self, token: bytes, version: int | None = None) -> Any:
        """SaslAuthenticate."""
        return self.ask("sasl_authenticate", version, auth_bytes=token)

    def raw(self, token: bytes) -> Any:
        """A token without a header, and the one that answers it."""
        return self.write(struct.pack(">i", len(token)) + token, answer=bytes.decode)

    def write(self, data: bytes, answer: Any = None) -> Any:
        """Any bytes, and the frame that answers them."""
        try:
            self.client.send_bytes(data)
            found = self.client.read_frame()
        except (DisconnectedError, BrokenPipeError):
            self.client.close()
            return CLOSED
        return answer(found) if answer is not None else found.hex()

    def plain(self, user: str, password: str, by: str = "") -> Any:
        self.shake("PLAIN")
        return self.say(plain(user, password, by))

    def scram(self, scram: ScramClient, mechanism: str, version: int | None = None) -> Any:
        """The whole login: what is the same each time of the two answers."""
        self.shake(mechanism)
        return self.scram_steps(scram, version)

    def scram_steps(self, scram: ScramClient, version: int | None = None, nonce: str | None = None) -> Any:
        first = self.say(scram.first(), version)
        if first is CLOSED or first["error_code"] != "NONE":
            return first
        last = self.say(scram.final(first["auth_bytes"].encode(), nonce=nonce), version)
        if last is not CLOSED and last["error_code"] == "NONE":
            last["auth_bytes"] = f"proved: {scram.proves(last['auth_bytes'].encode())}"
        return {**first, "auth_bytes": seen(scram)}, last


def seen(scram: ScramClient) -> dict[str, Any]:
    """The server's first message, of which the nonce is random."""
    parts = scram.parts
    names = list(parts)
    nonce = parts.pop("r")
    mine = nonce.startswith(scram.nonce) and len(nonce) > len(scram.nonce)
    return {"in this order": names, **parts, "begins with the client's": mine}


def plain(user: str, password: str, by: str = "") -> bytes:
    """RFC 4616."""
    return f"{by}\0{user}\0{password}".encode()
