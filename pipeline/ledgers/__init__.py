"""A ledger for each thing: what the rows about it say, one after the other, in plain Python.

Engines only filter rows, key and sort them; `notes` gives what all ledgers noted.
"""

from .ledger import Ledger
from .reading import LEDGERS, notes
from .row import SUBJECT, Note, Row
from .share_states import OR_REJECTED

__all__ = ("LEDGERS", "OR_REJECTED", "SUBJECT", "Ledger", "Note", "Row", "notes")
