"""Actions that change what an answer says."""

import itertools
from contextlib import suppress
from dataclasses import dataclass, field, fields, replace
from typing import Any

from ...nearest import nearest
from ...outcome import CLOSE
from ...protocol.api_error import ApiError
from ...protocol.api_keys import CODEC_VERSIONS, ApiKey
from ...protocol.errors import ErrorCode
from ..answers import Errors, PlaceInAnswer, changed, for_all_topics, meant, refusal, refuses, unanswered
from ..exchange import Exchange
from ..legal import usual_level, why_illegal
from ..match import FaultError, Match, api_name, is_int
from ..partly import nothing_done, others, together
from ..places import LEVELS, paths, response_class
from ..throttling import throttle
from .action import Action, When, action, check_number


@action("error")
@dataclass
class Error(Action):
    """An error code, by name or number, which may be one that Kafka does not have.

    `instead` of the work, or `after` it, in its answer; at the usual `level`, or at another one. If there are
    several, each request gets the next one; after the last, nothing goes wrong any more.
    """

    error: str | int | list[str | int]
    level: str | None = None
    _seen: str = field(default="", init=False, repr=False)
    when = ("instead", "after")

    def illegal(self, match: Match) -> str:
        if self._seen:
            return self._seen
        # Without an API it depends on what comes.
        for code in self._codes if match.api else ():
            whys = [
                self._why(api, version, code)
                for api in match.api
                for version in match.version or range(CODEC_VERSIONS[api][0], CODEC_VERSIONS[api][1] + 1)
            ]
            if all(whys):
                return whys[-1]
        return ""

    def _why(self, api: ApiKey, version: int, code: int) -> str:
        return why_illegal(api, version, self.level or usual_level(api, version), code)

    def check(self, match: Match) -> None:
        if self.level is not None and self.level not in LEVELS:
            raise FaultError(f"no level {self.level!r}{nearest(self.level, LEVELS)}", "level")
        several = isinstance(self.error, list)
        self._codes = [_code(each) for each in (self.error if isinstance(self.error, list) else [self.error])]
        if not self._codes:
            raise FaultError("error is empty: give a name, a number or a list of them", "error")
        self._next = iter(self._codes if several else itertools.repeat(self._codes[0]))
        for api in match.api:
            Errors.of(api, CODEC_VERSIONS[api][1], self._codes[0], match, self.level)

    def apply(self, exchange: Exchange, match: Match, when: When) -> bool:
        code = next(self._next, ErrorCode.NONE)
        if code == ErrorCode.NONE:
            return True
        errors = Errors.of(exchange.api, exchange.call.version, code, match, self.level)
        self._seen = self._seen or self._why(exchange.api, exchange.call.version, code)
        if exchange.has_answer and self.level is None and _is_for_all_topics(exchange):
            exchange.answer = for_all_topics(exchange.answer, exchange.call, code, match)
        elif exchange.has_answer:
            exchange.answer = changed(exchange.answer, exchange.call, exchange.request, errors)
        elif when == "instead" and unanswered(exchange.api, exchange.request):
            exchange.end(CLOSE)
        elif when == "instead":
            self._refuse(exchange, errors)
        return True

    def _refuse(self, exchange: Exchange, errors: Errors) -> None:
        api, call, request = exchange.api, exchange.call, exchange.request
        rest = others(api, call, request, errors.match, errors.level)
        if rest is not None:
            exchange.narrow(rest, lambda answer: together(api, call, request, rest, errors, answer))
        else:
            refused = refusal(api, _in_session(exchange, errors.level))
            exchange.answer_with(changed(refused, call, request, nothing_done(api, errors)))

    def needs_answer(self, api: ApiKey) -> bool:
        return not refuses(api)


def _in_session(exchange: Exchange, level: str) -> Any:
    """The request, with all that the answer names. Its session goes on, unless the request fails as a whole,
    as by an error at the top."""
    if exchange.in_session is not None and level != "top":
        with suppress(ApiError):
            return exchange.in_session(exchange.call, exchange.request)
    return exchange.request


def _is_for_all_topics(exchange: Exchange) -> bool:
    return exchange.api is ApiKey.METADATA and exchange.request.topics is None


def _code(error: object) -> int:
    if isinstance(error, str):
        try:
            return ErrorCode[error.upper()]
        except KeyError:
            why = f"no error {error!r}{nearest(error, [each.name for each in ErrorCode])}"
            raise FaultError(why, "error") from None
    if not is_int(error) or not -(1 << 15) <= error < 1 << 15:
        raise FaultError(f"error is {error!r}: give a name, or a number that fits in two bytes", "error")
    return error


@action("throttle")
@dataclass
class Throttle(Action):
    """The answer tells the client to wait `ms`; the broker does not enforce that, as `quota` does."""

    ms: int
    when = ("after",)

    def check(self, match: Match) -> None:
        check_number("ms", self.ms)

    def apply(self, exchange: Exchange, match: Match, when: When) -> bool:
        if exchange.has_answer and hasattr(exchange.answer, "throttle_time_ms"):
            exchange.answer = replace(exchange.answer, throttle_time_ms=self.ms)
        return True


@action("quota")
@dataclass
class Quota(Action):
    """The client is over its quota: it is told to wait `ms`, and is not served on this connection meanwhile.

    The answer is sent at once, for Fetch without records, and later requests wait (KIP-219). Before 2.0 the
    answer itself is `ms` late.
    """

    ms: int
    when = ("after",)

    def check(self, match: Match) -> None:
        check_number("ms", self.ms, 1)

    def apply(self, exchange: Exchange, match: Match, when: When) -> bool:
        return throttle(exchange, self.ms) if exchange.has_answer else True


@action("replace")
@dataclass
class Replace(Action):
    """A field of the answer has another value, in every entry that the fault matches.

    `field` is Kafka's name with underscores, with the lists that contain it if the name alone is ambiguous:
    `leader_id`, `partitions.leader_id`. Only the names of the newest version are known.
    """

    field: str
    value: Any
    when = ("after",)

    def check(self, match: Match) -> None:
        if not match.api:
            raise FaultError("replace needs 'api', which determines the fields of the answer", "api")
        if not isinstance(self.field, str):
            raise FaultError(f"field is {self.field!r}: give a name", "field")
        for api in match.api:
            known = [".".join(path) for path in paths(response_class(api))]
            if not any(f".{each}".endswith(f".{self.field}") for each in known):
                names = {each.rpartition(".")[2] for each in known} | set(known)
                near = nearest(self.field, names)
                raise FaultError(f"the answer of {api_name(api)} has no field {self.field!r}{near}", "field")

    def apply(self, exchange: Exchange, match: Match, when: When) -> bool:
        *lists, name = self.field.split(".")

        def change(place: PlaceInAnswer, entity: Any) -> Any:
            if place.path[len(place.path) - len(lists) :] != tuple(lists) or not meant(place, match):
                return entity
            names = {each.name for each in fields(entity)}
            return replace(entity, **{name: self.value}) if name in names else entity

        if exchange.has_answer:
            exchange.answer = changed(exchange.answer, exchange.call, exchange.request, change)
        return True
