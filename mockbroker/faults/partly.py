"""Requests of which a fault refuses some entries: the work is done for the others."""

from collections import defaultdict, deque
from collections.abc import Sequence
from dataclasses import Field, dataclass, replace
from typing import Any, Final

from ..cluster.call import Call
from ..protocol.api_keys import ApiKey
from ..protocol.errors import ErrorCode
from .answers import Change, Errors, PlaceInAnswer, changed, meant, place_of, refusal
from .match import Match
from .places import error_field, level_of, lists_of, response_class

_ALL_OR_NOTHING: Final = (ApiKey.ADD_PARTITIONS_TO_TXN,)
"""Where one partition is refused, none is added (KafkaApis.handleAddPartitionsToTxnRequest)."""
_OF_SESSIONS: Final = (ApiKey.FETCH, ApiKey.SHARE_FETCH)
"""Requests that don't name all that they ask for. The rest of it is answered with no records."""


def others(api: ApiKey, call: Call, request: Any, match: Match, level: str) -> Any | None:
    """The request without the entries of that level that a fault is for. None if it is for all of them, or if
    no broker answers some and refuses the others."""
    if level == "top" or api in _ALL_OR_NOTHING or api in _OF_SESSIONS:
        return None
    rest = _Others(call, match, level)
    narrowed = rest.of(response_class(api), request, PlaceInAnswer("top"))
    return narrowed if rest.kept else None


@dataclass
class _Others:
    call: Call
    match: Match
    level: str
    kept: int = 0

    def of(self, model: type, asked: Any, place: PlaceInAnswer) -> Any:
        for each, inner in lists_of(model):
            for path in each.metadata.get("of", ()):
                asked = self._within(asked, path.split("."), each, inner, place)
        return asked

    def _within(
        self, asked: Any, path: Sequence[str], each: Field[Any], inner: type, place: PlaceInAnswer
    ) -> Any:
        name, *deeper = path
        entries = getattr(asked, name, None)
        if not entries:
            return asked
        if deeper:
            left = [self._within(entry, deeper, each, inner, place) for entry in entries]
        else:
            left = [one for entry in entries for one in self._left(entry, each, inner, place)]
        return replace(asked, **{name: left})

    def _left(self, entry: Any, each: Field[Any], inner: type, outer: PlaceInAnswer) -> Sequence[Any]:
        """The entry, or what is left of it, if anything is."""
        place = place_of(each, entry, None, outer, self.call)
        before = self.kept
        if level_of(each) == self.level:
            self.kept += not meant(place, self.match)
        else:
            entry = self.of(inner, entry, place)
        return [entry] if self.kept > before else []


def together(api: ApiKey, call: Call, request: Any, rest: Any, errors: Errors, answer: Any) -> Any:
    """The answer to a request, in its order: `errors` for what a fault is for, and what `answer` says of the
    `rest`, which may name a thing once that the request names twice."""
    if getattr(answer, "error_code", ErrorCode.NONE) != ErrorCode.NONE:
        return answer
    done: defaultdict[PlaceInAnswer, deque[Any]] = defaultdict(deque)

    def collect(place: PlaceInAnswer, entity: Any) -> Any:
        if place.level == errors.level:
            for each in _names(place):
                done[each].append(entity)
        return entity

    def taken(place: PlaceInAnswer, entity: Any) -> Any:
        if place.level == errors.level and not meant(place, errors.match):
            return next((done[each].popleft() for each in _names(place) if done[each]), None)
        lists = {each.name: getattr(entity, each.name) for each, _ in lists_of(entity.__class__)}
        told = {name: [each for each in entries if each is not None] for name, entries in lists.items()}
        return errors(place, replace(entity, **told))

    changed(answer, call, rest, collect)
    both = changed(refusal(api, request), call, request, taken)
    return replace(answer, **{each.name: getattr(both, each.name) for each, _ in lists_of(answer.__class__)})


def nothing_done(api: ApiKey, errors: Errors) -> Change:
    """What the answer to a request says of whose entries none was worked on."""

    def change(place: PlaceInAnswer, entity: Any) -> Any:
        if place.level != errors.level or meant(place, errors.match):
            return errors(place, entity)
        if api in _ALL_OR_NOTHING:
            return replace(entity, **{str(error_field(entity.__class__)): ErrorCode.OPERATION_NOT_ATTEMPTED})
        if hasattr(entity, "acknowledge_error_code"):
            return replace(entity, acknowledge_error_code=errors.code)
        return entity

    return change


def _names(place: PlaceInAnswer) -> list[PlaceInAnswer]:
    """By the topic's name, and by its id: an answer may have one that the request does not have."""
    if place.topic is None or place.topic_id is None:
        return [place]
    return [place._replace(topic_id=None), place._replace(topic=None)]
