"""The parameters of verbs and subjects, with the names that users write, types and help."""

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, get_type_hints

from ..cluster.cluster import Cluster
from .parameters import Limits


@dataclass(frozen=True)
class Parameter:
    """`name` is what users write, `keyword` what the function calls it (`from_`); `annotation` has the help
    and the `Limits` after the type."""

    name: str
    keyword: str
    annotation: Any
    default: Any

    @property
    def required(self) -> bool:
        return self.default is inspect.Parameter.empty

    @property
    def type(self) -> Any:
        """Without help and limits."""
        return self._parts[0]

    @property
    def help(self) -> str:
        return next((each for each in self._parts[1:] if isinstance(each, str)), "")

    @cached_property
    def _parts(self) -> tuple[Any, ...]:
        annotated = hasattr(self.annotation, "__metadata__")
        return (
            (self.annotation.__origin__, *self.annotation.__metadata__) if annotated else (self.annotation,)
        )

    def check(self, name: str, value: Any) -> None:
        """Raises OptionError for a value that no cluster could accept; `name` is what the user calls it."""
        for each in self._parts:
            if isinstance(each, Limits):
                each.check(name, value)

    def find(self, cluster: Cluster, value: Any) -> None:
        """Raises NotThereError for a value that names something the cluster does not have."""
        for each in self._parts:
            if isinstance(each, Limits):
                each.find(cluster, value)


def parameters(function: Callable[..., Any], behind: int) -> dict[str, Parameter]:
    """The function's parameters after the first `behind`, by the name that users write."""
    hints = get_type_hints(function, include_extras=True)
    own = list(inspect.signature(function).parameters.values())[behind:]
    return {
        each.name.rstrip("_"): Parameter(each.name.rstrip("_"), each.name, hints[each.name], each.default)
        for each in own
    }
