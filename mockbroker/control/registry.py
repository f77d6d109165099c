"""Operations, and the decorator that makes a function one."""

import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, Literal, TypeVar, get_type_hints

from ..nearest import nearest
from .schema import Described, describe, read

F = TypeVar("F", bound=Callable[..., Any])
Method = Literal["GET", "POST", "PUT", "DELETE"]


@dataclass(frozen=True)
class Parameter:
    """One argument. `rest` takes all arguments that have no parameter of their own."""

    name: str
    keyword: str
    annotation: Any
    required: bool
    default: Any
    rest: bool

    @property
    def described(self) -> Described:
        return describe(self.annotation)


@dataclass(frozen=True)
class Operation:
    """`name` is two words, as on the command line; `{…}` in `path` are parameters of `function`, whose first
    parameter is the `Target`. An asynchronous `function` may wait."""

    name: str
    method: Method
    path: str
    function: Callable[..., Any]
    fields: Callable[[], dict[str, Any]] | None = None
    """The JSON schema of its body, apart from its own parameters: what the parameter `rest` takes."""

    @cached_property
    def parameters(self) -> dict[str, Parameter]:
        """By the name that users write: `from` for `from_`."""
        hints = get_type_hints(self.function, include_extras=True)
        found = {}
        for each in list(inspect.signature(self.function).parameters.values())[1:]:
            rest = each.kind is inspect.Parameter.VAR_KEYWORD
            required = each.default is inspect.Parameter.empty and not rest
            name = each.name.rstrip("_")
            default = None if required else each.default
            found[name] = Parameter(name, each.name, hints[each.name], required, default, rest)
        return found

    @cached_property
    def rest(self) -> Parameter | None:
        """The parameter that takes all the others."""
        return next((each for each in self.parameters.values() if each.rest), None)

    @cached_property
    def in_path(self) -> list[str]:
        return re.findall(r"{(\w+)}", self.path)

    @property
    def result(self) -> Any:
        """The type of the operation's result."""
        return get_type_hints(self.function, include_extras=True)["return"]

    @property
    def description(self) -> str:
        return inspect.getdoc(self.function) or ""

    @property
    def summary(self) -> str:
        return self.description.partition("\n")[0]

    def arguments(
        self, given: Mapping[str, Any], *, text: bool = False, partial: bool = False
    ) -> dict[str, Any]:
        """Keyword arguments for `function` from what a user gave. ValueError names an argument that is wrong,
        or missing unless they are `partial`."""
        found = {}
        for name, value in given.items():
            parameter = self.parameters.get(name)
            if parameter is not None and not parameter.rest:
                try:
                    found[parameter.keyword] = read(parameter.annotation, value, text=text)
                except ValueError as error:
                    raise ValueError(f"{name} is {value!r}: {error}") from None
            elif self.rest is not None and not text:
                found[name] = value
            else:
                names = [each.name for each in self.parameters.values() if not each.rest]
                suggestion = nearest(name, names) if names else ": it takes no arguments"
                raise ValueError(f"{self.name} has no argument {name!r}{suggestion}")
        if not partial:
            self.complete(found)
        return found

    def complete(self, arguments: Mapping[str, Any]) -> None:
        """ValueError names what is missing."""
        needed = [each for each in self.parameters.values() if each.required]
        if missing := [each.name for each in needed if each.keyword not in arguments]:
            raise ValueError(f"{self.name} needs {' and '.join(missing)}")


REGISTERED: Final[dict[str, Operation]] = {}


def operation(
    name: str, method: Method, path: str, fields: Callable[[], dict[str, Any]] | None = None
) -> Callable[[F], F]:
    """Makes a function an operation."""

    def add(function: F) -> F:
        REGISTERED[name] = Operation(name, method, path, function, fields)
        return function

    return add
