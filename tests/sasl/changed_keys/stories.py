"""The keys of signed tokens change while brokers run."""

import json
import os
from pathlib import Path
from typing import Any, Final, Protocol, cast

from mockbroker.rig.brokers import Brokers
from mockbroker.rig.setup import BROKER_CONFIG
from mockbroker.rig.stories import Setting, Steps, Told, named

from ..signed import keys
from ..signed.stories import EXPECTED, TokenStage

_MINUTE_S: Final = 60


class WithKeys(Brokers, Protocol):
    @property
    def jwks(self) -> Path:
        """The file from which brokers take keys."""


class KeysStage(TokenStage):
    def begin(self) -> None:
        super().begin()
        self._written = 0

    def by(self, kid: str) -> Any:
        """The answer to a token that this key has signed."""
        return self.shown(keys.token(self.claims(), kid=kid))

    def write(self, text: str | None) -> None:
        """Into the file, whose time is another one each time; None removes it."""
        file = cast(WithKeys, self.brokers).jwks
        if text is None:
            file.unlink()
            return
        file.write_text(text)
        self._written += _MINUTE_S
        os.utime(file, (self._written, self._written))


def jwks(*kids: str) -> str:
    return json.dumps({"keys": [keys.jwk(each) for each in kids]})


def of_the_first() -> str:
    return jwks("rsa")


def changed(s: KeysStage) -> Steps:
    """Another key, no JWKS, no file, and both keys."""
    yield "the first", s.by("rsa")
    yield "the second", s.by("second")
    s.write(jwks("second"))
    yield "the second, which is there now", s.by("second")
    yield "the first, which is not", s.by("rsa")
    s.write("no JWKS")
    yield "no JWKS", s.by("second")
    yield "and again", s.by("second")
    s.write(None)
    yield "no file", s.by("second")
    s.write(jwks("rsa", "second"))
    yield "the first of both", s.by("rsa")
    yield "the second of both", s.by("second")


STORIES: Final = Told(
    Path(__file__).parent,
    named(changed),
    KeysStage,
    Setting(1, {**BROKER_CONFIG, **EXPECTED}, sasl=True, jwks=of_the_first),
)
