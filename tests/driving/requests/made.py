"""Requests made from the model alone, for APIs that need no more than that."""

import typing
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from typing import Any

from mockbroker.faults.places import entity_of, request_class
from mockbroker.protocol.api_keys import ApiKey

from ..many import Many
from .about import Requests


def from_model(key: ApiKey) -> Requests:
    """A request with n entries in its lists, which name what there is; lists in entries have one."""

    def requests(many: Many) -> Iterator[Any]:
        names = {"topic": many.topics, "group": many.groups, "transactional": many.ids}
        yield _entry(request_class(key), names, range(many.n))

    return requests


def _entry(model: type, names: Mapping[str, Sequence[str]], indexes: Sequence[int], within: str = "") -> Any:
    values: dict[str, Any] = {}
    hints = typing.get_type_hints(model)
    for each in fields(model):
        about = f"{each.name} {within}"
        known = next((found for word, found in names.items() if word in about), None)
        texts = [known[index] if known else f"{each.name}-{index}" for index in indexes]
        inner = entity_of(hints[each.name])
        kinds = (hints[each.name], *typing.get_args(hints[each.name]))
        if inner is not None:
            values[each.name] = [_entry(inner, names, [index], each.name) for index in indexes]
        elif list[str] in kinds:
            values[each.name] = texts
        elif list[int] in kinds:
            values[each.name] = list(indexes) if within == "" else [0]
        elif str in kinds and (each.default == "" or (within and each.default is None)):
            values[each.name] = texts[0]
        elif hints[each.name] is int and each.default == 0 and "partition" not in about:
            values[each.name] = 1
    return model(**values)
