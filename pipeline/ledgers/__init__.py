"""A ledger for each thing: what the rows about it say, one after the other, in plain Python.

Engines only filter rows, key and sort them; `notes` gives what all ledgers noted.
"""

from .ledger import Ledger
from .reading import LEDGERS, notes
from .row import SUBJECT, Note, Row

__all__ = ("LEDGERS", "SUBJECT", "Ledger", "Note", "Row", "notes")
