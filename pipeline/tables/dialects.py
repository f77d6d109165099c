"""The SQL of Spark and of DuckDB, where they differ."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Dialect:
    """How one engine writes names, texts, types and functions.

    `functions`, by Spark's names, are templates for those that the engine writes otherwise: `{0}`, `{1}`, …
    are arguments, and `{all}` stands for all of them. `escapes` are characters of texts, and `field` is the
    template for a part of a struct.
    """

    quote: str
    escapes: Mapping[str, str]
    functions: Mapping[str, str]
    field: str
    spark_types: bool = False

    def name(self, name: str) -> str:
        """A column, or a field of one: `last.offset`."""
        quote = self.quote
        return ".".join(quote + part.replace(quote, 2 * quote) + quote for part in name.split("."))

    def text(self, value: str) -> str:
        """A literal."""
        return f"'{value.translate({ord(each): other for each, other in self.escapes.items()})}'"

    def call(self, function: str, arguments: Sequence[str]) -> str:
        listed = ", ".join(arguments)
        template = self.functions.get(function)
        return template.format(*arguments, all=listed) if template else f"{function}({listed})"

    def of_type(self, kind: str) -> str:
        """A type, from Spark's name for it."""
        if self.spark_types:
            return kind
        outer, _, inner = kind.removesuffix(">").partition("<")
        if outer == "array":
            return f"{self.of_type(inner)}[]"
        return f"STRUCT({inner.replace(':', '')})" if outer == "struct" else kind

    def struct(self, fields: Sequence[tuple[str, str]]) -> str:
        """A struct, from names and values."""
        named = ((self.name(name), self.text(name), value) for name, value in fields)
        return self.call("struct", [self.field.format(*each) for each in named])


SPARK: Final = Dialect(
    quote="`",
    # `${…}` would be replaced by a setting.
    escapes={"\\": "\\\\", "'": "\\'", "$": "\\u0024"},
    functions={
        "element": "get({0}, {1})",
        "known": "{0}({1}) IGNORE NULLS",
        "lambda": "{0} -> {1}",
        "lookup": "element_at(map_from_arrays({0}, {1}), {2})",
        "struct": "named_struct({all})",
    },
    field="{1}, {2}",
    spark_types=True,
)
DUCKDB: Final = Dialect(
    quote='"',
    escapes={"'": "''"},
    functions={
        "array": "[{all}]",
        "array_distinct": "list_distinct({0})",
        "array_join": "array_to_string({0}, {1})",
        "array_max": "list_max({0})",
        "array_min": "list_min({0})",
        "array_sort": "list_sort({0}, 'ASC', 'NULLS LAST')",
        "collect_list": "coalesce(list({0}) FILTER ({0} IS NOT NULL), [])",
        "collect_set": "coalesce(list(DISTINCT {0}) FILTER ({0} IS NOT NULL), [])",
        "element": "{0}[{1} + 1]",
        "endswith": "ends_with({0}, {1})",
        "explode": "unnest({0})",
        "filter": "list_filter({0}, {1})",
        "known": "{0}_value({1} IGNORE NULLS)",
        "lambda": "lambda {0}: {1}",
        "lookup": "map({0}, {1})[{2}]",
        # Unlike `arg_max`, which passes over rows in which the first is null.
        "max_by": "arg_max_null({0}, {1})",
        "min_by": "arg_min_null({0}, {1})",
        "rlike": "regexp_matches({0}, {1})",
        "size": "len({0})",
        "split": "string_split({0}, {1})",
        "startswith": "starts_with({0}, {1})",
        "struct": "struct_pack({all})",
        "transform": "list_transform({0}, {1})",
    },
    field="{0} := {2}",
)
Render = Callable[[Dialect], str]
