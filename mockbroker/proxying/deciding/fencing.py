"""`fenced-error`, decided on answers to transactional requests."""

from dataclasses import replace
from typing import Any, Final

from ...faults.answers import PlaceInAnswer, changed
from ...faults.places import error_field
from ...policies.transactions.fenced_error import fenced_error
from ...protocol.errors import ErrorCode
from .steps import Asked, Inner, Steps

_FENCED: Final = (ErrorCode.INVALID_PRODUCER_EPOCH, ErrorCode.PRODUCER_FENCED)
_NEVER: Final = 1 << 15


def decide_fenced_error(asked: Asked, inner: Inner) -> Steps:
    """Replaces each of the two errors by the one that the answer in force has for this version."""
    answer = yield from inner(asked.request)
    if not asked.decides(fenced_error):
        return answer

    def change(_: PlaceInAnswer, entry: Any) -> Any:
        name = error_field(entry.__class__)
        if name is None or getattr(entry, name) not in _FENCED:
            return entry
        return replace(entry, **{name: _code(asked)})

    return changed(answer, asked.call, asked.request, change)


def _code(asked: Asked) -> ErrorCode:
    since = asked.answer(fenced_error).get(asked.api, _NEVER)
    return ErrorCode.PRODUCER_FENCED if asked.call.version >= since else ErrorCode.INVALID_PRODUCER_EPOCH
