"""Searches are written once, and carried out by DuckDB on one machine or by Spark on many."""

from .columns import Case, Column, Window, WindowSpec
from .dialects import Dialect
from .table import Fold, Folding, Table

__all__ = ["Case", "Column", "Dialect", "Fold", "Folding", "Table", "Window", "WindowSpec"]
