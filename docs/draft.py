"""Drafts the two modules of an API from kio's schemas: `python -m docs.draft share_group_describe --write`.

The model has the fields of all versions. What no schema says is guessed, and has to be looked through: what
the entries of an answer are for (`messages.places.places`), and in the handler what `handles` is given.
"""

import argparse
import sys
from collections.abc import Iterator
from dataclasses import MISSING, dataclass, field
from pathlib import Path
from typing import Final

from mockbroker.protocol import schema
from mockbroker.protocol.api_keys import ApiKey
from mockbroker.protocol.schema import Shape

ROOT: Final = Path(__file__).parent.parent
_TYPES: Final = {
    "string": ("str", '""'),
    "bytes": ("bytes", 'b""'),
    "bool": ("bool", "False"),
    "float64": ("float", "0.0"),
}
_NULL: Final = {"uuid": "UUID", "records": "Records"}
"""What may be null in our models even where Kafka has no null."""
_LEVELS: Final = ("partition", "topic", "group", "member", "coordinator", "transaction", "resource")
"""Of entries, by what the name of their list or of their model contains."""


@dataclass
class DraftField:
    """A field, with the newest of its shapes."""

    shape: Shape
    versions: list[int] = field(default_factory=list)
    nullable: bool = False
    model: "DraftModel | None" = None


@dataclass
class DraftModel:
    """A request, an answer, or what is in a field of them: the members of all versions. `models` has all
    within the same message, by the names of kio's classes."""

    name: str
    models: dict[str, "DraftModel"]
    members: dict[str, DraftField] = field(default_factory=dict)

    def add(self, kio_class: type, version: int) -> None:
        """Members of newer versions come first, in their order."""
        found: dict[str, DraftField] = {}
        for shape in schema.shapes(kio_class):
            member = found[shape.name] = self.members.pop(shape.name, DraftField(shape))
            member.shape = shape
            member.versions = sorted({*member.versions, version})
            member.nullable |= shape.nullable
            if shape.entity is not None:
                name = shape.entity.__name__
                member.model = self.models.setdefault(name, DraftModel(name, self.models))
                member.model.add(shape.entity, version)
        self.members = found | self.members

    @property
    def has_errors(self) -> bool:
        return any(name.endswith("error_code") for name in self.members) or any(
            each.model.has_errors for each in self.members.values() if each.model
        )


def messages(api: str) -> str:
    """`protocol/messages/<api>.py`. ImportError if kio has no such API."""
    versions = schema.versions(api)
    request, answer = _models(api, versions)
    # What two fields contain is there once.
    body = "".join(dict.fromkeys([*_classes(request, versions, None), *_classes(answer, versions, request)]))
    span = f"v{versions[0]}" + (f" to v{versions[-1]}" if len(versions) > 1 else "")
    title = f'"""{schema.class_name(api)}: api key {int(ApiKey[api.upper()])}, {span}."""'
    return "\n".join([title, "", *_imports(body), body])


def _models(api: str, versions: list[int]) -> tuple[DraftModel, DraftModel]:
    """Of requests and answers."""
    request, answer = (DraftModel(schema.class_name(api) + kind, {}) for kind in ("Request", "Response"))
    for version in versions:
        request.add(schema.load(api, version, "Request"), version)
        answer.add(schema.load(api, version, "Response"), version)
    for name in request.models.keys() & answer.models.keys():
        answer.models[name].name += "Result"
    return request, answer


def _imports(body: str) -> Iterator[str]:
    yield f"from dataclasses import dataclass{', field' if ' field(' in body else ''}"
    if "UUID" in body:
        yield "from uuid import UUID"
    if "Records" in body or "places(" in body:
        yield ""
    if "Records" in body:
        yield "from ..primitives import Records"
    if "places(" in body:
        yield "from .common import places"


def _classes(model: DraftModel, versions: list[int], request: DraftModel | None) -> Iterator[str]:
    """What a model contains comes before it. `request` is given for answers."""
    for member in model.members.values():
        if member.model is not None:
            yield from _classes(member.model, versions, request)
    lines = [
        f"    {name}: {_value(member, request)}{_span(member.versions, versions)}\n"
        for name, member in model.members.items()
    ]
    yield f"\n\n@dataclass(slots=True)\nclass {model.name}:\n{''.join(lines) or '    pass' + chr(10)}"


def _value(member: DraftField, request: DraftModel | None) -> str:
    """The type and the default."""
    shape, default = member.shape, schema.encoded(member.shape.default)
    if member.model is not None:
        kind, empty = member.model.name, f"field(default_factory={member.model.name})"
    elif shape.kafka_type in _NULL:
        kind, empty = _NULL[shape.kafka_type], "None"
    else:
        kind, empty = _TYPES.get(shape.kafka_type, ("int", "0"))
        empty = empty if default is MISSING or shape.array else repr(default).replace("'", '"')
    if shape.array:
        kind, empty = f"list[{kind}]", "field(default_factory=list)"
        if request is not None and member.model is not None and member.model.has_errors:
            empty = f"places({_place(member, request)})"
    null = member.nullable or (shape.kafka_type in _NULL and not shape.array)
    if member.nullable and (default is None or (default is MISSING and not shape.array)):
        empty = "None"
    return f"{kind}{' | None' if null else ''} = {empty}"


def _place(member: DraftField, request: DraftModel) -> str:
    """The level of the entries, and the list of the request that has the same name, if there is one."""
    level = _level(member)
    lists = dict.fromkeys(each.shape.name for each in _every(request) if each.shape.array)
    return ", ".join(
        f'"{each}"' for each in (level, *([member.shape.name] if member.shape.name in lists else ()))
    )


def _level(member: DraftField) -> str:
    assert member.model is not None
    about = f"{member.shape.name} {member.model.name}".lower()
    return next((each for each in _LEVELS if each in about), "resource")


def _with_errors(model: DraftModel, level: str = "top") -> Iterator[str]:
    """The levels that have error codes."""
    if any(name.endswith("error_code") for name in model.members):
        yield level
    for each in model.members.values():
        if each.model is not None:
            yield from _with_errors(each.model, _level(each) if each.shape.array else level)


def _every(model: DraftModel) -> Iterator[DraftField]:
    for each in model.members.values():
        yield each
        if each.model is not None:
            yield from _every(each.model)


def _span(has: list[int], versions: list[int]) -> str:
    if has == versions:
        return ""
    if has[-1] == versions[-1]:
        return f"  # v{has[0]}+"
    return f"  # v{has[0]}" if len(has) == 1 else f"  # v{has[0]}-{has[-1]}"


def handler(api: str) -> str:
    """`mockbroker/apis/<api>.py`: it answers with an empty answer."""
    key = ApiKey[api.upper()]
    name = schema.class_name(api)
    _, answer = _models(api, schema.versions(api))
    codes = [
        f'    {level}="CLUSTER_AUTHORIZATION_FAILED",\n' for level in dict.fromkeys(_with_errors(answer))
    ]
    return f'''"""{name} ({int(key)}): what it is for, and the KIP."""

from ..cluster.call import Call
from ..protocol.api_keys import ApiKey
from ..protocol.messages.{api} import {name}Request, {name}Response
from .registry import handles


@handles(
    ApiKey.{key.name},
    changes=False,
    source="KafkaApis.handle{name}Request",
{"".join(codes)})
def {api}(call: Call, request: {name}Request) -> {name}Response:
    return {name}Response()
'''


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m docs.draft", description="Drafts the modules of an API.")
    parser.add_argument("api", help="as its modules are called: share_group_describe")
    parser.add_argument(
        "--write", action="store_true", help="writes both files, instead of printing the model"
    )
    asked = parser.parse_args()
    if not asked.write:
        sys.stdout.write(messages(asked.api))
        return
    for folder, text in (("protocol/messages", messages(asked.api)), ("mockbroker/apis", handler(asked.api))):
        path = ROOT / folder / f"{asked.api}.py"
        with path.open("x") as file:
            file.write(text)
        sys.stdout.write(f"{path.relative_to(ROOT)}\n")


if __name__ == "__main__":
    main()
