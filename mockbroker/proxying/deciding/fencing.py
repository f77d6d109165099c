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
    since = asked.chosen(fenced_error)
    if since is None:
        return answer
    fenced = asked.call.version >= since.get(asked.api, _NEVER)
    code = ErrorCode.PRODUCER_FENCED if fenced else ErrorCode.INVALID_PRODUCER_EPOCH

    def change(_: PlaceInAnswer, entry: Any) -> Any:
        name = error_field(entry.__class__)
        if name is None or getattr(entry, name) not in _FENCED:
            return entry
        return replace(entry, **{name: code})

    return changed(answer, asked.call, change)
