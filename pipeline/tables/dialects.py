"""The SQL of Spark and of DuckDB, where they differ."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar


class Dialect(ABC):
    """How one engine writes names, values, types and functions. Functions have Spark's names."""

    quote: ClassVar[str]
    functions: ClassVar[Mapping[str, str]] = {}
    """Templates for functions that the engine calls something else: `{0}`, `{1}`, … are arguments."""

    def name(self, name: str) -> str:
        """A column, or a field of one: `last.offset`."""
        quote = self.quote
        return ".".join(quote + part.replace(quote, 2 * quote) + quote for part in name.split("."))

    @abstractmethod
    def text(self, value: str) -> str:
        """A literal."""

    def call(self, function: str, arguments: Sequence[str]) -> str:
        template = self.functions.get(function)
        return template.format(*arguments) if template else f"{function}({', '.join(arguments)})"

    @abstractmethod
    def of_type(self, kind: str) -> str:
        """A type, from Spark's name for it."""

    @abstractmethod
    def struct(self, fields: Sequence[tuple[str, str]]) -> str:
        """A struct, from names and values."""

    @abstractmethod
    def array(self, values: Sequence[str]) -> str: ...

    @abstractmethod
    def element(self, array: str, index: int) -> str:
        """The element of an array at an index, from 0; null if it is shorter."""

    @abstractmethod
    def known(self, function: str, value: str) -> str:
        """`first` or `last` of the values of a window that are not null."""

    @abstractmethod
    def lambda_(self, parameter: str, body: str) -> str: ...


class Spark(Dialect):
    quote = "`"
    functions: ClassVar[Mapping[str, str]] = {"lookup": "element_at(map_from_arrays({0}, {1}), {2})"}

    def text(self, value: str) -> str:
        # `${…}` would be replaced by a setting.
        escaped = value.replace("\\", "\\\\").replace("'", "\\'").replace("$", "\\u0024")
        return f"'{escaped}'"

    def of_type(self, kind: str) -> str:
        return kind

    def struct(self, fields: Sequence[tuple[str, str]]) -> str:
        return f"named_struct({', '.join(f'{self.text(name)}, {value}' for name, value in fields)})"

    def array(self, values: Sequence[str]) -> str:
        return f"array({', '.join(values)})"

    def element(self, array: str, index: int) -> str:
        return f"get({array}, {index})"

    def known(self, function: str, value: str) -> str:
        return f"{function}({value}) IGNORE NULLS"

    def lambda_(self, parameter: str, body: str) -> str:
        return f"{parameter} -> {body}"


class DuckDB(Dialect):
    quote = '"'
    functions: ClassVar[Mapping[str, str]] = {
        "array_distinct": "list_distinct({0})",
        "array_join": "array_to_string({0}, {1})",
        "array_max": "list_max({0})",
        "array_min": "list_min({0})",
        "array_sort": "list_sort({0}, 'ASC', 'NULLS LAST')",
        "collect_list": "coalesce(list({0}) FILTER ({0} IS NOT NULL), [])",
        "collect_set": "coalesce(list(DISTINCT {0}) FILTER ({0} IS NOT NULL), [])",
        "endswith": "ends_with({0}, {1})",
        "filter": "list_filter({0}, {1})",
        "lookup": "map({0}, {1})[{2}]",
        # Unlike `arg_max`, which passes over rows in which the first is null.
        "max_by": "arg_max_null({0}, {1})",
        "min_by": "arg_min_null({0}, {1})",
        "rlike": "regexp_matches({0}, {1})",
        "size": "len({0})",
        "startswith": "starts_with({0}, {1})",
        "transform": "list_transform({0}, {1})",
    }

    def text(self, value: str) -> str:
        return "'" + value.replace("'", "''") + "'"

    def of_type(self, kind: str) -> str:
        outer, _, inner = kind.removesuffix(">").partition("<")
        if outer == "array":
            return f"{self.of_type(inner)}[]"
        return f"STRUCT({inner.replace(':', '')})" if outer == "struct" else kind

    def struct(self, fields: Sequence[tuple[str, str]]) -> str:
        return f"struct_pack({', '.join(f'{self.name(name)} := {value}' for name, value in fields)})"

    def array(self, values: Sequence[str]) -> str:
        return f"[{', '.join(values)}]"

    def element(self, array: str, index: int) -> str:
        return f"{array}[{index + 1}]"

    def known(self, function: str, value: str) -> str:
        return f"{function}_value({value} IGNORE NULLS)"

    def lambda_(self, parameter: str, body: str) -> str:
        return f"lambda {parameter}: {body}"


Render = Callable[[Dialect], str]
