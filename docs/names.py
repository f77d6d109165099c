"""Writes `mockbroker/names.py` from the code: the names that type checkers know.

`make docs` runs it, and a test fails when it is stale.
"""

import dataclasses
import itertools
import typing
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final

import mockbroker
from mockbroker.faults.actions import ACTIONS, Action
from mockbroker.faults.match import Match, api_name
from mockbroker.faults.places import LEVELS
from mockbroker.policies import CATALOGUE, Behaviour, module_of
from mockbroker.protocol.api_keys import CODEC_VERSIONS
from mockbroker.protocol.errors import ErrorCode
from mockbroker.protocol.releases import names
from mockbroker.trace.events import KINDS

TARGET: Final = Path(mockbroker.__file__).parent / "names.py"
_TYPING: Final = ("Any", "Literal", "NewType", "Protocol", "Required", "TypeAlias", "TypedDict", "TypeVar")
_TYPES: Final = {
    "api": "ApiNames",
    "version": "int | Sequence[int]",
    "error": "ErrorNames",
    "level": "ErrorLevel | None",
}
"""Of fields of faults, where the code that reads them says less."""


def text() -> str:
    """The module's source."""
    return "\n".join(_lines()) + "\n"


def _lines() -> Iterator[str]:
    yield '"""The names that type checkers know; `make docs` makes this module from the code."""\n'
    yield "from collections.abc import Iterator, Sequence"
    yield "from typing import ("
    yield from (f"    {name}," for name in ("TYPE_CHECKING", *_TYPING))
    yield ")\n"
    yield "if TYPE_CHECKING:"
    yield from _imports()
    yield "    from .protocol.errors import ErrorCode"
    answers = {answer for each in CATALOGUE.values() for answer in each.answers}
    whens = {when for each in ACTIONS.values() for when in each.when}
    yield from _literal("ReleaseName", names(), "A Kafka release.")
    yield from _literal("ApiName", map(api_name, CODEC_VERSIONS), "An API, as Kafka's documentation has it.")
    yield from _literal("ErrorName", (each.name for each in ErrorCode), "An error code of Kafka's.")
    yield from _literal("ErrorLevel", LEVELS, "Where an answer has error codes.")
    yield from _literal("FaultAction", sorted(ACTIONS), "What a fault does.")
    yield from _literal("EventKind", KINDS, "A kind of event in the trace.")
    yield from _literal("When", sorted(whens), "When a fault acts: before, after, or instead of the work.")
    yield from _literal("BehaviourName", CATALOGUE, "A behaviour.")
    yield from _literal("AnswerName", sorted(answers), "An answer of one behaviour or another.")
    yield ""
    yield from _several()
    yield '\nInstalledAnswer = NewType("InstalledAnswer", str)'
    yield '"""The name of an answer that an installed package provides."""\n'
    owns = sorted({own for each in CATALOGUE.values() if (own := _own(each))})
    yield f'OwnAnswer: TypeAlias = "{" | ".join(owns)} | InstalledAnswer"'
    yield '"""A user\'s own answer for some behaviour."""\n'
    yield "Behaviours = TypedDict("
    yield '    "Behaviours",'
    yield "    {"
    for name, behaviour in CATALOGUE.items():
        named = ", ".join(f"'{answer}'" for answer in behaviour.answers)
        kinds = [f"Literal[{named}]", _own(behaviour), "InstalledAnswer"]
        yield f'        "{name}": "{" | ".join(filter(None, kinds))}",'
    yield "    },"
    yield "    total=False,"
    yield ")"
    yield '"""Behaviours and their answers: names, or answers of your own."""\n\n'
    yield from _fault_fields()


def _literal(name: str, values: Iterable[str], docstring: str) -> Iterator[str]:
    yield f"\n{name} = Literal["
    yield from (f'    "{value}",' for value in values)
    yield "]"
    yield f'"""{docstring}"""'


def _imports() -> Iterator[str]:
    """The modules that define the types of answers, by subject."""
    defining = [module_of(each).__name__ for each in CATALOGUE.values() if "." in (_own(each) or "")]
    for subject, modules in itertools.groupby(sorted(defining), lambda name: name.rpartition(".")[0]):
        yield f"    from {subject.removeprefix('mockbroker')} import ("
        yield from (f"        {module.rpartition('.')[2]}," for module in modules)
        yield "    )"


def _own(behaviour: Behaviour[Any]) -> str | None:
    """The type of an answer of one's own. None where it could be taken for a name, or is nothing to give."""
    sample = next(iter(behaviour.answers.values()))
    kind, module = type(sample), behaviour.name.replace("-", "_")
    if callable(sample):
        return f"{module}.Answer"
    if kind in (bool, int):
        return str(kind.__name__)
    if kind is ErrorCode:
        return "ErrorCode"
    return f"{module}.{kind.__name__}" if kind.__module__ == module_of(behaviour).__name__ else None


def _several() -> Iterator[str]:
    """Type checkers show an alias that contains itself by its name; of any other type for one or several,
    they would list all names twice."""
    yield 'T_co = TypeVar("T_co", covariant=True)\n\n'
    yield "class Several(Protocol[T_co]):"
    yield '    """A list, a tuple or a set; a text is none."""\n'
    yield "    def __contains__(self, item: object, /) -> bool: ..."
    yield "    def __iter__(self) -> Iterator[T_co]: ..."
    yield "    def __len__(self) -> int: ...\n\n"
    yield 'ApiNames: TypeAlias = "ApiName | int | Several[ApiNames]"'
    yield '"""An API, by name or key, or several."""'
    yield 'ErrorNames: TypeAlias = "ErrorName | int | Several[ErrorNames]"'
    yield '"""An error code, by name or number, or several."""'


def _fault_fields() -> Iterator[str]:
    found = {"when": "When", "optional": "bool"}
    kinds: list[type[Match | Action]] = [Match, *ACTIONS.values()]
    for kind in kinds:
        hints = typing.get_type_hints(kind)
        for each in dataclasses.fields(kind):
            if each.init:
                own = _TYPES.get(each.name) or _named(hints[each.name])
                before = found.setdefault(each.name, own).split(" | ")
                found[each.name] = " | ".join(dict.fromkeys([*before, *own.split(" | ")]))
    yield "class FaultFields(TypedDict, total=False):"
    yield '    """Which requests a fault is for, when it acts, and the fields of its action."""\n'
    # Those that hide a builtin come last: the types of the others are looked up in the class.
    for name, own in sorted(found.items(), key=lambda item: item[0] in ("bytes", "field")):
        yield f"    {name}: {own}"
    yield "\n\nclass Fault(FaultFields, total=False):"
    yield '    """A fault that is there from the start."""\n'
    yield "    do: Required[FaultAction]"
    yield "    name: str | None"


def _named(hint: Any) -> str:
    return hint.__name__ if isinstance(hint, type) else str(hint).replace("typing.", "")


def main() -> None:
    TARGET.write_text(text())
