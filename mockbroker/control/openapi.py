"""The operations as an OpenAPI document."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from ..version import __version__
from .clusters import CREATE
from .registry import Operation, Parameter
from .schema import json_schema

ERRORS: Final = {
    "400": "an argument that can't be",
    "404": "no broker, topic, partition, behaviour or fault of that name",
    "409": "not as the cluster is now",
}
_TOKEN: Final = "the control token, where the cluster was started with one"
_NO_TOKEN: Final = "the control token that is asked for was not sent"
_OF_BODIES: Final = {"408": "the body did not come in time", "413": "the body is too large"}
_ERROR: Final = {
    "type": "object",
    "properties": {
        "error": {"type": "string"},
        "field": {"type": "string", "description": "The field of a fault that is wrong."},
    },
    "required": ["error"],
}


def document(operations: Iterable[Operation], *, whole: bool = True) -> dict[str, Any]:
    """OpenAPI 3.1. A control API that is not `whole` has no metrics, and lends no clusters."""
    paths: dict[str, Any] = {}
    for operation in operations:
        paths.setdefault(operation.path, {})[operation.method.lower()] = _operation(operation)
    paths["/trace/stream"] = {"get": _stream()}
    if whole:
        paths["/metrics"] = {"get": _metrics()}
        paths["/clusters"] = {"post": _lent(), "get": _listed()}
        paths["/clusters/{id}"] = {"delete": _deleted()}
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "mockbroker",
            "version": __version__,
            "description": "Controls a running mock Kafka cluster. What stands in a body may stand in the "
            "query too, but for the fields of a fault.",
        },
        "paths": paths,
        "components": {
            "schemas": {"Error": _ERROR},
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer", "description": _TOKEN}},
        },
        # Either is right: only some clusters require a token.
        "security": [{}, {"token": []}],
    }


def _operation(operation: Operation) -> dict[str, Any]:
    group, verb = operation.name.split(" ")
    given = [each for name, each in operation.parameters.items() if name not in operation.in_path]
    in_body = operation.method in ("POST", "PUT")
    described: dict[str, Any] = {
        "operationId": operation.name.replace(" ", "-"),
        "summary": operation.summary,
        "description": f"On the command line: `mockbroker ctl {group} {verb}`.",
        "tags": [group],
        "parameters": [_parameter(operation.parameters[name], "path") for name in operation.in_path]
        + ([] if in_body else [_parameter(each, "query") for each in given]),
        "responses": {
            "200": _json(json_schema(operation.result), "done"),
            **_errors(ERRORS | {"401": _NO_TOKEN} | (_OF_BODIES if in_body else {})),
        },
    }
    if in_body and given:
        described["requestBody"] = {
            "required": any(each.required for each in given),
            "content": {"application/json": {"schema": _body(given, operation.fields)}},
        }
    return described


def _stream() -> dict[str, Any]:
    """`GET /trace/stream`, which is not an operation."""
    chosen = "Fields of an event, as `topic`, and the value that each has to have."
    return {
        "operationId": "trace-stream",
        "summary": "Events as they come, as server-sent events.",
        "description": "An event `missed` tells a slow client the numbers that it did not get.",
        "tags": ["trace"],
        "parameters": [
            {
                "name": "kind",
                "in": "query",
                "description": "Only events of this kind.",
                "schema": {"type": "string"},
            },
            {
                "name": "since",
                "in": "query",
                "description": "Those that are kept after this number come first.",
                "schema": {"type": "integer", "default": -1},
            },
            {
                "name": "fields",
                "in": "query",
                "description": chosen,
                "style": "form",
                "explode": True,
                "schema": {"type": "object", "additionalProperties": {"type": "string"}},
            },
        ],
        "responses": {
            "200": {
                "description": "goes on until the client leaves",
                "content": {"text/event-stream": {"schema": {"type": "string"}}},
            },
            **_errors({"400": ERRORS["400"], "401": _NO_TOKEN, "503": "as many read the trace as may"}),
        },
    }


def _metrics() -> dict[str, Any]:
    """`GET /metrics`, which is not an operation either."""
    return {
        "operationId": "metrics",
        "summary": "The figures that operators of Kafka watch, for Prometheus.",
        "tags": ["metrics"],
        "parameters": [],
        "responses": {
            "200": {
                "description": "the text format 0.0.4",
                "content": {"text/plain": {"schema": {"type": "string"}}},
            },
            **_errors({"401": _NO_TOKEN}),
        },
    }


def _lent() -> dict[str, Any]:
    """`POST /clusters`, whose answer goes on. It is not there below `/clusters/{id}`."""
    return {
        "operationId": "clusters-create",
        "summary": CREATE.summary,
        "description": "JSON, one object in each line: the first says where the cluster and its control API "
        "are, the others what went wrong.",
        "tags": ["clusters"],
        "parameters": [],
        "requestBody": {
            "required": False,
            "content": {"application/json": {"schema": _body(CREATE.parameters.values())}},
        },
        "responses": {
            "200": {
                "description": "goes on until the client leaves or the cluster is deleted",
                "content": {"application/jsonl": {"schema": {"type": "string"}}},
            },
            **_errors({"400": ERRORS["400"], "401": _NO_TOKEN, **_OF_BODIES, "503": "as many as may be"}),
        },
    }


def _listed() -> dict[str, Any]:
    return {
        "operationId": "clusters-list",
        "summary": "The clusters that are lent.",
        "tags": ["clusters"],
        "parameters": [],
        "responses": {
            "200": _json({"type": "array", "items": {"type": "object"}}, "done"),
            **_errors({"401": _NO_TOKEN}),
        },
    }


def _deleted() -> dict[str, Any]:
    return {
        "operationId": "clusters-delete",
        "summary": "Ends a cluster that is lent.",
        "tags": ["clusters"],
        "parameters": [{"name": "id", "in": "path", "required": True, "schema": {"type": "string"}}],
        "responses": {
            "200": _json({"type": "object"}, "done"),
            **_errors({"401": _NO_TOKEN, "404": "no such cluster"}),
        },
    }


def _errors(texts: Mapping[str, str]) -> dict[str, Any]:
    return {
        status: _json({"$ref": "#/components/schemas/Error"}, text) for status, text in sorted(texts.items())
    }


def _parameter(parameter: Parameter, where: str) -> dict[str, Any]:
    schema = json_schema(parameter.annotation)
    text = schema.pop("description", "")
    if parameter.default is not None:
        schema["default"] = parameter.default
    return {
        "name": parameter.name,
        "in": where,
        "required": parameter.required,
        "description": text,
        "schema": schema,
    }


def _body(
    parameters: Iterable[Parameter], fields: Callable[[], dict[str, Any]] | None = None
) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "object", "properties": {}, "additionalProperties": False}
    for each in parameters:
        if each.rest and fields is not None:
            own = fields()
            schema["properties"] |= own.pop("properties")
            # Each kind of fault has fields of its own, which `additionalProperties` would refuse.
            del schema["additionalProperties"]
            schema |= {**own, "unevaluatedProperties": False}
        elif each.rest:
            schema["additionalProperties"] = json_schema(each.annotation)
        else:
            schema["properties"][each.name] = json_schema(each.annotation)
    if required := [each.name for each in parameters if each.required]:
        schema["required"] = required
    return schema


def _json(schema: dict[str, Any], text: str) -> dict[str, Any]:
    return {"description": text, "content": {"application/json": {"schema": schema}}}
