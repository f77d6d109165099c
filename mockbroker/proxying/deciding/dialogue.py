"""A request that is answered in steps: what the broker is sent for it, one thing after the other."""

from collections.abc import Callable
from typing import Any, NamedTuple

from ...cluster.call import Call
from ...protocol.api_keys import ApiKey
from ..peeking import head_of
from ..requesting import request_frame
from .steps import VERSIONS, Question, Steps


class ToBroker(NamedTuple):
    """A request for the broker, without its length. With `own`, its answer is not for the client, not even if
    it can't be read."""

    key: int
    version: int
    correlation_id: int
    frame: bytes
    own: bool


class Dialogue:
    """Sends what the steps want by `send`, with what takes the answer, and answers `call` in the end.

    `request` is the client's, which came in `frame`.
    """

    def __init__(
        self,
        steps: Steps,
        call: Call,
        request: Any,
        frame: bytes,
        send: Callable[[ToBroker, Callable[[Any], None]], None],
    ) -> None:
        self._steps = steps
        self._call = call
        self._request = request
        self._frame = frame
        self._send = send

    def begin(self) -> None:
        """Sends the first. Raises what the first step raises."""
        self._send(self._written(next(self._steps)), self._take)

    def _take(self, answer: Any) -> None:
        try:
            wanted = self._written(self._steps.send(answer))
        except StopIteration as end:
            self._call.answer(end.value)
        except Exception as error:
            self._call.ended_by(error)
        else:
            self._send(wanted, self._take)

    def _written(self, wanted: Any) -> ToBroker:
        key, version, correlation_id = head_of(self._frame)
        if wanted is self._request:
            return ToBroker(key, version, correlation_id, self._frame, own=False)
        if type(wanted) is Question:
            key, version, wanted = wanted.api, VERSIONS[wanted.api], wanted.request
        frame = request_frame(ApiKey(key), version, wanted, correlation_id, self._call.client_id)
        return ToBroker(key, version, correlation_id, frame, own=True)
