"""Delegation tokens that brokers hand out: each broker draws its own."""

from typing import Any, Final

_UNKNOWN: Final = b"unknown"
_HOURS_MS: Final = 3_600_000
_TIMES: Final = ("issue_timestamp", "expiry_timestamp", "max_timestamp")


class TokenBindings:
    """HMACs by the number that a step binds."""

    def __init__(self) -> None:
        self._hmacs: dict[int, bytes] = {}
        self._slots: dict[str, int] = {}

    def hmac(self, slot: int) -> bytes:
        return self._hmacs.get(slot, _UNKNOWN)

    def learn(self, slot: int, answer: dict[str, Any]) -> None:
        """From an answer to CreateDelegationToken."""
        if answer.get("error_code") == "NONE":
            self._hmacs[slot] = answer["hmac"]
            self._slots[answer["token_id"]] = slot

    def shown(self, answer: Any, now_ms: int) -> Any:
        """An answer with tokens by their numbers, and times in hours from now. Tokens of other sequences are
        left out."""
        if not isinstance(answer, dict):
            return answer
        found = {key: self._value(key, each, now_ms) for key, each in answer.items()}
        if "tokens" in found:
            own = [each for each in answer["tokens"] if each["token_id"] in self._slots]
            found["tokens"] = sorted(
                (self.shown(each, now_ms) for each in own), key=lambda each: str(each["token_id"])
            )
        return found

    def _value(self, key: str, value: Any, now_ms: int) -> Any:
        if key == "token_id" and value:
            return f"<token {self._slots.get(value, 'of another')}>"
        if key == "hmac" and value:
            return f"<{len(value)} bytes>"
        if any(key.startswith(name) for name in _TIMES) and isinstance(value, int) and value > 0:
            return f"<in {round((value - now_ms) / _HOURS_MS)} h>"
        return value
