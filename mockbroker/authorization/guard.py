"""Puts an authorizer before the handler of an API."""

from collections.abc import Generator
from typing import Any

from ..apis.registry import Handler
from ..cluster.authorizer import Asker, Authorizer
from ..cluster.call import Call
from ..outcome import NO_ANSWER, PARKED, Failed, Steps, Unanswered
from ..protocol.api_keys import ApiKey
from .rules import RULES
from .verdict import GuardedCall, Judging, Verdict


def guarded(api: ApiKey, handler: Handler, authorizer: Authorizer) -> Handler:
    """The handler, or what asks the authorizer first."""
    rule = RULES[api]
    if rule is None:
        return handler

    def judge(call: Call, request: Any) -> Any:
        if call.client.principal in authorizer.super_users:
            return handler(call, request)
        asker = Asker(authorizer, call.broker, call.client, call.client_id, call.cluster.notes)
        verdict = rule(asker, call, request)
        if isinstance(verdict, Verdict):
            return _carried_out(verdict, handler, asker, call)
        return call.in_parts(_in_parts(verdict, handler, asker, call))

    return judge


def _in_parts(judging: Judging, handler: Handler, asker: Asker, call: Call) -> Steps:
    verdict = yield from judging
    return _carried_out(verdict, handler, asker, call)


def _carried_out(verdict: Verdict, handler: Handler, asker: Asker, call: Call) -> Any:
    if verdict.answer is not None:
        return verdict.answer

    def later(_: Call, answer: Any) -> None:
        if not isinstance(answer, Failed):
            answer = _changed(verdict, call, answer)
        if answer is not PARKED:
            call.sink(call, answer)

    inner = GuardedCall(call.cluster, call.broker, call.version, call.client, call.client_id, later)
    inner.asker = asker
    answer = handler(inner, verdict.request)
    call.long = call.long or inner.long
    return _changed(verdict, call, answer)


def _comes_to_nothing(answer: Any) -> bool:
    return isinstance(answer, Unanswered) and answer is not NO_ANSWER


def _changed(verdict: Verdict, call: Call, answer: Any) -> Any:
    """The answer of the handler, as the client gets it."""
    if verdict.then is None or _comes_to_nothing(answer):
        return answer
    found = verdict.then(answer)
    return call.in_parts(found) if isinstance(found, Generator) else found
