"""Searches are written once, and carried out by DuckDB on one machine or by Spark on many."""

from .columns import Case, Column, Window, WindowSpec
from .dialects import Dialect
from .table import Fewer, Fold, Folding, Table, as_it_is

__all__ = [
    "Case",
    "Column",
    "Dialect",
    "Fewer",
    "Fold",
    "Folding",
    "Table",
    "Window",
    "WindowSpec",
    "as_it_is",
]
