"""The JSON schema of a fault, made of the classes that read it."""

import dataclasses
import functools
import inspect
import typing
from collections.abc import Mapping
from typing import Any, Final

from ..faults.actions import ACTIONS, Action
from ..faults.legal import legal_codes
from ..faults.match import api_name
from ..faults.places import LEVELS
from ..protocol.api_keys import CODEC_VERSIONS
from ..protocol.errors import ErrorCode
from .schema import json_schema

_NUMBERS: Final = int | list[int]
_CONDITIONS: Final[Mapping[str, tuple[Any, str]]] = {
    "api": (str | int | list[str | int], "The API, by name or key, or several."),
    "topic": (str, "A topic that the request names, or a pattern: orders-*"),
    "topic_id": (str, "A topic id that the request names, as Kafka writes it."),
    "partition": (int, "A partition that the request names."),
    "group": (str, "A group that the request names, or a pattern."),
    "client_id": (str, "The client that sends the request, or a pattern."),
    "user": (str, "Who has logged in, or whom a SaslAuthenticate names, or a pattern."),
    "mechanism": (str, "The mechanism of the login, which a SaslHandshake names, or a pattern."),
    "listener": (str, "The listener by which the client came, or a pattern."),
    "transactional_id": (str, "A transactional id that the request names, or a pattern."),
    "resource": (
        str,
        (
            "What the request names of configurations, ACLs, quotas, SCRAM credentials or features, or a "
            "member of LeaveGroup, or a pattern."
        ),
    ),
    "broker": (int, "The broker that receives the request."),
    "nth_on_connection": (int, "The number of the request on its connection, from 1."),
    "version": (_NUMBERS, "The version of the request, or several."),
    "nth": (int, "The first matching request to act on, from 1; without `times`, the only one."),
    "times": (int, "How many requests to act on; without `nth`, all if left out."),
    "probability": (float, "0.1: one request in ten."),
    "seed": (int, "Chooses which ones, with `probability`."),
}
"""Type and help of the fields of `Match`, in the order in which people think of them."""
_OPTIONAL: Final = "Whether a test passes even if the fault never happens."


@functools.cache
def _own() -> dict[str, Any]:
    fields = {name: json_schema(typing.Annotated[kind, told]) for name, (kind, told) in _CONDITIONS.items()}
    fields["api"]["examples"] = [api_name(each) for each in CODEC_VERSIONS]
    optional = {**json_schema(bool), "description": _OPTIONAL, "default": False}
    return {
        "properties": {**fields, "optional": optional},
        "oneOf": [_of_action(name, kind) for name, kind in sorted(ACTIONS.items())],
    }


def fault_schema() -> dict[str, Any]:
    """`properties` that every fault has, and `oneOf` the actions with their own: `title` is what `do` is.
    `examples` are names that a field may have; `x-legal` has, by API, the error codes that brokers answer."""
    return dict(_own())


def _of_action(name: str, kind: type[Action]) -> dict[str, Any]:
    hints = typing.get_type_hints(kind)
    own: dict[str, Any] = {"do": {"const": name}}
    required = ["do"]
    for each in dataclasses.fields(kind):
        if each.init:
            called = each.name.rstrip("_")
            schema = json_schema(typing.Annotated[hints[each.name], each.metadata.get("help", "")])
            if each.default is dataclasses.MISSING:
                required.append(called)
            elif each.default is not None:
                schema["default"] = each.default
            own[called] = schema | (_names_of_errors().get(called, {}) if name == "error" else {})
    own["when"] = {
        "enum": list(kind.when),
        "default": kind.when[0],
        "description": "When it happens: before the work, after it, or instead of it.",
    }
    return {
        "title": name,
        "description": inspect.cleandoc(kind.__doc__ or ""),
        "properties": own,
        "required": required,
    }


def _names_of_errors() -> dict[str, dict[str, Any]]:
    """The names that the fields of `error` may have."""
    legal = {
        api_name(api): list(dict.fromkeys(each.code.name for each in legal_codes(api)))
        for api in CODEC_VERSIONS
    }
    return {
        "error": {"examples": [each.name for each in ErrorCode if each], "x-legal": legal},
        "level": {"anyOf": [{"enum": list(LEVELS)}, {"type": "null"}]},
    }
