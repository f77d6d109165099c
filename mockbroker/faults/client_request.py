"""A client's request, as it is shown to a user's function, which decides what happens to it."""

import functools
from collections.abc import Callable
from dataclasses import fields, is_dataclass, replace
from typing import TYPE_CHECKING, Any

from ..nearest import nearest
from ..outcome import CLOSE, NEVER
from ..protocol.codecs import codec
from .about import About, about
from .answers import refusal, refuses, unanswered
from .exchange import Exchange
from .match import FaultError, Match, api_name
from .places import response_class

if TYPE_CHECKING:
    from ..names import ErrorLevel, ErrorName


class ClientRequest:
    """One request of a client, for the function that was given to `cluster.on`.

    `api` is the name of its API, `version` its version; `client_id` may be None; `broker` is the id of the
    broker that is asked, `connection` the client's `host:port`; `request` has the fields with Kafka's names,
    with underscores, as in `mockbroker.protocol.messages`.

    The function may call one of `disconnect`, `drop`, `error` and `respond`, and also `delay`; if it calls
    none of them, the request continues. FaultError for what is not possible.
    """

    def __init__(self, exchange: Exchange, match: Match, *, done: bool) -> None:
        call = exchange.call
        self.api = api_name(exchange.api)
        self.version = call.version
        self.client_id = call.client_id
        self.broker = call.broker.id
        self.connection = call.client.address
        self.request = exchange.request
        self._exchange = exchange
        self._match = match
        self._done = done
        self._response = _copied(exchange.answer) if done and exchange.has_answer else None
        self._delay_ms = 0
        self._said = ""
        self._step: Callable[[Exchange], bool] | None = None
        self._over = False

    @property
    def topics(self) -> frozenset[str]:
        """The topics that the request names."""
        return frozenset(self._about.topics)

    @property
    def partitions(self) -> frozenset[tuple[str, int]]:
        """The partitions that it names, by topic and index."""
        return frozenset(self._about.partitions)

    @property
    def groups(self) -> frozenset[str]:
        """The groups that it names."""
        return frozenset(self._about.groups)

    @property
    def transactional_ids(self) -> frozenset[str]:
        """The transactional ids that it names."""
        return frozenset(self._about.transactional_ids)

    @property
    def response(self) -> Any:
        """The answer, a copy that may be changed, and is sent with the changes. None before the work, and if
        the client expects no answer (`acks=0`)."""
        return self._response

    def new_response(self) -> Any:
        """An answer that reports no work, with an entry for everything that the request names, to be filled
        in."""
        return refusal(self._exchange.api, self.request)

    def disconnect(self) -> None:
        """Closes the connection: before the work, or instead of the answer."""
        self._say("disconnect", lambda exchange: _end(exchange, CLOSE))

    def drop(self) -> None:
        """Never answers this request, nor those after it on the connection, which stays open."""
        self._say("drop", lambda exchange: _end(exchange, NEVER))

    def delay(self, ms: int) -> None:
        """Makes the request take `ms` longer."""
        self._still_open()
        if not isinstance(ms, int) or isinstance(ms, bool) or ms < 0:
            raise FaultError(f"delay is {ms!r}: give a number of milliseconds")
        self._delay_ms = ms

    def error(self, error: "ErrorName | int", level: "ErrorLevel | None" = None) -> None:
        """Answers with an error code, by name or number: instead of the work, or in its answer. It is at the
        API's usual level, or at `level`: see the fault `error`."""
        self._answerable()
        exchange, match = self._exchange, self._match
        from .actions.answering import Error

        action = Error(error, level)
        action.check(Match(api=(exchange.api,)))
        if self._done:
            self._say("error", lambda exchange: action.apply(exchange, match, "after"))
        elif refuses(exchange.api):
            self._say("error", lambda exchange: action.apply(exchange, match, "instead"))
        else:
            # The answer to the work that was done is the best one to put errors into.
            self._say("error", lambda exchange: exchange.then(lambda it: action.apply(it, match, "after")))

    def respond(self, response: Any = None, **changes: Any) -> None:
        """Answers with `response`; if it is left out, with `self.response`, or before the work with
        `new_response()`. `changes` are new values of its fields."""
        self._answerable()
        if response is None:
            response = self._response if self._done else self.new_response()
        kind: Any = response_class(self._exchange.api)
        if not isinstance(response, kind):
            raise FaultError(f"{self.api} is answered with a {kind.__name__}, not with {response!r:.100}")
        names = [each.name for each in fields(kind)]
        for name in changes:
            if name not in names:
                raise FaultError(f"{kind.__name__} has no field {name!r}{nearest(name, names)}")
        answer: Any = replace(response, **changes)
        self._say("respond", lambda exchange: _answer_with(exchange, answer))
        self._response = answer

    def __repr__(self) -> str:
        return f"<{self.api} v{self.version} of {self.client_id!r} at broker {self.broker}>"

    def carry_out(self) -> bool:
        """Does what the function asked for, once it has returned; False if the request waits from now on."""
        self._over = True
        exchange = self._exchange
        if self._response is not None:
            # If an answer can't be encoded, that is the function's error.
            codec(exchange.api, self.version).encode(0, self._response)
            if self._done:
                exchange.answer = self._response
        step = self._step or _go_on
        if not self._delay_ms:
            return step(exchange)
        exchange.call.environment.wait(self._delay_ms, lambda: exchange.again(step))
        return False

    @functools.cached_property
    def _about(self) -> About:
        return about(self._exchange.api, self.request, self._exchange.call.cluster)

    def _say(self, what: str, step: Callable[[Exchange], bool]) -> None:
        self._still_open()
        if self._said:
            raise FaultError(f"{what} after {self._said}: a function may call only one of them")
        self._said, self._step = what, step

    def _still_open(self) -> None:
        if self._over:
            raise FaultError(f"{self!r} can't be changed any more: the function has returned")

    def _answerable(self) -> None:
        if unanswered(self._exchange.api, self.request) or (self._done and self._response is None):
            raise FaultError(f"the client does not wait for an answer to {self!r}: use disconnect()")


def _go_on(_: Exchange) -> bool:
    return True


def _end(exchange: Exchange, outcome: Any) -> bool:
    exchange.end(outcome)
    return True


def _answer_with(exchange: Exchange, answer: Any) -> bool:
    exchange.answer_with(answer)
    return True


def _copied(value: Any) -> Any:
    """The core may keep its answers: models and lists are copied, everything else is shared."""
    if is_dataclass(value):
        copies = {each.name: _copied(getattr(value, each.name)) for each in fields(value)}
        kind: Any = type(value)
        return kind(**copies)
    if isinstance(value, list):
        return [_copied(each) for each in value]
    return value
