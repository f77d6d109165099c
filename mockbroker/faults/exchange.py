"""One request on which faults act, until it is answered: takes the place of the API's handler."""

import enum
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from ..cluster.call import Call
from ..outcome import CLOSE, NEVER, NO_ANSWER, PARKED, Failed, Unanswered
from ..protocol.api_keys import ApiKey

Handler = Callable[[Call, Any], Any]
Step = Callable[["Exchange"], bool]
"""Returns False if the exchange waits from now on."""


class Touch(Protocol):
    """A fault, as seen by a request on which it acts."""

    do: str

    def acts_before(self, api: ApiKey) -> bool:
        """Whether it acts before the work is done."""

    def touch(self, exchange: "Exchange") -> bool:
        """A Step."""


class End(enum.Enum):
    """How a connection ends."""

    CLOSE = "by FIN, behind all that was sent"
    RESET = "by RST: the client may lose what it was sent and has not read"


@dataclass(slots=True)
class Delivery:
    """How an answer's bytes are sent.

    They are sent at once, or in parts of `part_bytes`, each `part_ms` after the one before; for `swap_ms`
    they may wait to be sent after the next answer. With `end` the connection is closed then; otherwise its
    next request is not handled for `mute_ms`.
    """

    data: bytes
    part_bytes: int | None = None
    part_ms: int = 0
    swap_ms: int | None = None
    end: End | None = None
    mute_ms: int = 0


class Exchange:
    """Faults before the work, the work, faults after it.

    `answer` is the response, or NO_ANSWER, CLOSE, or NEVER; None until there is one. `received`
    is the request's own call, `call` the one that the handler gets. `error` is what the handler or a fault
    raised. `on_the_way` are functions that change how the answer is delivered, in turn. `in_session` is what
    the API declares (`apis.registry.handles`), if the session is one of this broker's.
    """

    def __init__(
        self,
        call: Call,
        api: ApiKey,
        request: Any,
        handler: Handler,
        faults: Sequence[Touch],
        in_session: Handler | None = None,
    ) -> None:
        self.received = call
        self.call = Call(call.cluster, call.broker, call.version, call.client, call.client_id, self._answered)
        self.api = api
        self.request = request
        self.faults = faults
        self.in_session = in_session
        self.answer: Any = None
        self.error: Exception | None = None
        self.ending = End.CLOSE
        self.on_the_way: list[Callable[[Delivery], None]] = []
        self._handler = handler
        self._beginning = self._over = False
        self._after: list[Step] = [fault.touch for fault in faults if not fault.acts_before(api)]
        self._steps: deque[Step] = deque(fault.touch for fault in faults if fault.acts_before(api))
        self._steps.append(Exchange._work)

    def begin(self) -> Any:
        """Acts as a handler: returns itself if it is over, PARKED if it waits; `received` is then answered
        with it.

        Raises what the work or a fault raised.
        """
        self._beginning = True
        self.go_on()
        self._beginning = False
        if not self._over:
            return PARKED
        if self.error is not None:
            raise self.error
        return self

    def go_on(self) -> None:
        """Takes the next steps, until one of them waits."""
        cluster = self.call.cluster
        before, cluster.environment.at_work = cluster.environment.at_work, self.call
        try:
            while self._steps:
                if not self._steps.popleft()(self):
                    return
        except Exception as error:
            self._fail(error)
        finally:
            cluster.environment.at_work = before
        self._over = True
        if not self._beginning:
            self.received.answer(self if self.error is None else Failed(self.error))

    def _fail(self, error: Exception) -> None:
        self.error = error
        self.end(CLOSE)

    def then(self, step: "Step") -> bool:
        """Takes a step once there is an answer."""
        (self._after if self.answer is None else self._steps).append(step)
        return True

    def again(self, step: "Step") -> None:
        """Takes a step again that waited, and continues."""
        self._steps.appendleft(step)
        self.go_on()

    def answer_with(self, answer: Any) -> None:
        """Answers instead of the work, if that has not been done, or instead of its answer."""
        undone = self.answer is None
        self.answer = answer
        if undone:
            self._steps.clear()
            self._steps.extend(self._after)

    def narrow(self, rest: Any, widen: Callable[[Any], Any]) -> None:
        """Does the work of `rest` only, a part of the request; `widen` makes the answer to all of it from the
        answer to that."""
        whole, self.request = self.request, rest

        def widened(_: Exchange) -> bool:
            self.request = whole
            if self.has_answer:
                self.answer = widen(self.answer)
            return True

        self._after.insert(0, widened)

    def end(self, outcome: Unanswered, how: End = End.CLOSE) -> None:
        """Sends no answer, whatever other faults do: CLOSE, in this way, or NEVER."""
        self.answer = outcome
        self.ending = how
        self._steps.clear()

    def delivery(self, data: bytes) -> Delivery:
        """How these bytes are delivered."""
        delivery = Delivery(data)
        for change in self.on_the_way:
            change(delivery)
        return delivery

    def _work(self) -> bool:
        answer = self._handler(self.call, self.request)
        if answer is PARKED:
            return False
        self._take(answer)
        return True

    def _answered(self, _: Call, answer: Any) -> None:
        if type(answer) is Failed:
            self._fail(answer.error)
        else:
            self._take(answer)
        self.go_on()

    def _take(self, answer: Any) -> None:
        self.answer = answer
        self._steps.extend(self._after)

    @property
    def has_answer(self) -> bool:
        """Whether there is a response that could be changed."""
        return self.answer not in (None, NO_ANSWER, CLOSE, NEVER)

    @property
    def replaced(self) -> bool:
        """Whether a fault replaced the value of a field in the answer."""
        return any(fault.do == "replace" for fault in self.faults)
