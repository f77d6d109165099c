"""Which events are looked for: by kind, values and names."""

from typing import Any, Final

from ..errors import OptionError
from ..faults.match import api_name
from ..nearest import nearest
from ..protocol.api_keys import CODEC_VERSIONS
from .event import Event
from .events import DETAILS, KINDS


def check(kind: str | None, wanted: dict[str, Any]) -> None:
    """ValueError for a kind, a field or an API that does not exist; the message names the nearest one."""
    if kind is not None and kind not in KINDS:
        raise OptionError(f"no kind of event {kind!r}{nearest(kind, KINDS)}")
    kinds = list(KINDS.values()) if kind is None else [KINDS[kind]]
    known = {name for each in kinds for name in each.__dataclass_fields__}
    for name in wanted:
        if name not in known | _IN_NAMES:
            raise OptionError(f"no event has a field {name!r}{nearest(name, known | _IN_NAMES)}")
    if "api" in wanted and wanted["api"] not in (apis := [api_name(each) for each in CODEC_VERSIONS]):
        raise OptionError(f"no API {wanted['api']!r}{nearest(wanted['api'], apis)}")


_IN_NAMES: Final = {"topic", "group", "transactional_id"}


def fits(event: Event, kind: str | None, wanted: dict[str, Any]) -> bool:
    """Whether an event is of a kind, or of any but `DETAILS`, and has the wanted values."""
    if event.kind in DETAILS if kind is None else event.kind != kind:
        return False
    for name, value in wanted.items():
        if hasattr(event, name):
            if getattr(event, name) != value:
                return False
        elif name not in _IN_NAMES or not _names(event, str(value)):
            return False
    return True


def _names(event: Event, name: str) -> bool:
    """Whether a request is about a topic (any partition of it), a group or a transactional id."""
    names: tuple[str, ...] = getattr(event, "names", ())
    return any(each == name or each.rpartition("-")[0] == name for each in names)
