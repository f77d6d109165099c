"""Where a story is told: users that have logged in make tokens, and log in with them."""

import base64
import struct
from typing import Any, Final, NamedTuple

from mockbroker.protocol.errors import error_name
from mockbroker.rig.client import Client, DisconnectedError, decode, flexible
from mockbroker.rig.scene import CLOSED

from ..acls.stage import AclStage
from ..driving.scram import ScramClient
from ..sasl.stage import Login, seen

_MINUTE_MS: Final = 60_000


class Token(NamedTuple):
    id: str
    hmac: bytes

    @property
    def password(self) -> str:
        return base64.b64encode(self.hmac).decode()


class TokenStage(AclStage):
    """Answers show times as minutes from now, and tokens by the names that a story gives them."""

    def begin(self) -> None:
        super().begin()
        self._named: dict[str, str] = {}

    def asks_for(self, client: Client, api: str, version: int | None = None, **fields: Any) -> Any:
        """The answer to a request for tokens."""
        asked = self.newest(f"{api}_delegation_token") if version is None else version
        try:
            pending = client.send(f"{api}_delegation_token", asked, fields)
            frame = client.read_frame()
        except DisconnectedError:
            return CLOSED
        if api == "describe":
            return self._described(decode(pending.api, asked, frame))
        body = frame[4 + flexible(pending.api, asked) :]
        return self._created(body, asked) if api == "create" else self._expiry(body)

    def create(self, client: Client, name: str, *renewers: str, lifetime_ms: int = -1, **more: Any) -> Token:
        """A token that the client's broker knows."""
        answer = self.asks_for(
            client, "create", renewers=principals(*renewers), max_lifetime=lifetime_ms, **more
        )
        assert answer["error"] == "NONE", answer
        token = Token(*answer.pop("token"))
        self._named[token.id] = name
        self.brokers.until(lambda: self.knows(client, token), f"the token {name}")
        return token

    def knows(self, client: Client, token: Token) -> bool:
        return any(
            each["token"] == self._named[token.id]
            for each in self.asks_for(client, "describe", owners=None)["tokens"]
        )

    def log_in(
        self, token: Token, digest: str = "sha256", more: str = ",tokenauth=true", **wrong: str
    ) -> tuple[Login, Any]:
        """A new connection, and what its login was answered."""
        given = {"user": token.id, "password": token.password, **wrong}
        login = self.login()
        scram = ScramClient(given["user"], given["password"], digest, more=more)
        return login, self.log_in_again(login, scram, digest)

    def log_in_again(self, login: Login, scram: ScramClient, digest: str = "sha256") -> Any:
        shaken = login.shake(f"SCRAM-SHA-{digest.removeprefix('sha')}")
        if shaken is CLOSED or shaken["error_code"] != "NONE":
            return shaken
        first = login.say(scram.first())
        if first is CLOSED or first["error_code"] != "NONE":
            return first
        last = login.say(scram.final(first["auth_bytes"].encode()))
        shown = seen(scram)
        salt = base64.b64decode(shown.pop("s"))
        if last is CLOSED or last["error_code"] != "NONE":
            return shown, last
        last["auth_bytes"] = f"proved: {scram.proves(last['auth_bytes'].encode())}"
        last["session_lifetime"] = f"up to {-(-last['session_lifetime'] // 5000) * 5} s"
        return {**shown, "salt": salt.isalnum()}, last

    # -- answers

    def _created(self, body: bytes, version: int) -> Any:
        found = _Reader(body, version >= 2)
        answer: dict[str, Any] = {"error": error_name(found.number(">h"))}
        names = ["type", "name", *(["requester type", "requester"] if version >= 3 else [])]
        answer |= {name: found.text() for name in names}
        issue, expiry, most = (found.number(">q") for _ in range(3))
        answer["issued"] = self._when(issue)
        answer["expires"] = expiry - issue if expiry > 0 else expiry
        answer["ends"] = most - issue if most > 0 else most
        token_id, hmac = found.text(), found.data()
        if token_id or hmac:
            answer["token"] = (token_id, hmac)
        return answer

    def _expiry(self, body: bytes) -> Any:
        code, expiry = struct.unpack_from(">hq", body)
        return error_name(code), self._when(expiry)

    def _described(self, answer: Any) -> Any:
        tokens = []
        for each in answer["tokens"]:
            token_id, hmac = each.pop("token_id"), each.pop("hmac")
            if token_id not in self._named:
                # Another story's.
                continue
            issue, expiry, most = (each.pop(f"{name}_timestamp") for name in ("issue", "expiry", "max"))
            tokens.append(
                {
                    "token": self._named[token_id],
                    "hmac": len(hmac),
                    "issued": self._when(issue),
                    "expires": self._when(expiry),
                    "ends": most - issue,
                    **each,
                }
            )
        return {"error": answer["error_code"], "tokens": sorted(tokens, key=lambda each: str(each["token"]))}

    def _when(self, time_ms: int) -> str:
        if time_ms <= 0:
            return str(time_ms)
        return f"in {round((time_ms - self.brokers.now_ms()) / _MINUTE_MS)} min"


class _Reader:
    """Reads what kio can't, because of the time -1."""

    def __init__(self, data: bytes, compact: bool) -> None:
        self._data, self._at, self._compact = data, 0, compact

    def number(self, form: str) -> int:
        (found,) = struct.unpack_from(form, self._data, self._at)
        self._at += struct.calcsize(form)
        return int(found)

    def _bytes(self, form: str) -> bytes:
        size = self.number(">B") - 1 if self._compact else self.number(form)
        self._at += size
        return self._data[self._at - size : self._at]

    def text(self) -> str:
        return self._bytes(">h").decode()

    def data(self) -> bytes:
        return self._bytes(">i")


def principals(*names: str) -> list[dict[str, str]]:
    """From `alice`, or `Group:ops`."""
    found = []
    for each in names:
        kind, _, name = each.rpartition(":")
        found.append({"principal_type": kind or "User", "principal_name": name})
    return found
